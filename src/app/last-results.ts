import { AppError } from '../errors.ts';
import { openResultsStore, type ResultsStore, terminalId } from '../storage/state.ts';
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
  if (app.paths.stateDir === undefined) return;
  storeOf(app).write({
    endpoint: serviceName(app),
    at: app.context.now(),
    ids: rows.map((row) => textOf(row, 'service_id')),
    names: rows.map((row) => textOf(row, 'name')),
  });
}

function storeOf(app: App): ResultsStore {
  return openResultsStore(app.paths.stateDir, terminalId(app.context.env), (text) => void app.remark(text));
}

/** The rows of the last find, where it asked the service of this run; else none. Never throws. */
export function lastResults(app: App): readonly { id: string; name: string }[] {
  try {
    const last = storeOf(app).read();
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
  const last = storeOf(app).read();
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
