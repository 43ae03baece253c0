import { isObject, type JsonObject } from '../util/object.ts';
import type { App } from './app.ts';
import { lastSearch, serviceName } from './last-results.ts';
import { openLocalCache } from './responses.ts';
import { configuredTarget } from './target.ts';

/** Results of earlier searches at this service. */
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

/** Returns the city to name in a hint; undefined if a default city is set. */
export function hintCity(app: App, seen: Seen = seenResults(app)): string | undefined {
  return app.settings.raw('city').value === null ? (seen.city ?? 'San Francisco') : undefined;
}

/** Returns whether a hint needs --demo, because no service is configured. */
export const needsDemo = ({ settings, globals }: App): boolean =>
  globals.demo !== true &&
  (['base-url', 'endpoint'] as const).every((name) => settings.raw(name).value === null);

/** How help is shown in this run. */
export const helpView = (app: App) => ({
  width: app.terminal.helpWidth,
  isBrief: !app.context.stdout.isTTY,
  needsDemo: app.globals.demo === true || needsDemo(app),
});
