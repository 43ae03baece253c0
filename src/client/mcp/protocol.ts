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
