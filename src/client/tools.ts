import { AppError } from '../errors.ts';
import type { JsonObject } from '../util/object.ts';
import { findResult, outputObject } from './find-result.ts';
import type { Policy } from './rpc/retry.ts';
import type { FindQuery, Level, PlannedCall, Tool } from './types.ts';

/** A tool of the service: how it is called, and how its output is read. */
export interface ServiceTool<Query, Result> {
  /** As the service should list it. */
  readonly definition: Tool;
  /** A `read` is repeated after a failure, and answered from the cache for as long as --max-age allows. */
  readonly effect: Policy;
  args(query: Query): JsonObject;
  /** @throws {AppError} `bad_response` */
  parse(output: unknown): Result;
  /** Adds facts about the query to an error. */
  explain?(error: AppError, query: Query): AppError;
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
    explain: lookupError,
  }),
};

export interface LookupQuery {
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

/** The error for a level that requires a paid key is not documented, so a 403 is treated as that error. */
function lookupError(error: AppError, { id, level }: LookupQuery): AppError {
  const { code, message, details } = error;
  // Stopped by the local quota: nothing was sent, so the error is not about this restaurant.
  if (error.kind === 'rate_limit' && details.status === undefined) return error;
  const isPaid = level !== 'basic';
  const facts = { ...details, restaurantId: id, ...(isPaid && { level }) };
  if (isPaid && code === 'forbidden')
    return new AppError('plan_required', `fields ${level} require a paid key: ${message}`, facts);
  return error.withMessage(code === 'not_found' ? `no restaurant ${id}: ${message}` : message, facts);
}
