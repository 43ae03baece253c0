/** The shapes of the service's documented responses. Members that are not named here are kept as received. */

/** WGS 84, degrees. */
export interface Coordinates {
  lat: number;
  lng: number;
}

/** One element of `results` from `find_restaurant`. Only `service_id` and `name` are always there. */
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

/** Level of detail of a lookup. `standard` and `premium` need a paid key. */
export type Level = 'basic' | 'standard' | 'premium';
export const LEVELS: readonly Level[] = ['basic', 'standard', 'premium'];

/** A tool as `tools/list` gives it. */
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
