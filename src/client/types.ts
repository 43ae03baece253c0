import type { AppError } from '../errors.ts';

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
export type Lookup = {
  readonly restaurantId: string;
  readonly text?: string;
  readonly cachedAt?: number;
} & (
  | { readonly output: LookupOutput; readonly error?: undefined }
  | { readonly output?: undefined; readonly error: AppError }
);

/** Level of detail of a lookup. `standard` and `premium` need a paid key. */
export type Level = 'basic' | 'standard' | 'premium';

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

export interface FindQuery {
  readonly name: string;
  readonly city: string;
}
