import { readLastFind, saveLastFind } from '../state/last-find.ts';
import type { App } from './app.ts';
import { needEndpoint } from './target.ts';

/** What the rows of the demo belong to, whatever port it had. */
export const DEMO = 'demo';

const serviceName = (app: App): string => (app.globals.demo === true ? DEMO : needEndpoint(app).url.href);

const textOf = (row: unknown, field: string): string => {
  const value = (typeof row === 'object' && row !== null ? row : {}) as Record<string, unknown>;
  return typeof value[field] === 'string' ? value[field] : '';
};

/** Keeps the rows of a find, so that `lookup 2` knows the second one. */
export function rememberRows(app: App, rows: readonly unknown[]): void {
  const { stateDir } = app.paths;
  if (stateDir === undefined) return;
  saveLastFind(stateDir, {
    endpoint: serviceName(app),
    at: app.context.now(),
    ids: rows.map((row) => textOf(row, 'service_id')),
    names: rows.map((row) => textOf(row, 'name')),
  });
}

/** The ids of the last find's rows at this service; undefined where there is none. */
export function readLastRows(app: App): readonly string[] | undefined {
  const { stateDir } = app.paths;
  const last = stateDir === undefined ? undefined : readLastFind(stateDir);
  return last === undefined || last.endpoint !== serviceName(app) ? undefined : last.ids;
}
