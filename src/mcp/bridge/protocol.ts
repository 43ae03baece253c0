import { isObject, type JsonObject } from '../../client/rpc.ts';
import { VERSION } from '../../version.ts';
import { ProtocolError, UNSUPPORTED_VERSION } from './message.ts';

/** The revision of MCP without a handshake: each request brings its metadata. */
export const MODERN_VERSION = '2026-07-28';

/** Revisions with a handshake, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** How long a host may keep the list of tools, ms. It is as long as it is kept here. */
export const LIST_LIFE_MS = 5 * 60_000;

const PREFIX = 'io.modelcontextprotocol/';
const SERVER_INFO = { name: 'restaurant', title: 'Restaurants', version: VERSION };
const CAPABILITIES = { tools: {} };
const NEWEST_LEGACY = '2025-11-25';

/** Result of `initialize`: the revision that was asked for where it is known, else the newest with a handshake. */
export function initializeResult(params: JsonObject): JsonObject {
  const asked = params.protocolVersion;
  const known = LEGACY_VERSIONS.find((version) => version === asked);
  return {
    protocolVersion: known ?? NEWEST_LEGACY,
    capabilities: CAPABILITIES,
    serverInfo: SERVER_INFO,
  };
}

/** Result of `server/discover` (2026-07-28). */
export function discoverResult(): JsonObject {
  return {
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
    capabilities: CAPABILITIES,
    serverInfo: SERVER_INFO,
  };
}

/**
 * Whether a request brings its own metadata, as 2026-07-28 wants it.
 * @throws {ProtocolError} -32022 with the revisions that would do, for one that has none of them
 */
export function isModern(params: JsonObject): boolean {
  const meta = isObject(params._meta) ? params._meta : {};
  const requested = meta[`${PREFIX}protocolVersion`];
  if (requested === undefined) return false;
  if (requested === MODERN_VERSION) return true;
  const data = {
    supported: [MODERN_VERSION, ...LEGACY_VERSIONS],
    requested: typeof requested === 'string' ? requested.slice(0, 100) : '',
  };
  throw new ProtocolError(UNSUPPORTED_VERSION, 'Unsupported protocol version', data);
}

/** A result with what 2026-07-28 adds: what kind it is, who answers and, where it may be kept, for how long. */
export function modernResult(result: JsonObject, keep: boolean): JsonObject {
  return {
    ...result,
    resultType: 'complete',
    ...(keep ? { ttlMs: LIST_LIFE_MS, cacheScope: 'private' } : {}),
    _meta: { [`${PREFIX}serverInfo`]: SERVER_INFO, ...(isObject(result._meta) ? result._meta : {}) },
  };
}
