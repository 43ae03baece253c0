import { LEGACY_VERSIONS, META_PREFIX, MODERN_VERSION } from '../../client/mcp/protocol.ts';
import { INVALID_PARAMS, UNSUPPORTED_VERSION } from '../../client/rpc/envelope.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import { VERSION } from '../../version.ts';

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const invalidParams = (why: string): ProtocolError =>
  new ProtocolError(INVALID_PARAMS, `Invalid params: ${why}`);

/** How long the bridge and its hosts may cache the list of tools, ms. */
export const LIST_TTL_MS = 5 * 60_000;

/** How long a 2026-07-28 host may cache the result of a method, ms, unless the service sets it. */
const TTL_MS: Readonly<Record<string, number>> = {
  'server/discover': LIST_TTL_MS,
  'tools/list': LIST_TTL_MS,
  'prompts/list': 0,
  'resources/list': 0,
  'resources/templates/list': 0,
  'resources/read': 0,
  'skills/list': LIST_TTL_MS,
  'skills/get': LIST_TTL_MS,
};

export const SUPPORTED_VERSIONS = [MODERN_VERSION, ...LEGACY_VERSIONS];

export const SERVER_INFO = { name: 'restaurant', title: 'Restaurants', version: VERSION };

/** Instructions for the model. Hosts with tool search show only these and the names of the tools. */
const INSTRUCTIONS =
  'Restaurant data. find_restaurant searches by name and city; lookup_restaurant returns the details of one of its ' +
  'results by service_id. The service limits requests per minute and per day: reuse results, and when a tool error ' +
  'has a hint, follow it or show it to the user.';

const FORWARDED: Readonly<Record<string, readonly string[]>> = {
  resources: ['resources/list', 'resources/templates/list', 'resources/read'],
  prompts: ['prompts/list', 'prompts/get'],
  completions: ['completion/complete'],
};

const SKILLS_EXTENSION = `${META_PREFIX}skills`;

export const capabilityOf = (method: string): string | undefined =>
  Object.keys(FORWARDED).find((name) => FORWARDED[name]?.includes(method));

/** Returns the protocol version to use: the requested one if it is supported, else the newest with a handshake. */
export const negotiatedVersion = (requested: unknown): string | undefined =>
  LEGACY_VERSIONS.find((each) => each === requested) ?? LEGACY_VERSIONS[0];

export function describeServer(service: JsonObject): JsonObject {
  const forwarded = Object.keys(FORWARDED).filter((name) => isObject(service[name]));
  return {
    capabilities: {
      tools: {},
      resources: {},
      ...Object.fromEntries(forwarded.map((name) => [name, {}])),
      extensions: { [SKILLS_EXTENSION]: {} },
    },
    instructions: INSTRUCTIONS,
  };
}

/** @throws {ProtocolError} -32022 with the supported versions, for another version */
export function isModern(params: JsonObject): boolean {
  const meta = isObject(params._meta) ? params._meta : {};
  const requested = meta[`${META_PREFIX}protocolVersion`];
  if (requested === undefined) return false;
  if (requested === MODERN_VERSION) return true;
  const data = {
    supported: SUPPORTED_VERSIONS,
    requested: typeof requested === 'string' ? requested.slice(0, 100) : '',
  };
  throw new ProtocolError(UNSUPPORTED_VERSION, 'Unsupported protocol version', data);
}

export function forwardable(message: JsonObject): JsonObject {
  const { _meta: meta, ...rest } = message;
  if (!isObject(meta)) return rest;
  const own = ([key]: [string, unknown]): boolean => key === 'progressToken' || key.startsWith(META_PREFIX);
  const entries = Object.entries(meta).filter((entry) => !own(entry));
  return entries.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(entries) };
}

/** Adds the members that 2026-07-28 requires: the type, the server, and, if it can be cached, for how long. */
export function modernResult(method: string, result: JsonObject): JsonObject {
  const ttlMs = TTL_MS[method];
  return {
    ...(ttlMs === undefined ? {} : { ttlMs, cacheScope: 'private' }),
    ...result,
    resultType: result.resultType ?? 'complete',
    _meta: { [`${META_PREFIX}serverInfo`]: SERVER_INFO, ...(isObject(result._meta) ? result._meta : {}) },
  };
}
