import type { AppError } from '../errors.ts';
import type { JsonObject } from '../util/object.ts';

/** The calls of the documented tools, and the types of their responses. Unlisted members are kept as received. */

/** WGS 84, degrees. */
export interface Coordinates {
  lat: number;
  lng: number;
}

/** One element of `results` from `find_restaurant`. Only `service_id` and `name` are always present. */
export interface Restaurant {
  service_id: string;
  name: string;
  address?: string;
  coordinates?: Coordinates;
  city?: string;
  neighborhood?: string;
  cuisine_tags?: string[];
  grade?: string;
  coverage_level?: string;
  [key: string]: unknown;
}

/** Output object of `find_restaurant`. */
export interface FindOutput {
  status: string;
  results: Restaurant[];
  total_matches: number;
  [key: string]: unknown;
}

/** Output object of `lookup_restaurant`. Its fields are not documented. */
export type LookupOutput = Record<string, unknown>;

/** The outcome of one of many lookups: its output or its error. */
export type Outcome = {
  readonly restaurantId: string;
  readonly text?: string;
  readonly cachedAt?: number;
} & (
  | { readonly output: LookupOutput; readonly error?: undefined }
  | { readonly output?: undefined; readonly error: AppError }
);

/** Level of detail of a lookup. `standard` and `premium` need a paid key. */
export type Level = 'basic' | 'standard' | 'premium';
export const LEVELS: readonly Level[] = ['basic', 'standard', 'premium'];

/** A tool as returned by `tools/list`. */
export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  [key: string]: unknown;
}

/** `result` of `tools/call`. */
export interface ToolResult {
  content?: unknown[];
  structuredContent?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

/** A JSON-RPC 2.0 request. Ids are integers of our choosing. */
export interface RpcRequest {
  jsonrpc: '2.0';
  id: number;
  method: string;
  params?: Record<string, unknown> | unknown[];
}

/** A JSON-RPC call without an id. */
export interface PlannedCall {
  readonly method: string;
  readonly params?: RpcRequest['params'];
}

/** The call of any tool. */
export const toolCall = (name: string, args: JsonObject): PlannedCall => ({
  method: 'tools/call',
  params: { name, arguments: args },
});

/** A search by name and city. */
export interface FindQuery {
  readonly name: string;
  readonly city: string;
}

/** The call of `find_restaurant`. */
export const findCall = ({ name, city }: FindQuery): PlannedCall =>
  toolCall('find_restaurant', { name, city });

/** The call of `lookup_restaurant`; `basic` sends no `fields`. */
export const lookupCall = (id: string, level: Level): PlannedCall =>
  toolCall('lookup_restaurant', { restaurant_id: id, ...(level === 'basic' ? {} : { fields: level }) });

/** Names that the MCP specification allows for a tool. Others are not suggested, because they may imitate a tool. */
export const TOOL_NAME = /^[\w./:-]{1,128}$/;

/** Some MCP clients only call a tool without confirmation if it is marked as read-only. */
const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };

/** The two tools that the service documents, with the arguments it documents for them. */
export const DOCUMENTED_TOOLS: readonly Tool[] = [
  {
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
  {
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
];
