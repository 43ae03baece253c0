import type { TraceEvent } from '../client/http/transport.ts';
import { type Client, type ClientOptions, createClient } from '../client/restaurant.ts';
import { decodeFind, type FindResult } from '../client/results.ts';
import type { JsonObject } from '../client/rpc/envelope.ts';
import type { Level, LookupOutput, Tool } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { type CachedResponse, openCache, type ResponseCache } from '../storage/cache.ts';
import { type Ledger, type LedgerOptions, openLedger } from '../storage/ledger.ts';
import { openPacer, type Pacer } from '../storage/pacer.ts';
import { openProtocolStore } from '../storage/state.ts';
import { mapStrings } from '../util/json.ts';
import type { App } from './app.ts';
import { DEMO } from './last-results.ts';
import {
  accountOf,
  configuredEndpoint,
  type DemoMode,
  openTarget,
  type Target,
  traceContextOf,
} from './target.ts';
import { openToolLists, type ToolCatalog } from './tool-lists.ts';

/** The service as the commands use it: its client and the response cache. */
export interface Service {
  readonly client: Client;
  /** How it is called in messages: its host. */
  readonly label: string;
  find(query: { name: string; city: string }): Promise<{ answer: FindResult; cachedAt?: number }>;
  lookup(id: string, level: Level): Promise<{ output: LookupOutput; cachedAt?: number }>;
  /** Any other call: cached if `shouldCache` agrees, and answered from the cache within --max-age. */
  cached<T extends object>(
    name: string,
    args: Record<string, unknown>,
    ask: () => Promise<T>,
    worth?: (value: T) => boolean,
  ): Promise<T>;
  /** All tools. */
  listTools(): Promise<readonly Tool[]>;
  /** All tools; undefined where the service has no list of them. */
  tools(): Promise<readonly Tool[] | undefined>;
  /** Returns the tools for their arguments: cached ones within --max-age, unless `refresh`. */
  getTools(refresh?: boolean): Promise<ToolCatalog>;
  /** The capabilities of the MCP server, at most a day old; `{}` unless the service is known to support MCP. */
  capabilities(): Promise<JsonObject>;
}

/** Returns whether the service supports MCP, as configured or detected; undefined if unknown. */
export function supportsMcp(app: App): boolean | undefined {
  const protocol = app.settings.need('protocol');
  if (protocol !== 'auto') return protocol !== 'bare';
  const endpoint = configuredEndpoint(app)?.url.href;
  const stored = endpoint === undefined ? undefined : openProtocolStore(app.paths.stateDir, endpoint).read();
  return stored && stored.era !== 'bare';
}

/** Values that replace the settings of this run. */
interface Overrides {
  readonly protocol?: ClientOptions['protocol'];
  readonly maxWaitMs?: number;
  readonly retries?: number;
  /** Receives the exchange besides --verbose. */
  readonly trace?: (event: TraceEvent) => void;
}

/** How a service is opened. */
export interface ServiceOptions extends Overrides {
  readonly demoMode?: DemoMode;
  /** For many calls: they keep the pace of the budget, which all processes with the key share. */
  readonly paced?: boolean;
  /** The target, where it is open already. */
  readonly target?: Target;
  /** Hooks of a command that replace the counting of requests. */
  readonly requests?: Requests;
  /** Where responses are stored, if not as {@link openStoredResponses} does. */
  readonly stored?: StoredResponses;
}

/** Opens the service of this run. It is closed when the run ends. @throws {AppError} as {@link openTarget} */
export async function openService(
  app: App,
  { demoMode, paced, target: opened, requests, stored, ...overrides }: ServiceOptions = {},
): Promise<Service> {
  const target = opened ?? (await openTarget(app, demoMode));
  const client = openClientFor(app, target, requests ?? countRequests(app, target, paced), overrides);
  return serviceOver(app, client, target, stored ?? (await openStoredResponses(app, target)));
}

