import { join } from 'node:path';
import type { FindQuery } from '../client/types.ts';
import { attempt } from '../errors.ts';
import { terminalId } from '../storage/process.ts';
import { OwnFolder, openJsonFile, type Warn } from '../storage/store.ts';
import { formatDuration } from '../util/format.ts';
import { sha256Hex } from '../util/sha256.ts';
import { isPreview, needsDemo, requireEndpoint } from './address.ts';
import type { App } from './app.ts';
import { DEMO } from './target.ts';

const KEEP_MS = 30 * 86_400_000;
const TERMINAL_NAME = /^[0-9a-f]{64}\.json$/;

/** Numbered rows, as they were shown in this terminal. */
export interface NumberedRows {
  readonly endpoint: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly query?: FindQuery;
  readonly rows: readonly unknown[];
}

export type Search = NumberedRows & Required<Pick<NumberedRows, 'query'>>;

/**
 * The last search, and the rows that were shown since: saved restaurants, or some of its results. Without a search, it has
 * no rows.
 */
type LastResults = Search & { readonly shown?: NumberedRows };

/** One store per terminal, and one per user. Never throws. @param terminal see `terminalId` */
export function openResultsStore(stateDir: string | undefined, terminal: string | undefined, warn: Warn) {
  const open = (name: string | undefined) =>
    openJsonFile(stateDir && name && join(stateDir, name), decodeResults, warn);
  const ofUser = open('last-find.json');
  const ofTerminal = open(terminal && join('terminals', `${sha256Hex(terminal)}.json`));
  return {
    read: (): LastResults | undefined => ofTerminal.read() ?? ofUser.read(),
    write(results: LastResults): void {
      if (results.rows.length === 0 && results.shown === undefined) return;
      ofUser.write(results);
      if (!ofTerminal.write(results) || stateDir === undefined) return;
      new OwnFolder(join(stateDir, 'terminals')).sweep(TERMINAL_NAME, Date.now() - KEEP_MS);
    },
  };
}

type Values = Readonly<Record<string, unknown>>;

function decodeResults(values: Values): LastResults | undefined {
  const { query, ...table }: Partial<NumberedRows> = decodeRows(values) ?? {};
  if (query === undefined) return undefined;
  const shown = decodeRows(Object(values.shown));
  return { ...(table as NumberedRows), query, ...(shown && { shown }) };
}

function decodeRows({ endpoint, at, rows, query }: Values): NumberedRows | undefined {
  const isValid = typeof endpoint === 'string' && typeof at === 'number' && Array.isArray(rows);
  if (!isValid) return undefined;
  const { name, city } = Object(query) as Record<string, unknown>;
  const isSearch = typeof name === 'string' && typeof city === 'string';
  return { endpoint, at, rows, ...(isSearch && { query: { name, city } }) };
}

function storeOf(app: App, inTerminal = true) {
  const terminal = inTerminal ? terminalId(app.context.env) : undefined;
  return openResultsStore(app.paths.stateDir, terminal, (text, cause) => void app.notes.remark(text, cause));
}

export const serviceName = (app: App): string =>
  app.globals.demo === true ? DEMO : requireEndpoint(app).url.href;

const ROWS = /^#?\d{1,4}(?:[-,]#?\d{1,4})*,?$/;

/**
 * Uses the sample data for what follows a search in it, if no service is configured. With a service, this is so for rows of
 * that search only, and for a person, who sees the warning.
 * @param words the restaurants that the command takes
 */
export async function stayWithDemo(app: App, words: readonly string[]): Promise<void> {
  const { globals, settings, terminal, program } = app;
  if (globals.demo === true || isPreview(app)) return;
  if (lastRows(app)?.endpoint !== DEMO) return;
  const isForPerson = !terminal.wantsJson && globals.quiet !== true && globals.profile === undefined;
  const isTyped = [settings.raw('base-url'), settings.raw('endpoint')].some(
    ({ source }) => source === 'flag',
  );
  const isOfSearch = words.every((word) => ROWS.test(word));
  if (!needsDemo(app) && !(isForPerson && !isTyped && isOfSearch)) return;
  await app.notes.report({ code: 'sample_data', message: 'this is sample data, as in your last search' });
  program.setOptionValue('demo', true);
}

export function keepResults(app: App, query: FindQuery, rows: Search['rows'], inTerminal: boolean): void {
  write(app, { endpoint: serviceName(app), at: app.context.now(), query, rows }, inTerminal);
}

/** From now on, the numbers are those of the saved restaurants. */
export function numberSaved(app: App, rows: NumberedRows['rows']): void {
  const last = storeOf(app).read() ?? { endpoint: '', at: 0, query: { name: '', city: '' }, rows: [] };
  // Without a service, the rows are of the only one that has saved restaurants, so numbers are not those of a search.
  const endpoint = attempt(() => serviceName(app)) ?? '';
  write(app, { ...last, shown: { endpoint, at: app.context.now(), rows } });
}

export const isWhole = (rows: Search['rows'], { rows: all }: Search): boolean =>
  rows.length === all.length && rows.every((row, index) => row === all[index]);

/** From now on, the numbers are those of the last search again. @param rows those of its results that are shown */
export function numberSearch(app: App, search: Search, rows: Search['rows']): void {
  const isAll = isWhole(rows, search);
  if (isAll && storeOf(app).read()?.shown === undefined) return;
  write(app, { ...search, ...(isAll ? {} : { shown: { ...search, rows } }) });
}

/** Stores nothing that contains a key. */
function write(app: App, results: LastResults, inTerminal = true): void {
  const stored = JSON.stringify(results);
  if (app.secrets.mask(stored) === stored) storeOf(app, inTerminal).write(results);
}

export function lastSearch(app: App): Search | undefined {
  const { shown: _, ...last }: Partial<LastResults> = storeOf(app).read() ?? {};
  return last.rows === undefined || last.rows.length === 0 ? undefined : (last as Search);
}

/** The rows to which numbers refer: of the last search, or of the saved restaurants if they were shown since. */
export function lastRows(app: App): NumberedRows | undefined {
  return storeOf(app).read()?.shown ?? lastSearch(app);
}

export function restaurantsOf({ rows }: Pick<NumberedRows, 'rows'>): { id: string; name: string }[] {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  return rows.map((row) => {
    const { service_id, name } = Object(row) as Record<string, unknown>;
    return { id: textOf(service_id), name: textOf(name) };
  });
}

/** None if they are of another service. Never throws. */
export const lastRestaurants = (app: App): ReturnType<typeof restaurantsOf> =>
  attempt(() => {
    const last = lastRows(app);
    return last?.endpoint === serviceName(app) ? restaurantsOf(last) : [];
  }) ?? [];

export function describeRows(app: App, { query, at }: NumberedRows): string {
  const age = formatDuration(Math.max(1, Math.round((app.context.now() - at) / 1000)) * 1000);
  return query === undefined
    ? `your saved restaurants, ${age} ago`
    : `"${query.name}" in ${query.city}, ${age} ago`;
}
