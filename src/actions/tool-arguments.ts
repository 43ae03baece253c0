import type { Tool } from '../api/types.ts';
import { AppError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { App } from '../run/app.ts';
import { parseUserJson, readArgument, readArgumentFile } from './arguments.ts';

/** The tool of that name. @throws {AppError} `not_found` with the nearest names */
export function knownTool(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((each) => each.name);
  const near = nearest(name, names);
  const meant = near.length > 0 ? `did you mean ${near.join(' or ')}? ` : '';
  throw new AppError('not_found', `the service has no tool '${name}'`, {
    hint: `${meant}restaurant tools lists them`,
  });
}

type Properties = Readonly<Record<string, unknown>>;

const propertiesOf = (tool: Tool | undefined): Properties => {
  const { properties } = tool?.inputSchema ?? {};
  return typeof properties === 'object' && properties !== null ? (properties as Properties) : {};
};

function typesOf(properties: Properties, key: string): string[] {
  const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
  const { type } = (typeof schema === 'object' && schema !== null ? schema : {}) as { type?: unknown };
  return (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
}

/** Text as the first type that it can be, of those that the schema allows. A string where nothing is known. */
function coerce(text: string, types: readonly string[], key: string): unknown {
  for (const type of types) {
    if (type === 'string') return text;
    if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
    if (type === 'null' && text === 'null') return null;
    if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text);
    if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
    if (type === 'array') return text.startsWith('[') ? parseUserJson(text, key) : text.split(',');
    if (type === 'object') return parseUserJson(text, key);
  }
  if (types.length === 0) return text;
  throw new AppError('usage', `${key} '${text}': expected ${types.join(' or ')}`, {
    hint: `give JSON with ${key}:=<json>`,
  });
}

/**
 * Reads the words of `call`: `key=value` by the tool's schema, `key:=json`, `key=@file`, and `--args`.
 * @param tool undefined where the service has no list of tools
 * @throws {AppError} `usage` or `bad_input`
 */
export async function toolArguments(
  app: App,
  words: readonly string[],
  whole: string | undefined,
  tool: Tool | undefined,
): Promise<Record<string, unknown>> {
  const args = new Map<string, unknown>(Object.entries(await wholeArguments(app, whole)));
  const properties = propertiesOf(tool);
  for (const word of words) {
    const [, key = '', typed, value = ''] = /^([^=:]+)(:?)=([\s\S]*)$/.exec(word) ?? [];
    if (key === '') {
      throw new AppError('usage', `'${word}': expected key=value`, {
        hint: `restaurant call ${tool?.name ?? '<tool>'} name=Nopa limit:=3`,
      });
    }
    if (args.has(key)) throw new AppError('usage', `'${key}' is given twice`, { hint: 'leave one out' });
    args.set(
      key,
      typed === ':' ? parseUserJson(value, key) : coerceValue(app, value, typesOf(properties, key), key),
    );
  }
  checkNames([...args.keys()], tool, properties);
  return Object.fromEntries(args);
}

const coerceValue = (app: App, value: string, types: readonly string[], key: string): unknown =>
  coerce(value.startsWith('@') ? readArgumentFile(app, value.slice(1)) : value, types, key);

async function wholeArguments(app: App, whole: string | undefined): Promise<Record<string, unknown>> {
  if (whole === undefined) return {};
  const { text, name } = await readArgument(app, whole, '--args');
  const value = parseUserJson(text, name, name === '--args' ? 'usage' : 'bad_input');
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new AppError('usage', '--args must be a JSON object', { hint: `--args '{"name": "Nopa"}'` });
}

function checkNames(keys: readonly string[], tool: Tool | undefined, properties: Properties): void {
  if (tool === undefined) return;
  const { required, additionalProperties } = tool.inputSchema ?? {};
  const names = Object.keys(properties);
  const hint = `restaurant tools ${tool.name} shows the arguments`;
  const missing = (Array.isArray(required) ? required : []).find((name) => !keys.includes(String(name)));
  if (missing !== undefined) throw new AppError('usage', `${tool.name} needs ${missing}`, { hint });
  const unknown = additionalProperties === false ? keys.find((key) => !names.includes(key)) : undefined;
  if (unknown === undefined) return;
  const near = nearest(unknown, names);
  const meant = near.length > 0 ? `did you mean ${near.join(' or ')}? ` : '';
  throw new AppError('usage', `${tool.name} has no argument '${unknown}'`, { hint: `${meant}${hint}` });
}
