/** The entry point of the package for programs: the client that the commands use, and its types. */

export type { HeaderField, RequestHeaders } from './client/http/headers.ts';
export type { TraceEvent } from './client/http/transport.ts';
export type { DetectedProtocol, Protocol, ProtocolMemory } from './client/mcp/protocol.ts';
export {
  type AbortOptions,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type RawResponse,
  type ReadOptions,
} from './client/restaurant.ts';
export type { TraceContext } from './client/rpc/envelope.ts';
export type { ServiceTool } from './client/tools.ts';
export { type FindResult, isRestaurant } from './client/tools.ts';
export type {
  Coordinates,
  FindOutput,
  Level,
  LookupOutput,
  Restaurant,
  Tool,
  ToolResult,
} from './client/types.ts';
export { AppError, type Code, type ErrorDetails, type Kind } from './errors.ts';
