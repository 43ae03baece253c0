/** JSON-RPC 2.0, section 5.1. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** "Server not initialized", as the Language Server Protocol numbers it. */
export const NOT_INITIALIZED = -32002;

/** Error codes of MCP 2026-07-28. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;
