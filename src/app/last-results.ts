import { join } from 'node:path';
import { attempt, failure } from '../errors.ts';
import { again, exampleSearch, restaurant } from '../hint.ts';
import { OwnFolder, type Warn } from '../storage/own-folder.ts';
import { terminalId } from '../storage/process.ts';
import { openJsonFile } from '../storage/state.ts';
import { formatDuration } from '../util/format.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { sha256Hex } from '../util/sha256.ts';
import { parseUrl } from '../util/url.ts';
import { requireEndpoint } from './address.ts';
import type { App } from './app.ts';
import { openLocalCache } from './responses.ts';
import { configuredTarget, DEMO } from './target.ts';

const KEEP_MS = 30 * 86_400_000;
const TERMINAL_NAME = /^[0-9a-f]{64}\.json$/;

export interface Search {
  readonly endpoint: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly query: { readonly name: string; readonly city: string };
  readonly rows: readonly unknown[];
}

/** One store per terminal, and one per user. Never throws. @param terminal see `terminalId` */
export function openResultsStore(stateDir: string | undefined, terminal: string | undefined, warn: Warn) {
  const open = (name: string | undefined) =>
    openJsonFile(stateDir && name && join(stateDir, name), decodeSearch, warn);
  const ofUser = open('last-find.json');
  const ofTerminal = open(terminal && join('terminals', `${sha256Hex(terminal)}.json`));
  return {
    read: (): Search | undefined => ofTerminal.read() ?? ofUser.read(),
    write(search: Search): void {
      if (search.rows.length === 0) return;
      ofUser.write(search);
      if (!ofTerminal.write(search) || stateDir === undefined) return;
      new OwnFolder(join(stateDir, 'terminals')).sweep(TERMINAL_NAME, Date.now() - KEEP_MS);
    },
  };
}

function decodeSearch({ endpoint, at, query, rows }: Readonly<Record<string, unknown>>): Search | undefined {
  const { name, city } = Object(query) as Record<string, unknown>;
  if (typeof endpoint !== 'string' || typeof at !== 'number' || !Array.isArray(rows)) return undefined;
  if (typeof name !== 'string' || typeof city !== 'string') return undefined;
  return { endpoint, at, query: { name, city }, rows };
}

function storeOf(app: App, inTerminal = true) {
  const terminal = inTerminal ? terminalId(app.context.env) : undefined;
  return openResultsStore(app.paths.stateDir, terminal, (text, cause) => void app.notes.remark(text, cause));
}

export const serviceName = (app: App): string =>
  app.globals.demo === true ? DEMO : requireEndpoint(app).url.href;

export function saveResults(
  app: App,
  query: Search['query'],
  rows: Search['rows'],
  inTerminal: boolean,
): void {
  const search = { endpoint: serviceName(app), at: app.context.now(), query, rows };
  // A search that contains a key is not stored.
  const stored = JSON.stringify(search);
  if (app.secrets.mask(stored) === stored) storeOf(app, inTerminal).write(search);
}

export const lastSearch = (app: App): Search | undefined => storeOf(app).read();

export function restaurantsOf({ rows }: Pick<Search, 'rows'>): { id: string; name: string }[] {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  return rows.map((row) => {
    const { service_id, name } = Object(row) as Record<string, unknown>;
    return { id: textOf(service_id), name: textOf(name) };
  });
}

/** None if the last search was sent to another service. Never throws. */
export const lastRestaurants = (app: App): ReturnType<typeof restaurantsOf> =>
  attempt(() => {
    const last = lastSearch(app);
    return last?.endpoint === serviceName(app) ? restaurantsOf(last) : [];
  }) ?? [];

export function requireLastSearch(app: App): Search {
  const last = lastSearch(app);
  if (last === undefined) {
    throw failure('not_found', 'no earlier search', [
      { text: 'search first', command: exampleSearch() },
      { text: 'then', command: again() },
    ]);
  }
  if (last.endpoint === serviceName(app)) return last;
  const where =
    last.endpoint === DEMO ? 'the embedded sandbox' : (parseUrl(last.endpoint)?.host ?? 'another service');
  const { name, city } = last.query;
  throw failure('not_found', `the last search was sent to another service: ${where}`, {
    text: 'to search this one',
    command: restaurant('find', name, '--city', city),
  });
}

export function describeSearch(app: App, { query, at }: Search): string {
  const age = formatDuration(Math.max(1, Math.round((app.context.now() - at) / 1000)) * 1000);
  return `"${query.name}" in ${query.city}, ${age} ago`;
}

export interface Seen {
  readonly restaurants: readonly JsonObject[];
  /** City of the last search, as it was typed. */
  readonly city: string | undefined;
}

const MAX_RESPONSES = 50;

/** Returns the results of the last search and those in the cache. Sends nothing and never throws. */
export function seenResults(app: App): Seen {
  try {
    const last = lastSearch(app);
    const isHere = last?.endpoint === serviceName(app);
    const rows = [...(isHere ? last.rows : []), ...cachedResults(app)];
    return { restaurants: rows.filter(isObject), city: isHere ? last.query.city : undefined };
  } catch {
    return { restaurants: [], city: undefined };
  }
}

function cachedResults(app: App): unknown[] {
  const target = configuredTarget(app);
  if (target === undefined) return [];
  return openLocalCache(app, target)
    .latest('find_restaurant', MAX_RESPONSES)
    .flatMap((value) => (isObject(value) && Array.isArray(value.results) ? value.results : []));
}

export function hintCity(app: App, seen: Seen = seenResults(app)): string | undefined {
  return app.settings.raw('city').value === null ? (seen.city ?? 'San Francisco') : undefined;
}

export const needsDemo = ({ settings, globals }: App): boolean =>
  globals.demo !== true &&
  (['base-url', 'endpoint'] as const).every((name) => settings.raw(name).value === null);
