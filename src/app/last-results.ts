import { AppError } from '../errors.ts';
import { terminalId } from '../storage/process.ts';
import { type LastResults, openResultsStore } from '../storage/state.ts';
import { formatDuration } from '../util/duration.ts';
import { parseUrl } from '../util/url.ts';
import type { App } from './app.ts';
import { requireEndpoint } from './target.ts';

/** The name of the embedded sandbox, whose port changes. */
export const DEMO = 'demo';

const serviceName = (app: App): string => (app.globals.demo === true ? DEMO : requireEndpoint(app).url.href);

/**
 * Stores the rows of a search, so that `lookup 2` knows the second one.
 * @param shown whether the rows were shown, numbered, in this terminal
 */
export function saveResults(
  app: App,
  query: { readonly name: string; readonly city: string },
  rows: readonly unknown[],
  shown: boolean,
): void {
  if (app.paths.stateDir === undefined) return;
  const { name, city } = query;
  const search = { endpoint: serviceName(app), at: app.context.now(), query: { name, city }, rows };
  // What holds a key is not stored.
  const stored = JSON.stringify(search);
  if (app.maskKey(stored) === stored) storeOf(app).write(search, shown);
}

const storeOf = (app: App) =>
  openResultsStore(app.paths.stateDir, terminalId(app.context.env), (text) => void app.remark(text));

/** Returns the rows of the last search when it was sent to the service of this run; else none. Never throws. */
export function lastResults(app: App): readonly { id: string; name: string }[] {
  try {
    const last = storeOf(app).read();
    if (last?.endpoint !== serviceName(app)) return [];
    return last.ids.map((id, index) => ({ id, name: last.names[index] ?? '' }));
  } catch {
    return [];
  }
}

/** Returns the last search of this terminal, of whatever service. */
export const lastSearch = (app: App): LastResults | undefined => storeOf(app).read();

/**
 * Returns the last search of this terminal.
 * @throws {AppError} `not_found` when there is none, or it was sent to another service
 */
export function requireLastResults(app: App): LastResults {
  const last = lastSearch(app);
  if (last === undefined) {
    throw new AppError('not_found', 'no search was made yet', {
      hint: 'restaurant find <name> --city <city>, then restaurant lookup 1',
    });
  }
  if (last.endpoint === serviceName(app)) return last;
  const isDemo = last.endpoint === DEMO;
  const where = isDemo ? 'the embedded sandbox' : (parseUrl(last.endpoint)?.host ?? 'another service');
  throw new AppError('not_found', `the last search was sent to another service: ${where}`, {
    hint: isDemo ? app.commandLine('--demo') : 'search again: restaurant find <name> --city <city>',
  });
}

/** Describes a search for a person: `"Nopa" in SF, 20s ago`. */
export function describeSearch(app: App, { query, at }: LastResults): string {
  const age = formatDuration(Math.max(1, Math.round((app.context.now() - at) / 1000)) * 1000);
  return `"${query.name}" in ${query.city}, ${age} ago`;
}
