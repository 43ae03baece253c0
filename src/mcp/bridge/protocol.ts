import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import { VERSION } from '../../version.ts';
import { ProtocolError, UNSUPPORTED_VERSION } from './message.ts';

/** The protocol version without a handshake: each request carries its metadata. */
export const MODERN_VERSION = '2026-07-28';

/** Protocol versions with a handshake, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** How long the bridge and its hosts may cache the list of tools, ms. */
export const LIST_TTL_MS = 5 * 60_000;

const PREFIX = 'io.modelcontextprotocol/';
const SERVER_INFO = { name: 'restaurant', title: 'Restaurants', version: VERSION };
const CAPABILITIES = { tools: {} };
const NEWEST_LEGACY = '2025-11-25';

/** Returns the result of `initialize`: the requested version if it is supported, else the newest with a handshake. */
export function initializeResult(params: JsonObject): JsonObject {
  const requested = params.protocolVersion;
  const supported = LEGACY_VERSIONS.find((version) => version === requested);
  return {
    protocolVersion: supported ?? NEWEST_LEGACY,
    capabilities: CAPABILITIES,
    serverInfo: SERVER_INFO,
  };
}

/** Returns the result of `server/discover` (2026-07-28). */
export function discoverResult(): JsonObject {
  return {
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
    capabilities: CAPABILITIES,
    serverInfo: SERVER_INFO,
  };
}

/**
 * Tells whether a request carries its own metadata, as 2026-07-28 requires.
 * @throws {ProtocolError} -32022 with the supported versions, for another version
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

/** Adds the members that 2026-07-28 requires of a result: its type, the server and, when cacheable, for how long. */
export function modernResult(result: JsonObject, cacheable: boolean): JsonObject {
  return {
    ...result,
    resultType: 'complete',
    ...(cacheable ? { ttlMs: LIST_TTL_MS, cacheScope: 'private' } : {}),
    _meta: { [`${PREFIX}serverInfo`]: SERVER_INFO, ...(isObject(result._meta) ? result._meta : {}) },
  };
}
