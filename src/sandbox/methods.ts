import { isObject, type JsonObject } from '../util/object.ts';
import { type Catalog, fold } from './catalog.ts';
import { describe } from './details.ts';
import { badArgument, rpcError } from './messages.ts';
import { callTool, createTools, TOOLS } from './tools.ts';

export const CAPABILITIES = { tools: {}, resources: {}, prompts: {}, completions: {} };

const URI = 'restaurant://sample/';
const RESOURCE_NOT_FOUND = -32002;
const TEMPLATE = { uriTemplate: `${URI}{service_id}`, name: 'restaurant', mimeType: 'application/json' };
const CITIES = { uri: `${URI}cities`, name: 'cities', mimeType: 'application/json' };
const PROMPT = {
  name: 'plan_dinner',
  description: 'Plan a dinner in a city.',
  arguments: [{ name: 'city', required: true }],
};

type Method = (params: JsonObject, paid: boolean) => object;

export function createMethods(catalog: Catalog): ReadonlyMap<string, Method> {
  const tools = createTools(catalog, 'mcp');

  function listTools({ cursor }: JsonObject): JsonObject {
    // The list has a single page, so no cursor is valid.
    if (cursor !== undefined) throw badArgument('cursor', 'is unknown');
    return { tools: TOOLS };
  }

  function readResource({ uri }: JsonObject): JsonObject {
    if (typeof uri !== 'string') throw badArgument('uri', 'is not a string');
    const restaurant = uri.startsWith(URI) ? catalog.get(uri.slice(URI.length)) : undefined;
    if (restaurant === undefined && uri !== CITIES.uri) {
      throw rpcError(RESOURCE_NOT_FOUND, 'Resource not found', { uri: uri.slice(0, 200) });
    }
    const data = restaurant ? describe(restaurant, 'basic') : catalog.cities;
    return { contents: [{ uri, mimeType: CITIES.mimeType, text: JSON.stringify(data) }] };
  }

  function getPrompt({ name, arguments: args }: JsonObject): JsonObject {
    if (name !== PROMPT.name) throw badArgument('name', 'is unknown');
    if (!isObject(args) || typeof args.city !== 'string') throw badArgument('city', 'is not a string');
    const text = `Plan a dinner in ${args.city}: call explore_area, then lookup_restaurant for its best places.`;
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  }

  function complete({ argument }: JsonObject): JsonObject {
    if (!isObject(argument) || typeof argument.value !== 'string') throw badArgument('argument', 'is wrong');
    const typed = fold(argument.value);
    const matches =
      argument.name === 'city' ? catalog.cities.filter((city) => fold(city).startsWith(typed)) : [];
    return { completion: { values: matches.slice(0, 100), total: matches.length } };
  }

  return new Map<string, Method>([
    ['tools/list', listTools],
    // `arguments` is optional in MCP.
    ['tools/call', (params, paid) => callTool(tools, { arguments: {}, ...params }, paid)],
    ['resources/list', () => ({ resources: [CITIES] })],
    ['resources/templates/list', () => ({ resourceTemplates: [TEMPLATE] })],
    ['resources/read', readResource],
    ['prompts/list', () => ({ prompts: [PROMPT] })],
    ['prompts/get', getPrompt],
    ['completion/complete', complete],
  ]);
}
