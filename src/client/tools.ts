import type { ErrorDetails } from '../errors.ts';
import { excerpt, kindOf } from '../util/format.ts';
import { isFilled, isObject, type JsonObject } from '../util/json.ts';
import type { Effect } from './rpc/retry.ts';
import { badResponse, type ServiceError } from './service-error.ts';
import type { FindOutput, FindQuery, Level, PlannedCall, Restaurant, Tool } from './types.ts';

/** A tool of the service: how it is called, and how its output is read. */
export interface ServiceTool<Query, Result> {
  /** As the service should list it. */
  readonly definition: Tool;
  /** A `read` is repeated after a failure, and answered from the cache for as long as --max-age allows. */
  readonly effect: Effect;
  args(query: Query): JsonObject;
  /** @throws {AppError} `bad_response` */
  parse(output: unknown): Result;
  /** Facts that a failure of the call also has. */
  facts?(query: Query): ErrorDetails;
}

const tool = <Query, Result>(row: ServiceTool<Query, Result>): ServiceTool<Query, Result> => row;

/** Some MCP clients only call a tool without confirmation if it is marked as read-only. */
const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };

export const LEVELS: readonly Level[] = ['basic', 'standard', 'premium'];

/** The tools that the service documents, with the arguments it documents for them. */
export const TOOLS = {
  find: tool({
    definition: {
      name: 'find_restaurant',
      title: 'Find restaurants',
      annotations: READ_ONLY,
      description: 'Search restaurants by name and city.',
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'Restaurant name to search.' },
          city: { type: 'string', description: 'City to search in.' },
        },
        required: ['name', 'city'],
      },
    },
    effect: 'read',
    args: ({ name, city }: FindQuery) => ({ name, city }),
    parse: findResult,
  }),
  lookup: tool({
    definition: {
      name: 'lookup_restaurant',
      title: 'Look up a restaurant',
      annotations: READ_ONLY,
      description: 'Details of one restaurant. The levels standard and premium need a paid key.',
      inputSchema: {
        type: 'object',
        properties: {
          restaurant_id: {
            type: 'string',
            description: 'The service_id of a restaurant from find_restaurant.',
          },
          fields: {
            type: 'string',
            enum: LEVELS.filter((level) => level !== 'basic'),
            description: 'Level of detail. Left out: basic.',
          },
        },
        required: ['restaurant_id'],
      },
    },
    effect: 'read',
    args: ({ id, level }: LookupQuery) => ({
      restaurant_id: id,
      ...(level === 'basic' ? {} : { fields: level }),
    }),
    parse: outputObject,
    facts: ({ id, level }) => ({ restaurantId: id, ...(level !== 'basic' && { level }) }),
  }),
};

interface LookupQuery {
  readonly id: string;
  readonly level: Level;
}

export const DOCUMENTED_TOOLS: readonly Tool[] = Object.values(TOOLS).map(({ definition }) => definition);

/** Names that the MCP specification allows for a tool. Others are not suggested, because they may imitate a tool. */
export const TOOL_NAME = /^[\w./:-]{1,128}$/;

export const plannedCall = <Query>(
  { definition, args }: ServiceTool<Query, unknown>,
  query: Query,
): PlannedCall => toolCall(definition.name, args(query));

export const toolCall = (name: string, args: JsonObject): PlannedCall => ({
  method: 'tools/call',
  params: { name, arguments: args },
});

export interface FindResult {
  /** The tool's output object as received. */
  readonly output: FindOutput;
  /** The `results` as received; see {@link isRestaurant}. */
  readonly results: readonly unknown[];
  /** How many of them are not objects. */
  readonly unreadable: number;
}

/** Whether an element of `results` is a restaurant: an object with an id and a name. */
export function isRestaurant(value: unknown): value is Restaurant {
  return isObject(value) && isFilled(value.service_id) && isFilled(value.name);
}

function findResult(value: unknown): FindResult {
  const output = outputObject(value);
  const { results } = output;
  if (!Array.isArray(results)) throw mismatch('an array "results"', results, output);
  const unreadable = results.filter((element) => !isObject(element)).length;
  return { output: output as FindOutput, results, unreadable };
}

/** @throws {AppError} `bad_response` */
export function outputObject(output: unknown): JsonObject {
  if (!isObject(output)) throw mismatch("an object as the tool's output", output, output);
  return output;
}

/** @param context the value that contains it, which is shown */
export function mismatch(wanted: string, value: unknown, context?: unknown): ServiceError {
  const shown = context === undefined ? '' : ` in: ${excerpt(JSON.stringify(context))}`;
  return badResponse(`expected ${wanted}, got ${kindOf(value)}${shown}`);
}
