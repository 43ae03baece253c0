/** Revisions with a handshake, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** The revision without one. */
export const MODERN_VERSION = '2026-07-28';

/** Who answers, as MCP tells it. */
export const SERVER_INFO = { name: 'restaurant-sandbox', title: 'Restaurant sandbox', version: '1.0.0' };

export const INSTRUCTIONS =
  'Sample data, all invented. find_restaurant searches by name and city; lookup_restaurant takes a service_id from it.';

/** JSON-RPC error codes that MCP servers use. */
export const SERVER_ERROR = -32000;
export const SESSION_NOT_FOUND = -32001;
export const HEADER_MISMATCH = -32020;
export const UNSUPPORTED_VERSION = -32022;
