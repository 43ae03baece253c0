import type { Level } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import type { RowQuery } from '../match/columns.ts';
import { fromError, type Status } from '../match/facts.ts';
import { type Answered, resolveRow } from '../match/resolve-row.ts';
import type { InputRow } from '../read/row.ts';
import type { FinishedRowReader } from '../write/checkpoint.ts';
import type { RowCodec } from '../write/row-codec.ts';
import type { RowOutput } from '../write/row-file.ts';
import { type Answers, cacheKey } from './answers.ts';
import { type Ending, TooManyFailures } from './ending.ts';
import { keepAnswers } from './keep.ts';
import { lookupsOnce, type RowLookups } from './lookup-once.ts';
import { QuotaError, type RestaurantService } from './lookups.ts';
import { BoundedQueue, Semaphore } from './queue.ts';

/** A row that is done. */
export interface RowDone {
  readonly status: Status;
  /** Whether it was finished by an earlier run. */
  readonly earlier: boolean;
  /** Whether the row had something to ask by. */
  readonly usable: boolean;
}

export interface Job {
  readonly rows: AsyncIterable<InputRow>;
  readonly ask: (row: InputRow) => RowQuery;
  readonly form: RowCodec;
  readonly earlier: FinishedRowReader;
  readonly answers: Answers;
  readonly lookups: RestaurantService;
  readonly level: Level | undefined;
  /** Rows that wait for the service at a time. */
  readonly concurrency: number;
  readonly output: RowOutput;
  /** Aborted: the run ends at once, for its reason. `lookups` must end with it as well. */
  readonly ending: Ending;
  onRow(done: RowDone): void;
}

/** Rows that may be on the way to the output. */
const MOST_ON_THE_WAY = 256;
/** Failed rows in a row that end the run. */
const MOST_FAILED = 20;

interface Result {
  readonly rest: string;
  readonly status: Status;
  readonly cause?: AppError | undefined;
}

interface OnTheWay {
  readonly ask: RowQuery;
  readonly own: string;
  readonly result: Result | Promise<Result>;
  /** Of the row that asks the service, for itself and its equals. */
  readonly asking?: { readonly query: string; readonly lookups: RowLookups };
}

/**
 * Works on the rows, some at a time, and writes them in their order, each as soon as it and those before it are done.
 * A row counts as done when the system has taken all of it. Equal queries are asked once.
 * @throws what ended it early; the rows that are written stand
 */
export async function enrichRows(job: Job): Promise<void> {
  const { ending, output, form, answers } = job;
  const lane = new BoundedQueue<OnTheWay>(MOST_ON_THE_WAY);
  const slots = new Semaphore(job.concurrency);
  const inFlight = new Map<string, Promise<Result>>();
  const details = lookupsOnce(job);
  const keep = keepAnswers(job);
  let exhausted = false;
  let failed = 0;

  async function feed(): Promise<void> {
    for await (const row of job.rows) {
      if (exhausted) return;
      const own = form.input(row);
      const ask = job.ask(row);
      const earlier = job.earlier.take(row, own);
      if (earlier?.offset === undefined) {
        const next = earlier === undefined ? await begin(ask, own) : { ask, own, result: earlier };
        if (next === undefined || !(await lane.push(next))) return;
      } else {
        if (!keep(ask, earlier, earlier.offset)) throw job.earlier.differsAt(row);
        job.onRow({ status: earlier.status, earlier: true, usable: ask.kind !== 'none' });
      }
    }
    job.earlier.end();
  }

  /** What is known is taken, what is under way is shared, the rest is asked. */
  async function begin(ask: RowQuery, own: string): Promise<OnTheWay | undefined> {
    const query = cacheKey(ask);
    const known = query === undefined ? undefined : answers.recall(query);
    if (known !== undefined) return { ask, own, result: readBack(known) };
    const shared = query === undefined ? undefined : inFlight.get(query);
    if (shared !== undefined) return { ask, own, result: shared };
    if (query !== undefined && (!(await slots.take()) || exhausted)) return undefined;
    const lookups = details.forRow();
    const result = resolveRow(ask, { find: job.lookups.find, lookup: lookups.lookup, level: job.level }).then(
      finish,
    );
    result.catch((error: unknown) => {
      if (error instanceof QuotaError) exhausted = true;
      else ending.end(error);
    });
    if (query === undefined) return { ask, own, result };
    inFlight.set(query, result);
    return { ask, own, result, asking: { query, lookups } };
  }

  function readBack(rest: string): Result {
    const status = form.statusOf(rest);
    if (status !== undefined) return { rest, status };
    throw new AppError('io_error', 'the output was changed by another program while it was written');
  }

  function finish({ facts, cause }: Answered): Result {
    try {
      return { rest: form.result(facts), status: facts.status, cause };
    } catch (error) {
      // Data that cannot be written: nested too deep.
      if (!(error instanceof AppError)) throw error;
      return { rest: form.result(fromError(error)), status: 'error', cause: error };
    }
  }

  async function write({ ask, own, result, asking }: OnTheWay): Promise<void> {
    const { rest, status, cause } = await result;
    const offset = (await output.append(own + rest)) + Buffer.byteLength(own);
    keep(ask, { rest, status }, offset);
    job.onRow({ status, earlier: false, usable: ask.kind !== 'none' });
    if (asking === undefined) return;
    inFlight.delete(asking.query);
    details.written(asking.lookups);
    slots.give();
    failed = cause === undefined ? 0 : failed + 1;
    if (cause !== undefined && failed >= MOST_FAILED) throw new TooManyFailures(cause, failed);
  }

  const abort = (): void => lane.abort(ending.signal.reason);
  ending.signal.addEventListener('abort', abort, { once: true });
  try {
    ending.signal.throwIfAborted();
    feed().then(
      () => lane.end(),
      (error: unknown) => lane.fail(error),
    );
    for await (const row of lane) await write(row);
  } catch (error) {
    ending.end(error);
    throw ending.signal.reason;
  } finally {
    ending.signal.removeEventListener('abort', abort);
    lane.close();
    slots.close();
  }
}
