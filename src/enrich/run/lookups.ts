import type { Level, LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';

/** What a search found. */
export interface Found {
  /** `results` as they came. */
  readonly results: readonly unknown[];
  /** `total_matches`. */
  readonly total: number;
}

export interface Search {
  readonly name: string;
  readonly city: string;
}

/** The service as the rows need it: paced, and with what was answered before. Every method throws AppError. */
export interface RestaurantService {
  find(query: Search): Promise<Found>;
  lookup(id: string, level: Level): Promise<LookupOutput>;
}

/** For a long while nothing may be asked: the day's budget is spent, or the service says so. Ends the run, cleanly. */
export class QuotaError extends AppError {
  /** When it may go on, in milliseconds since the epoch. */
  readonly freeAt: number;

  constructor(cause: AppError, freeAt: number) {
    super(cause.code, cause.message, cause.details);
    this.freeAt = freeAt;
  }
}
