import type { Level, LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import type { RowCodec } from '../write/row-codec.ts';
import { type Answers, detailsQuery } from './answers.ts';
import type { RestaurantService } from './lookups.ts';

export interface LookupOptions {
  readonly form: RowCodec;
  readonly answers: Answers;
  readonly lookups: RestaurantService;
  readonly level: Level | undefined;
}

/** Lookups of one row. */
export interface RowLookups {
  /** Ids whose lookup this row was the first to start. */
  readonly started: readonly string[];
  readonly lookup: (id: string) => Promise<LookupOutput>;
}

/** Asks for the details of each restaurant once, however many rows are matched with it. */
export function lookupsOnce({ form, answers, lookups, level = 'basic' }: LookupOptions) {
  const inFlight = new Map<string, Promise<LookupOutput>>();

  function known(id: string): LookupOutput | undefined {
    const rest = answers.recall(detailsQuery(id));
    if (rest === undefined) return undefined;
    if (form.statusOf(rest) === 'not_found')
      throw new AppError('not_found', `no restaurant has the id ${id}`);
    return form.detailsOf(rest)?.details;
  }

  return {
    forRow(): RowLookups {
      const started: string[] = [];
      return {
        started,
        async lookup(id) {
          const details = known(id);
          if (details !== undefined) return details;
          const shared = inFlight.get(id);
          if (shared !== undefined) return shared;
          const asked = lookups.lookup(id, level);
          inFlight.set(id, asked);
          started.push(id);
          return asked;
        },
      };
    },
    /** Says that a row is written, so that what it found is kept elsewhere. */
    written({ started }: RowLookups): void {
      for (const id of started) inFlight.delete(id);
    },
  };
}
