import type { Level } from '../../client/types.ts';
import type { RowQuery } from '../match/columns.ts';
import type { Status } from '../match/facts.ts';
import type { RowCodec } from '../write/row-codec.ts';
import { type Answers, cacheKey, detailsQuery } from './answers.ts';

export interface KeepOptions {
  readonly form: RowCodec;
  readonly answers: Answers;
  readonly level: Level | undefined;
}

/**
 * Makes the function that keeps what a written row found for its equals: the answer to its query, and the details of
 * its restaurant. Failures are not kept: an equal row asks again.
 * @returns of it: whether the row has details exactly where this run would have asked for them
 */
export function keepAnswers({ form, answers, level }: KeepOptions) {
  return (ask: RowQuery, { rest, status }: { rest: string; status: Status }, offset: number): boolean => {
    const query = cacheKey(ask);
    if (query === undefined || status === 'error') return true;
    const span = { offset, length: Buffer.byteLength(rest) };
    answers.remember(query, rest, span);
    const found = form.detailsOf(rest);
    const id = ask.kind === 'lookup' ? ask.id : found?.id;
    if (id !== undefined) answers.remember(detailsQuery(id), rest, span);
    return ask.kind === 'lookup' || (found !== undefined) === (level !== undefined && status === 'matched');
  };
}
