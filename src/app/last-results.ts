import { AppError } from '../errors.ts';
import { readLastResults, saveLastResults } from '../storage/state.ts';
import type { App } from './app.ts';
import { requireEndpoint } from './target.ts';

/** What the rows of the demo belong to, whatever port it had. */
export const DEMO = 'demo';

const serviceName = (app: App): string => (app.globals.demo === true ? DEMO : requireEndpoint(app).url.href);

const textOf = (row: unknown, field: string): string => {
  const value = (typeof row === 'object' && row !== null ? row : {}) as Record<string, unknown>;
  return typeof value[field] === 'string' ? value[field] : '';
};

/** Keeps the rows of a find, so that `lookup 2` knows the second one. */
export function saveResults(app: App, rows: readonly unknown[]): void {
  const { stateDir } = app.paths;
  if (stateDir === undefined) return;
  saveLastResults(
    stateDir,
    {
      endpoint: serviceName(app),
      at: app.context.now(),
      ids: rows.map((row) => textOf(row, 'service_id')),
      names: rows.map((row) => textOf(row, 'name')),
    },
    (text) => void app.warn(text),
  );
}

/** The rows of the last find, where it asked the service of this run; else none. Never throws. */
export function lastResults(app: App): readonly { id: string; name: string }[] {
  try {
    const last = readLastResults(app.paths.stateDir);
    if (last?.endpoint !== serviceName(app)) return [];
    return last.ids.map((id, index) => ({ id, name: last.names[index] ?? '' }));
  } catch {
    return [];
  }
}

/**
 * The ids of the last find's rows.
 * @throws {AppError} `not_found` where there was none, or it asked another service
 */
export function requireLastResults(app: App): readonly string[] {
  const { stateDir } = app.paths;
  const last = stateDir === undefined ? undefined : readLastResults(stateDir, (text) => void app.warn(text));
  if (last === undefined) {
    throw new AppError('not_found', 'there is no last find for a row number to refer to', {
      hint: 'restaurant find <name> --city <city>, then restaurant lookup 1',
    });
  }
  if (last.endpoint === serviceName(app)) return last.ids;
  const [where, hint] =
    last.endpoint === DEMO
      ? ['the embedded sandbox', 'add --demo, as the find had it']
      : [URL.canParse(last.endpoint) ? new URL(last.endpoint).host : 'elsewhere', 'search again'];
  throw new AppError('not_found', `the last find asked another service: ${where}`, {
    hint: `${hint}: restaurant ${last.endpoint === DEMO ? 'lookup 1 --demo' : 'find <name> --city <city>'}`,
  });
}