/** Hooks for the requests of a client. */
export interface Requests extends Pick<ClientOptions, 'onRequest' | 'onRateLimited' | 'onWait'> {
  /** Ends all that is under way. */
  readonly signal: AbortSignal;
  /** Whether the exchange is shown with --verbose. */
  readonly traced: boolean;
  /** Gets what goes wrong without ending the run. */
  warn(text: string): void;
}

/**
 * A client of this run's settings for an endpoint and a key. It is closed when the run ends.
 * @param requests where a command does more than count them and tell its waits
 */
export function openClientFor(
  app: App,
  target: Target,
  { signal, traced, warn, ...hooks }: Requests = countRequests(app, target),
  { trace: observe, ...overrides }: Overrides = {},
): Client {
  const { context, settings, globals, paths } = app;
  const { url, key, demo } = target;
  const observers = [observe, traced && app.verbose ? traceTo(app) : undefined].filter(
    (each) => each !== undefined,
  );
  const client = createClient({
    endpoint: url,
    apiKey: key === '' ? undefined : key,
    headers: target.headers,
    traceContext: traceContextOf(context.env),
    maxBodyBytes: settings.need('max-body'),
    keyHint: target.keyHint,
    insecureHttp: globals.insecureHttp === true,
    protocol: settings.need('protocol'),
    timeoutMs: settings.need('timeout'),
    retries: settings.need('retries'),
    maxWaitMs: settings.need('max-wait'),
    context: { ...context, signal },
    ...overrides,
    ...hooks,
    ...(target.isUnboundKey === true ? { onAccepted: () => bindKey(app, target) } : {}),
    ...(observers.length > 0
      ? {
          trace: (event: TraceEvent) => {
            for (const each of observers) each(event);
          },
        }
      : {}),
    ...(demo ? {} : { protocolMemory: openProtocolStore(paths.stateDir, url.href, warn) }),
  });
  app.onClose(() => client.close());
  return client;
}

/** Saves which service a key belongs to that was saved before its service was known. */
function bindKey(app: App, { url, key }: Target): void {
  app.onClose(async () => {
    const { profileName } = app.settings;
    await app
      .updateConfig((file) => {
        const profile = file.profiles?.[profileName];
        if (profile?.key?.trim() === key) profile.key_origin ??= url.origin;
      })
      .catch((error: unknown) => {
        if (error instanceof AppError)
          void app.warn(`the saved key is not bound to a service: ${error.message}`);
      });
  });
}

/** A wait that is reported where nobody reads along, in milliseconds. */
const LONG_WAIT_MS = 5000;

/** Counts the requests in the ledger, with `paced` within the quota, and reports waits. */
function countRequests(app: App, target: Target, paced = false): Requests {
  const { context, settings } = app;
  const { signal } = context;
  const limits = { perMinute: settings.need('per-minute'), perDay: settings.need('per-day') };
  const warn = (text: string): void => void app.remark(text);
  const onWait: Requests['onWait'] = ({ ms, error }) => {
    const seconds = Math.max(1, Math.round(ms / 1000));
    const text = `${error.message}; trying again in ${seconds} s`;
    void (ms > LONG_WAIT_MS ? app.warn(text) : app.remark(text));
  };
  if (target.demo) return { signal, traced: true, warn, onWait };
  const ledger = ledgerOf(app, target, limits, warn);
  app.onClose(async () => ledger.close());
  const pacer = paced && (limits.perMinute > 0 || limits.perDay > 0) ? pacerOf(app, ledger) : undefined;
  return {
    signal,
    traced: true,
    warn,
    onWait,
    onRequest: () => (pacer === undefined ? ledger.record() : pacer.acquire(signal)),
    onRateLimited: (until) => ledger.pauseUntil(until),
  };
}

function pacerOf(app: App, ledger: Ledger): Pacer {
  const { context, settings } = app;
  return openPacer({
    ledger,
    context,
    wait: false,
    maxWaitMs: settings.need('max-wait'),
    onWait: ({ freeAt }) => {
      const ms = freeAt - context.now();
      const text = `the quota of this minute is used up; continuing in ${Math.max(1, Math.ceil(ms / 1000))} s`;
      void (ms > LONG_WAIT_MS ? app.warn(text) : app.remark(text));
    },
  });
}

