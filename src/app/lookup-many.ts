import { TOOLS } from '../client/tools.ts';
import type { Level, Lookup } from '../client/types.ts';
import { AppError } from '../errors.ts';
import type { Hint } from '../hint.ts';
import { longWaitOf } from '../storage/pacer.ts';
import { mapConcurrently } from '../util/async.ts';
import { checkId } from '../util/restaurant.ts';
import type { App } from './app.ts';
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
    const { errorHint } = await import('./error-hint.ts');
    return { restaurantId, error: error.add({ hint: { text: errorHint(app, error) } }) };
  }
}

/** Rejects with the hint if the plan of the key does not include the level. */
export const withPlanHint =
  (hint: Hint) =>
  (error: unknown): never => {
    throw error instanceof AppError && error.code === 'plan_required' ? error.add({ hint: hint }) : error;
  };

export function lookupAll(
  app: App,
  service: Service,
  ids: readonly string[],
  level: Level,
): Promise<Lookup[]> {
  return app.notes.withSpinner(
    `looking up ${ids.length === 1 ? ids[0] : `${ids.length} restaurants`}`,
    async () => {
      const all: Lookup[] = [];
      for await (const outcome of lookupMany(app, service, ids, level)) all.push(outcome);
      return all;
    },
  );
}

export function lookupsFailed(errors: readonly [AppError, ...AppError[]], count: number): AppError {
  const [first] = errors;
  return new AppError('partial', `${errors.length} of ${count} lookups failed: ${first.message}`, {
    hint: first.details.hint,
    retryable: errors.some(({ retryable }) => retryable),
  });
}
