import { VERSION } from '../../version.ts';

export const CLIENT_INFO = { name: 'restaurant-data-cli', version: VERSION };

/** Revision of MCP without handshake and session: every request carries its own metadata. */
export const MODERN_VERSION = '2026-07-28';

/** Revisions with a handshake (`initialize`), newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Which protocol to use: detected (`auto`), plain JSON-RPC (`bare`), or a version of MCP. */
export type Protocol = 'auto' | 'bare' | '2025-11-25' | '2026-07-28';

/** The detected protocol of an endpoint. */
export interface DetectedProtocol {
  /** `bare`, `legacy` (with a handshake) or `modern`. */
  readonly era: string;
  /** The negotiated version. */
  readonly version?: string;
}

/** Stores the detected protocol of an endpoint between runs. */
export interface ProtocolMemory {
  read(): DetectedProtocol | undefined;
  write(value: DetectedProtocol): void;
  forget(): void;
}

export const META_PREFIX = 'io.modelcontextprotocol/';

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