function serviceOver(app: App, client: Client, target: Target, stored: StoredResponses): Service {
  const { url, demo } = target;
  const cache = demo ? undefined : openCache({ cacheDir: app.paths.cacheDir, now: app.context.now });
  const place = { endpoint: url.href, keyHash: accountOf(target) };
  const lists = openToolLists(client, cache, place);
  const remembered = async <T extends object>(
    tool: string,
    args: Record<string, unknown>,
    send: () => Promise<T>,
    worth: (value: T) => boolean = () => true,
  ): Promise<{ value: T; at: { cachedAt?: number } }> => {
    const held = await stored.get(tool, args);
    // The entry says which call it answers, so it has the shape that this call was given before.
    if (held !== undefined) return { value: held.value as T, at: { cachedAt: held.at } };
    let isStored = false;
    try {
      const value = await send();
      isStored = worth(value);
      if (isStored) await stored.put(tool, args, value);
      return { value, at: {} };
    } finally {
      if (!isStored) await stored.release(tool, args);
    }
  };
  return {
    client,
    label: demo ? DEMO : url.host,
    async find(query) {
      let answer: FindResult | undefined;
      const { value, at } = await remembered('find_restaurant', { ...query }, async () => {
        answer = await client.find(query);
        const output = maskHiddenKeys(app, answer.output);
        if (output !== answer.output) answer = undefined;
        return output;
      });
      await tellCached(app, at);
      return { answer: answer ?? decodeFind({ structuredContent: value }), ...at };
    },
    async lookup(id, level) {
      const args = { restaurant_id: id, fields: level };
      const { value, at } = await remembered('lookup_restaurant', args, async () =>
        maskHiddenKeys(app, await client.lookup(id, level)),
      );
      await tellCached(app, at);
      return { output: value, ...at };
    },
    async cached(name, args, ask, worth) {
      const send = async () => maskHiddenKeys(app, await ask());
      const { value: maxAgeMs = 0, source } = app.settings.resolve('max-age');
      if (source !== 'flag' || maxAgeMs === 0) return send();
      return (await remembered(name, args, send, worth)).value;
    },
    listTools: lists.list,
    tools: lists.listOrNone,
    capabilities: async () => (demo || supportsMcp(app) === true ? lists.capabilities() : {}),
    getTools: (refresh = false) => lists.getTools(refresh ? 0 : app.settings.need('max-age')),
  };
}

/** Characters without a width, and line breaks: what cleaning removes, and what can stand inside a key to hide it. */
const HIDDEN =
  /[\0-\u{1f}\u{7f}-\u{9f}\u{ad}\u{61c}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{feff}]|\u{34f}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0000}-\u{e01ef}]/gu;

/** Masks keys that a response holds in pieces: they would be whole again once the text was cleaned for a terminal. */
function maskHiddenKeys<T>(app: App, value: T): T {
  return mapStrings(value, (text) => {
    const visible = text.replace(HIDDEN, '');
    if (visible === text) return text;
    const masked = app.maskKey(visible);
    return masked === visible ? text : masked;
  });
}

const MAX_AGE_MS = Number.POSITIVE_INFINITY;

/** Responses of tools that were stored before. Failures are never stored. */
export interface StoredResponses {
  /** Returns a response that is recent enough for this run; otherwise `put` or `release` follows. */
  get(tool: string, args: Record<string, unknown>): Promise<CachedResponse | undefined>;
  put(tool: string, args: Record<string, unknown>, value: unknown): void | Promise<void>;
  /** The request failed, or its response is not stored. */
  release(tool: string, args: Record<string, unknown>): void | Promise<void>;
}

/**
 * Opens the stored responses of a service: those of this machine, or those that many machines share.
 * @param since accept those that were stored since then, whatever --max-age says
 * @param preview nothing is sent for what is missing, so no other machine has to wait for it
 */
