import { AppError } from '../errors.ts';
import { reworded } from './failure.ts';
import type { Level } from './types.ts';

/**
 * The error of a lookup, with the restaurant it was for. How the service refuses a level that needs a paid key is
 * not documented: a 403 counts as that refusal, of others it is said that it may be.
 */
export function refusedLookup(error: AppError, restaurantId: string, level: Level): AppError {
  // Held back by the budget: nothing was sent, and it is not about this restaurant.
  if (error.kind === 'rate_limit' && error.details.status === undefined) return error;
  const free = `restaurant lookup ${restaurantId} --fields basic`;
  if (level !== 'basic' && error.code === 'forbidden') {
    const message = `the level ${level} needs a paid key: ${error.message}`;
    return new AppError('plan_required', message, {
      ...error.details,
      restaurantId,
      hint: `${free} works with every key`,
    });
  }
  if (error.code === 'plan_required') {
    return reworded(error, error.message, { restaurantId, hint: `${free} works with every key` });
  }
  if (level !== 'basic' && ['tool_error', 'rpc_error', 'http_error'].includes(error.code)) {
    const hint = `the level ${level} needs a paid key; without one: ${free}`;
    return reworded(error, error.message, { restaurantId, hint });
  }
  if (error.code === 'not_found') {
    return reworded(error, `no restaurant ${restaurantId}: ${error.message}`, { restaurantId });
  }
  return reworded(error, error.message, { restaurantId });
}
