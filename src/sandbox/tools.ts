import type { Level, Tool, ToolResult } from '../client/types.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { gradeRank } from '../util/restaurant.ts';
import { describe } from './details.ts';
import {
  badArgument,
  INVALID_PARAMS,
  invalidRequest,
  METHOD_NOT_FOUND,
  ReplyError,
  resultMessage,
  rpcError,
  type SandboxProtocol,
} from './messages.ts';
import { type Catalog, fold } from './restaurants.ts';
import type { Access, Mode, SandboxRestaurant } from './types.ts';

/** Maximum number of results of a search. `total_matches` counts all. */
const MAX_RESULTS = 50;
const TOP_COUNT = 5;
const UNKNOWN_RANK = 99;

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const text = (description: string) => ({ type: 'string', minLength: 1, description });

/** The tools of `tools/list`. The schemas are JSON Schema 2020-12. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'find_restaurant',
    title: 'Find a restaurant',
    description: 'Search restaurants by name in a city. Returns matches with id, address, cuisine and grade.',
    inputSchema: {
      type: 'object',
      properties: { name: text('Restaurant name, or a part of it'), city: text('City to search in') },
      required: ['name', 'city'],
    },
    annotations: READ_ONLY,
  },
  {
    name: 'lookup_restaurant',
    title: 'Look up a restaurant',
    description: 'Details of one restaurant. The levels standard and premium need a paid key.',
    inputSchema: {
      type: 'object',
      properties: {
        restaurant_id: text('The service_id of a restaurant from find_restaurant'),
        fields: {
          type: 'string',
          enum: ['standard', 'premium'],
          description: 'Level of detail; left out, the basic level is returned',
        },
      },
      required: ['restaurant_id'],
    },
    annotations: READ_ONLY,
  },
  {
    name: 'explore_area',
    title: 'Explore an area',
    description:
      'The dining scene of a city or one of its neighborhoods: counts, cuisines, grades, the best places.',
    inputSchema: {
      type: 'object',
      properties: {
        city: { ...text('City to look at'), 'x-mcp-header': 'City' },
        neighborhood: { type: 'string', description: 'Only this neighborhood' },
      },
      required: ['city'],
    },
    annotations: READ_ONLY,
  },
];

type Arguments = Readonly<JsonObject>;

type ToolFunction = (catalog: Catalog, args: Arguments, access: Access) => ToolResult;

const DOCUMENTED = [
  ['find_restaurant', findRestaurant],
  ['lookup_restaurant', lookupRestaurant],
] as const;

const FUNCTIONS: Readonly<Record<Mode, ReadonlyMap<string, ToolFunction>>> = {
  service: new Map<string, ToolFunction>(DOCUMENTED),
  mcp: new Map<string, ToolFunction>([...DOCUMENTED, ['explore_area', exploreArea]]),
};

export function callTool(catalog: Catalog, mode: Mode, params: unknown, access: Access): ToolResult {
  if (!isObject(params)) throw badArgument('params', 'is not an object');
  const { name, arguments: args } = params;
  if (typeof name !== 'string') throw badArgument('name', problemOf(name, 'a string'));
  const tool = FUNCTIONS[mode].get(name);
  if (tool === undefined) {
    const data = { tool: name.slice(0, 200), tools: [...FUNCTIONS[mode].keys()] };
    throw rpcError(INVALID_PARAMS, 'invalid params: unknown tool', data);
  }
  if (!isObject(args)) throw badArgument('arguments', problemOf(args, 'an object'));
  try {
    return tool(catalog, args, access);
  } catch (error) {
    // An MCP server reports wrong arguments in the result (MCP 2025-11-25, error handling), so that a model can correct them.
    if (mode === 'service' || !(error instanceof ReplyError) || error.code !== INVALID_PARAMS) throw error;
    return outputResult({ status: 'invalid_arguments', message: error.message }, true);
  }
}

function stringArgument(args: Arguments, name: string): string {
  const value = args[name];
  if (typeof value !== 'string') throw badArgument(name, problemOf(value, 'a string'));
  if (value.trim() === '') throw badArgument(name, 'is empty');
  return value;
}

function outputResult(output: JsonObject, isError = false): ToolResult {
  const content = [{ type: 'text', text: JSON.stringify(output) }];
  return isError ? { content, isError } : { content };
}

function findRestaurant(catalog: Catalog, args: Arguments): ToolResult {
  const matches = catalog.find(stringArgument(args, 'name'), stringArgument(args, 'city'));
  return outputResult({
    status: 'ok',
    results: matches.slice(0, MAX_RESULTS),
    total_matches: matches.length,
  });
}

function lookupRestaurant(catalog: Catalog, args: Arguments, { paid }: Access): ToolResult {
  const id = stringArgument(args, 'restaurant_id');
  const level = levelOf(args.fields);
  if (level !== 'basic' && !paid) {
    const message = `the level ${level} needs a paid key; without "fields" the basic level is returned`;
    return outputResult({ status: 'plan_required', message, fields: level }, true);
  }
  const restaurant = catalog.get(id);
  if (restaurant === undefined) {
    return outputResult({ status: 'not_found', message: 'no restaurant has this id' }, true);
  }
  return outputResult(describe(restaurant, level));
}

function levelOf(fields: unknown): Level {
  if (fields === undefined) return 'basic';
  if (fields === 'standard' || fields === 'premium') return fields;
  throw badArgument('fields', 'is not "standard" or "premium"');
}

function problemOf(value: unknown, wanted: string): string {
  return value === undefined ? 'is missing' : `is not ${wanted}`;
}

function exploreArea(catalog: Catalog, args: Arguments): ToolResult {
  const city = stringArgument(args, 'city');
  const neighborhood = args.neighborhood ?? '';
  if (typeof neighborhood !== 'string') throw badArgument('neighborhood', 'is not a string');
  const inCity = catalog.inCity(city);
  const wanted = fold(neighborhood);
  const area = inCity.filter((each) => wanted === '' || fold(each.neighborhood ?? '') === wanted);
  const byGrade = [...area].sort(
    (a, b) => (gradeRank(a.grade) ?? UNKNOWN_RANK) - (gradeRank(b.grade) ?? UNKNOWN_RANK),
  );
  const output = {
    status: 'ok',
    city: inCity[0]?.city ?? city,
    neighborhood: neighborhood === '' ? null : neighborhood,
    total: area.length,
    cuisines: tally('cuisine', area, (each) => each.cuisine_tags ?? []),
    grades: tally('grade', area, ({ grade = [] }) => grade),
    neighborhoods: tally('neighborhood', area, (each) => each.neighborhood || []),
    top: byGrade.slice(0, TOP_COUNT),
  };
  return { ...outputResult(output), structuredContent: output };
}

function tally(
  key: string,
  restaurants: readonly SandboxRestaurant[],
  valuesOf: (restaurant: SandboxRestaurant) => string | readonly string[],
): JsonObject[] {
  const counts = new Map<string, number>();
  for (const value of restaurants.flatMap(valuesOf)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([value, count]) => ({ [key]: value, count }));
}

export function createService(catalog: Catalog): SandboxProtocol {
  return {
    methods: ['POST'],
    post({ incoming: { id, method, params }, access }) {
      if (method === undefined) throw invalidRequest('the server sent no request');
      if (id === undefined) {
        if (method === 'tools/call') throw invalidRequest('id is missing');
        return { status: 202 };
      }
      if (typeof id === 'string') throw invalidRequest('id is not an integer');
      if (method !== 'tools/call') {
        throw rpcError(METHOD_NOT_FOUND, 'method not found: only tools/call is served');
      }
      return { status: 200, message: resultMessage(id, callTool(catalog, 'service', params, access)) };
    },
  };
}
