import type { Status } from '../match/facts.ts';
import type { RowDone } from '../run/enrich-rows.ts';

/** How many rows ended how. */
export type Counts = Readonly<Record<Status, number>> & {
  readonly done: number;
  /** Of those, how many an earlier run had finished. */
  readonly earlier: number;
  /** Of the errors, how many had nothing to ask by. */
  readonly unusable: number;
};

/** Counts rows. */
export class Counters {
  readonly #counts = { matched: 0, ambiguous: 0, not_found: 0, error: 0, done: 0, earlier: 0, unusable: 0 };

  add({ status, earlier, usable }: RowDone): void {
    this.#counts[status] += 1;
    this.#counts.done += 1;
    if (!usable) this.#counts.unusable += 1;
    if (earlier) this.#counts.earlier += 1;
  }

  get counts(): Counts {
    return this.#counts;
  }
}

/** A number with its noun: `1 row`, `5,000 rows`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** `4,200 matched, 300 ambiguous, 480 not found, 20 errors`. */
export function formatCounts(counts: Counts): string {
  return [
    `${counts.matched.toLocaleString('en-US')} matched`,
    `${counts.ambiguous.toLocaleString('en-US')} ambiguous`,
    `${counts.not_found.toLocaleString('en-US')} not found`,
    plural(counts.error, 'error'),
  ].join(', ');
}
