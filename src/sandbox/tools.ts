import type { Level, ToolResult } from '../client/types.ts';
import { type Catalog, fold } from './catalog.ts';
import { describe, gradeRank } from './details.ts';
import { createExtraMethods } from './resources.ts';
import { badArgument, INVALID_PARAMS, isObject, RpcError, type RpcObject } from './rpc.ts';
import { TOOLS } from './tool-list.ts';
import type { SandboxRestaurant } from './types.ts';

/** Maximum number of results of a search. `total_matches` counts all. */
const MAX_RESULTS = 50;
/** Number of best places in `explore_area`. */
const TOP_COUNT = 5;

type Arguments = Readonly<Record<string, unknown>>;

/** Maps the arguments of a tool, and whether the caller has a paid key, to a result. */
export type ToolFunction = (args: Arguments, paid: boolean) => ToolResult;

/**
 * The tools of an MCP server. Both functions throw an RpcError -32602 for wrong params; wrong arguments of a tool are an
 * error of the tool (MCP 2025-11-25, error handling), so that a model can correct them.
 */
export interface McpTools {
  /** Returns the result of `tools/list`. */
  list(params: unknown): RpcObject;
  call(params: unknown, paid: boolean): ToolResult;
  /** Resources, prompts and completion. */
  readonly extra: ReadonlyMap<string, (params: RpcObject) => RpcObject>;
}

/** The two documented tools, by name. */
export function createTools(catalog: Catalog): Map<string, ToolFunction> {
  return new Map<string, ToolFunction>([
    ['find_restaurant', (args) => findRestaurant(catalog, args)],
    ['lookup_restaurant', (args, paid) => lookupRestaurant(catalog, args, paid)],
  ]);
}

/** The documented tools, and `explore_area`. */
export function createMcpTools(catalog: Catalog): McpTools {
  const tools = createTools(catalog).set('explore_area', (args) => exploreArea(catalog, args));
  const reporting = new Map([...tools].map(([name, tool]) => [name, withArgumentErrors(tool)]));
  return {
    extra: createExtraMethods(catalog),
    list: listTools,
    // `arguments` is optional.
    call: (params, paid) =>
      callTool(reporting, isObject(params) ? { arguments: {}, ...params } : params, paid),
  };
}

/**
 * Calls the tool in the params of a `tools/call`.
 * @throws {RpcError} -32602 for an unknown tool or wrong arguments, named in `data`.
 */
export function callTool(
  tools: ReadonlyMap<string, ToolFunction>,
  params: unknown,
  paid: boolean,
): ToolResult {
  if (!isObject(params)) throw badArgument('params', 'is not an object');
  const { name, arguments: args } = params;
  if (typeof name !== 'string') throw badArgument('name', problemOf(name, 'a string'));
  const tool = tools.get(name);
  if (tool === undefined) {
    const data = { tool: name.slice(0, 200), tools: [...tools.keys()] };
    throw new RpcError(INVALID_PARAMS, 'invalid params: unknown tool', data);
  }
  if (!isObject(args)) throw badArgument('arguments', problemOf(args, 'an object'));
  return tool(args, paid);
}

/** @throws {RpcError} -32602 unless the argument is a string that is not blank. */
function stringArgument(args: Arguments, name: string): string {
  const value = args[name];
  if (typeof value !== 'string') throw badArgument(name, problemOf(value, 'a string'));
  if (value.trim() === '') throw badArgument(name, 'is empty');
  return value;
}

/** Encodes the output of a tool as the service does: JSON in a text block. */
function outputResult(output: Record<string, unknown>, isError = false): ToolResult {
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

function lookupRestaurant(catalog: Catalog, args: Arguments, paid: boolean): ToolResult {
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
  return outputResult(describe(restaurant, level, catalog.inCity(restaurant.city)));
}

/** The basic level is the default. */
function levelOf(fields: unknown): Level {
  if (fields === undefined) return 'basic';
  if (fields === 'standard' || fields === 'premium') return fields;
  throw badArgument('fields', 'is not "standard" or "premium"');
}

function problemOf(value: unknown, wanted: string): string {
  return value === undefined ? 'is missing' : `is not ${wanted}`;
}

/** The tool `explore_area`: the dining scene of a city, or of one neighborhood. */
function exploreArea(catalog: Catalog, args: Arguments): ToolResult {
  const city = stringArgument(args, 'city');
  const neighborhood = args.neighborhood ?? '';
  if (typeof neighborhood !== 'string') throw badArgument('neighborhood', 'is not a string');
  const inCity = catalog.inCity(city);
  const wanted = fold(neighborhood);
  const area =
    wanted === '' ? inCity : inCity.filter((restaurant) => fold(restaurant.neighborhood ?? '') === wanted);
  const output = {
    status: 'ok',
    city: inCity[0]?.city ?? city,
    neighborhood: neighborhood === '' ? null : neighborhood,
    total: area.length,
    cuisines: tally(
      area.flatMap((restaurant) => restaurant.cuisine_tags ?? []),
      'cuisine',
    ),
    grades: tally(
      area.flatMap((restaurant) => restaurant.grade ?? []),
      'grade',
    ),
    neighborhoods: tally(
      area.flatMap((restaurant) => restaurant.neighborhood || []),
      'neighborhood',
    ),
    top: [...area].sort(byGrade).slice(0, TOP_COUNT).map(brief),
  };
  return { ...outputResult(output), structuredContent: output };
}

/** Counts each value, the most frequent first. */
function tally(values: readonly string[], key: string): Record<string, unknown>[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([value, count]) => ({ [key]: value, count }));
}

function byGrade(a: SandboxRestaurant, b: SandboxRestaurant): number {
  return gradeRank(a.grade) - gradeRank(b.grade);
}

function brief({ service_id, name, grade, neighborhood }: SandboxRestaurant): Record<string, unknown> {
  return { service_id, name, grade: grade ?? null, neighborhood: neighborhood || null };
}

/** Reports wrong arguments in the result of the tool. */
function withArgumentErrors(tool: ToolFunction): ToolFunction {
  return (args, paid) => {
    try {
      return tool(args, paid);
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== INVALID_PARAMS) throw error;
      return outputResult({ status: 'invalid_arguments', message: error.message }, true);
    }
  };
}

/** The list has one page, so no cursor is known. */
function listTools(params: unknown): RpcObject {
  if (isObject(params) && params.cursor !== undefined) throw badArgument('cursor', 'is unknown');
  return { tools: TOOLS };
}
