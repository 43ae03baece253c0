import { LEVELS, TOOLS } from '../client/tools.ts';
import type { Level, Tool } from '../client/types.ts';
import { attempt } from '../errors.ts';
import { type CachedResponse, openCache, type ResponseCache } from '../storage/cache.ts';
import { exactJson, isObject, type JsonObject } from '../util/json.ts';
import type { App } from './app.ts';
import { configuredTarget, DEMO, type Target } from './target.ts';

/** Cached responses of tools. Failures are never cached. */
export interface StoredResponses extends Pick<ResponseCache, 'put' | 'release'> {
  /** Returns a response that is recent enough for this run. If there is none, the caller must call `put` or `release`. */
  get(tool: string, args: unknown): Promise<CachedResponse | undefined>;
}

export const NO_RESPONSES: StoredResponses = {
  get: () => Promise.resolve(undefined),
  put() {},
  release() {},
};

/** A value with its JSON text, in which numbers have all their digits. */
export interface Received<T> {
  readonly value: T;
  readonly text: string;
  /** When it was stored, if it is from the cache, ms since the epoch. */
  readonly cachedAt?: number;
}

/** Name and arguments of a call, under which its response is stored. */
export interface StoredEntry {
  readonly name: string;
  readonly args: JsonObject;
}

export const fromCache = <T>(
  { value, text, at }: CachedResponse,
  parse: (json: unknown) => T,
): Received<T> => ({ value: parse(value), text, cachedAt: at });

/** @param texts its JSON text, if the client has it */
export const received = <T>(value: T, [text = JSON.stringify(value)]: readonly string[]): Received<T> => ({
  value,
  text,
});

/** Stores the response that is under way, or lets other processes ask for it. */
export async function storing<T>(
  stored: StoredResponses,
  { name, args }: StoredEntry,
  response: Promise<Received<T>>,
  shouldStore: (value: T) => boolean = () => true,
): Promise<Received<T>> {
  let text: string | undefined;
  try {
    const answered = await response;
    if (shouldStore(answered.value)) text = answered.text;
    return answered;
  } finally {
    await (text === undefined ? stored.release(name, args) : stored.put(name, args, text));
  }
}

/** The API key, and the headers, which may contain another key. */
const credentialsOf = ({ key, headers = {} }: Pick<Target, 'key' | 'headers'>): string =>
  Object.keys(headers).length === 0 ? key : JSON.stringify([key, Object.entries(headers)]);

/** Opens the cache on this machine; an empty one for the embedded sandbox. */
export const openLocalCache = ({ paths, context }: App, target: Target) =>
  openCache({
    cacheDir: target.demo ? undefined : paths.cacheDir,
    endpoint: target.url.href,
    account: target.key,
    credentials: credentialsOf(target),
    now: context.now,
  });

/** Opens the responses with sample data, for --offline and hints. The port of the embedded sandbox changes. */
const openDemoCache = ({ paths: { cacheDir }, context: { now } }: App) =>
  openCache({ cacheDir, endpoint: DEMO, account: DEMO, now });

/** @param fresh accepts no stored response */
export async function openStoredResponses(app: App, target: Target, fresh = false): Promise<StoredResponses> {
  const offline = app.globals.offline === true;
  const shared = target.demo ? undefined : await app.sharedState();
  const local = target.demo ? openDemoCache(app) : openLocalCache(app, target);
  const cache = shared?.cache(target.url.href, credentialsOf(target)) ?? local;
  const usualMs = fresh || target.demo ? 0 : app.settings.get('max-age');
  const maxAgeMs = offline ? Number.POSITIVE_INFINITY : usualMs;
  /** A cache entry contains the arguments, so a call with a key in its arguments is not stored. */
  const isPrivate = (args: unknown): boolean => {
    const text = exactJson(args);
    return app.secrets.mask(text) !== text;
  };
  const note = offline ? offlineNote(app) : () => {};
  return {
    async get(tool, args) {
      if (maxAgeMs === 0 || isPrivate(args)) return undefined;
      const found = await cache.get(tool, args, maxAgeMs, offline);
      if (found === undefined) return undefined;
      // Formatting a date loads the time zone.
      if (app.terminal.verbose)
        await app.notes.trace(`* response from the cache, stored at ${new Date(found.at).toISOString()}`);
      note(found.at);
      return found;
    },
    put: (tool, args, text) => (isPrivate(args) ? undefined : cache.put(tool, args, text)),
    release: (tool, args) => (isPrivate(args) ? undefined : cache.release(tool, args)),
  };
}

/** Returns a function to call with the time of each response. At the end of the run, a note gives the age of the oldest. */
function offlineNote({ context, cleanup, notes }: App): (at: number) => void {
  let oldest: number | undefined;
  return (at) => {
    if (oldest === undefined) {
      cleanup.add(async () => {
        const { shortTime } = await import('../util/format.ts');
        await notes.note(`offline: from the cache, stored ${shortTime(oldest ?? at, context.now())}`);
      });
    }
    oldest = Math.min(oldest ?? at, at);
  };
}

/** Names under which the list of tools and the capabilities of a server are stored on this machine. */
export const TOOL_LIST = 'tools/list';
export const CAPABILITIES = 'server/capabilities';

/** Returns the stored list of tools of this run's service, regardless of its age. Sends nothing and never throws. */
export const cachedTools = (app: App): readonly Tool[] | undefined =>
  (readCached(app, TOOL_LIST)?.value as { tools?: readonly Tool[] } | undefined)?.tools;

export const cachedCapabilities = (app: App): JsonObject | undefined =>
  readCached(app, CAPABILITIES)?.value as JsonObject | undefined;

export function cachedDetails(
  app: App,
  id: string,
): { details: JsonObject; level: Level; at: number } | undefined {
  const all = LEVELS.flatMap((level) => {
    const found = readCached(app, TOOLS.lookup.definition.name, TOOLS.lookup.args({ id, level }));
    return found !== undefined && isObject(found.value) ? { details: found.value, level, at: found.at } : [];
  });
  return all.sort((a, b) => b.at - a.at)[0];
}

/** Returns the responses of a tool that are stored on this machine, the latest first. Sends nothing. */
export function latestResponses(app: App, tool: string, most: number): unknown[] {
  if (app.globals.demo === true) return openDemoCache(app).latest(tool, most);
  const target = configuredTarget(app);
  return target === undefined ? [] : openLocalCache(app, target).latest(tool, most);
}

function readCached(app: App, name: string, args: JsonObject = {}): CachedResponse | undefined {
  const target = attempt(() => configuredTarget(app));
  return target && openLocalCache(app, target).get(name, args, Number.POSITIVE_INFINITY);
}
