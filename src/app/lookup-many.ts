import { TOOLS } from '../client/tools.ts';
import type { Level, Lookup } from '../client/types.ts';
import { AppError, failure } from '../errors.ts';
import { type Command, type Hint, slot, type Word } from '../hint.ts';
import { longWaitOf } from '../storage/pacer.ts';
import { collect, mapConcurrently } from '../util/async.ts';
import { checkId } from '../util/restaurant.ts';
import type { App } from './app.ts';
import { exampleSearch } from './seen-results.ts';
import type { Service } from './service.ts';

const CONCURRENCY = 4;

/** Looks up many restaurants concurrently, and yields the outcomes in order. A failed lookup does not stop the others. */
export const lookupMany = (
  app: App,
  service: Pick<Service, 'call'>,
  ids: readonly string[],
  level: Level,
): AsyncGenerator<Lookup> => mapConcurrently(ids, CONCURRENCY, (id) => lookupOne(app, service, id, level));

async function lookupOne(
  app: App,
  service: Pick<Service, 'call'>,
  restaurantId: string,
  level: Level,
): Promise<Lookup> {
  try {
    const { value, ...more } = await service.call(TOOLS.lookup, { id: checkId(restaurantId), level });
    return { restaurantId, output: value, ...more };
  } catch (error) {
    // After a rejected key, an exhausted daily quota, a long Retry-After, or an interruption, all further lookups would fail.
    const isFinal = !(error instanceof AppError) || error.kind === 'auth' || error.kind === 'interrupted';
    if (isFinal || longWaitOf(error) !== undefined) throw error;
    // The error becomes part of the output, so its hint is completed here.
    const { errorHintLine } = await import('./error-hint.ts');
    return { restaurantId, error: error.add({ hint: { text: errorHintLine(app, error) } }) };
  }
}

export const withPlanHint =
  (hint: Hint) =>
  (error: unknown): never => {
    throw error instanceof AppError && error.code === 'plan_required' ? error.add({ hint }) : error;
  };

export function lookupAll(
  app: App,
  service: Service,
  ids: readonly string[],
  level: Level,
): Promise<Lookup[]> {
  const what = ids.length === 1 ? ids[0] : `${ids.length} restaurants`;
  return app.notes.withSpinner(`looking up ${what}`, collect(lookupMany(app, service, ids, level)));
}

const MAX_NAMED = 3;

/**
 * Lists the failed lookups by code. If some may succeed later, the hint is the command that retries those.
 * @param failed at least one. @param retry the command with these ids in place of all
 */
export function lookupsFailed(
  app: App,
  failed: readonly Lookup[],
  count: number,
  retry: (ids: readonly Word[]) => Command,
): AppError {
  const idsWith = (matches: (error: AppError) => boolean): string[] =>
    failed.flatMap(({ restaurantId, error }) =>
      error !== undefined && matches(error) ? [restaurantId] : [],
    );
  const errors = failed.flatMap(({ error }) => error ?? []);
  const causes = [...new Set(errors.map(({ code }) => code))].map((code) => {
    const ids = idsWith((error) => error.code === code);
    const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
    return `${code} (${ids.slice(0, MAX_NAMED).join(', ')}${more})`;
  });
  const message = `${failed.length} of ${count} lookups failed: ${causes.join('; ')}`;
  const retryable = idsWith((error) => error.retryable);
  if (retryable.length > 0) {
    const left = [...retryable.slice(0, MAX_NAMED), ...(retryable.length > MAX_NAMED ? [slot('…')] : [])];
    return new AppError('partial', message, {
      hint: { text: 'retry', command: retry(left) },
      retryable: true,
    });
  }
  const other = errors.find(({ code }) => code !== 'not_found');
  if (other !== undefined) return failure('partial', `${message}: ${other.message}`, other.details.hint);
  return failure('partial', message, {
    text: 'these IDs do not exist; search for valid ones',
    command: exampleSearch(app),
  });
}
