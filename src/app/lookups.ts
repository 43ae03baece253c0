import type { Level, LookupOutput } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { RateLimitError } from '../storage/pacer.ts';
import { mapOrdered } from '../util/async.ts';
import { checkId } from '../util/restaurant-id.ts';
import type { Service } from './service.ts';

/** One restaurant of many: its details, or why there are none. */
export type Outcome =
  | { readonly restaurantId: string; readonly output: LookupOutput; readonly error?: undefined }
  | { readonly restaurantId: string; readonly output?: undefined; readonly error: AppError };

/** Maximum number of lookups that run at a time. */
const CONCURRENCY = 4;

/** Looks up many restaurants, some at a time, in order. One that fails does not stop the others. */
export function lookupMany(service: Service, ids: readonly string[], level: Level): AsyncGenerator<Outcome> {
  return mapOrdered(ids, CONCURRENCY, async (restaurantId): Promise<Outcome> => {
    try {
      const { output } = await service.lookup(checkId(restaurantId), level);
      return { restaurantId, output };
    } catch (error) {
      // A refused key, a spent day, a long Retry-After and an interruption fail every lookup that follows.
      const isFinal = !(error instanceof AppError) || error.kind === 'auth' || error.kind === 'interrupted';
      if (isFinal || error instanceof RateLimitError) throw error;
      return { restaurantId, error };
    }
  });
}