export async function openStoredResponses(
  app: App,
  target: Target,
  { since, preview = false }: { readonly since?: number | undefined; readonly preview?: boolean } = {},
): Promise<StoredResponses> {
  const { url, key, demo } = target;
  const { now } = app.context;
  const shared = demo ? undefined : await app.sharedState();
  const cache: ResponseCache =
    shared?.cache(url.href, key) ?? openCache({ cacheDir: demo ? undefined : app.paths.cacheDir, now });
  const account = { endpoint: url.href, keyHash: accountOf(target) };
  const maxAgeMs = app.settings.need('max-age');
  /** An entry holds its arguments, so a call with a key among them is not stored. */
  const isPrivate = (args: Record<string, unknown>): boolean => {
    const text = JSON.stringify(args);
    return app.maskKey(text) !== text;
  };
  return {
    async get(tool, args) {
      if ((maxAgeMs === 0 && since === undefined) || isPrivate(args)) return undefined;
      const age = since === undefined ? maxAgeMs : MAX_AGE_MS;
      const found = await cache.get({ tool, args, ...account }, age, preview);
      // By its time, not by its age, which grows during a long run.
      return found !== undefined && (found.at >= (since ?? 0) || now() - found.at <= maxAgeMs)
        ? found
        : undefined;
    },
    put: (tool, args, value) => (isPrivate(args) ? undefined : cache.put({ tool, args, ...account }, value)),
    release: (tool, args) => (isPrivate(args) ? undefined : cache.release?.({ tool, args, ...account })),
  };
}

async function tellCached(app: App, { cachedAt }: { cachedAt?: number }): Promise<void> {
  if (cachedAt !== undefined)
    await app.trace(`* answered from the cache of ${new Date(cachedAt).toISOString()}`);
}

/** The count of the requests to a service. */
export function ledgerOf(
  app: App,
  { url, key }: Pick<Target, 'url' | 'key'>,
  { perMinute, perDay }: Pick<LedgerOptions, 'perMinute' | 'perDay'>,
  warn?: (text: string) => void,
): Ledger {
  const { paths, context } = app;
  const local = () =>
    openLedger({
      stateDir: paths.stateDir,
      key,
      endpoint: url.href,
      now: context.now,
      perMinute,
      perDay,
      ...(warn === undefined ? {} : { warn }),
    });
  let opened: Promise<Ledger> | undefined;
  const open = (): Promise<Ledger> => {
    opened ??= app
      .sharedState()
      .then((shared) => shared?.ledger(url.href, key, { perMinute, perDay }) ?? local());
    return opened;
  };
  return {
    record: async () => (await open()).record(),
    grant: async () => (await open()).grant(),
    pauseUntil: async (until) => (await open()).pauseUntil(until),
    usage: async () => (await open()).usage(),
    close: async () => (await opened)?.close(),
  };
}

/** Most of a body that is shown, in characters. */
const MAX_BODY = 4000;

const shown = (body: string): string =>
  body.length > MAX_BODY ? `${body.slice(0, MAX_BODY)}… (${body.length} characters)` : body;

/** Shows the exchange on stderr, the way `curl -v` does: `>` sent, `<` received, `*` about it. */
function traceTo(app: App): (event: TraceEvent) => void {
  const say = (mark: string, text: string): void => {
    for (const line of text.split(/\r?\n/)) void app.trace(`${mark} ${line}`);
  };
  return (event) => {
    switch (event.kind) {
      case 'request':
        say('>', `${event.method} ${event.url}`);
        for (const [name, value] of event.headers) say('>', `${name}: ${value}`);
        if (event.body !== undefined) say('>', shown(event.body));
        break;
      case 'response':
        say('<', `${event.status} ${event.statusText}`.trim());
        for (const [name, value] of event.headers) say('<', `${name}: ${value}`);
        break;
      case 'body':
        say('<', shown(event.text));
        break;
      case 'note':
        say('*', event.text);
        break;
    }
  };
}
