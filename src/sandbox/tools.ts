import type { Level, ToolResult } from '../client/types.ts';
import { describe } from './details.ts';
import type { Catalog } from './match.ts';
import { badArgument, INVALID_PARAMS, isObject, RpcError } from './rpc.ts';

/** Most results that one search returns. `total_matches` is not cut. */
export const RESULT_LIMIT = 50;

/** A tool: arguments as they came, and whether the caller pays, to a result. */
export type ToolFunction = (args: Readonly<Record<string, unknown>>, paid: boolean) => ToolResult;

/** The two documented tools, by name. */
export function createTools(catalog: Catalog): Map<string, ToolFunction> {
  return new Map<string, ToolFunction>([
    ['find_restaurant', (args) => findRestaurant(catalog, args)],
    ['lookup_restaurant', (args, paid) => lookupRestaurant(catalog, args, paid)],
  ]);
}

/**
 * Runs the tool that the params of a `tools/call` name.
 * @throws {RpcError} -32602 for an unknown tool or wrong arguments; `data` says which.
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

/**
 * An argument that must be a string with something in it.
 * @throws {RpcError} -32602
 */
export function stringArgument(args: Readonly<Record<string, unknown>>, name: string): string {
  const value = args[name];
  if (typeof value !== 'string') throw badArgument(name, problemOf(value, 'a string'));
  if (value.trim() === '') throw badArgument(name, 'is empty');
  return value;
}

/** A tool's output, encoded as the service does it: JSON in a text block. */
export function outputResult(output: Record<string, unknown>, isError = false): ToolResult {
  const content = [{ type: 'text', text: JSON.stringify(output) }];
  return isError ? { content, isError } : { content };
}

function findRestaurant(catalog: Catalog, args: Readonly<Record<string, unknown>>): ToolResult {
  const matches = catalog.find(stringArgument(args, 'name'), stringArgument(args, 'city'));
  return outputResult({
    status: 'ok',
    results: matches.slice(0, RESULT_LIMIT),
    total_matches: matches.length,
  });
}

function lookupRestaurant(
  catalog: Catalog,
  args: Readonly<Record<string, unknown>>,
  paid: boolean,
): ToolResult {
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

/** Left out is the basic level; the two others are named. */
function levelOf(fields: unknown): Level {
  if (fields === undefined) return 'basic';
  if (fields === 'standard' || fields === 'premium') return fields;
  throw badArgument('fields', 'is not "standard" or "premium"');
}

function problemOf(value: unknown, wanted: string): string {
  return value === undefined ? 'is missing' : `is not ${wanted}`;
}
