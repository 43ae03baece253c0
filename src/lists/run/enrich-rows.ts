import type { FindQuery } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import { untilAborted } from '../../util/async.ts';
import type { Found, RowResult, Status } from '../match/match.ts';
import {
  type DecidedQuery,
  fromError,
  furtherSearches,
  type RestaurantService,
  type RowQuery,
  resolveRow,
  type Searchable,
} from '../match/query.ts';
import type { Counters } from '../progress/summary.ts';
import type { InputRow } from '../row.ts';
import type { FinishedRowReader } from '../write/checkpoint.ts';
import type { RowText } from '../write/row-codec.ts';
import type { EnrichOptions, Plan } from './plan.ts';

export interface Job {
  readonly plan: Pick<Plan, 'rows' | 'codec' | 'columns'> & {
    readonly options: Pick<EnrichOptions, 'fields' | 'loose' | 'concurrency'>;
  };
  readonly service: RestaurantService;
  readonly counters: Counters;
  readonly finished: FinishedRowReader;
  /** Appends the text of a row. @throws {AppError} `io_error`; {PipeClosed} */
  append(text: string): void | Promise<void>;
  /** Ends the run immediately, with the signal's reason. `service` must use the same signal. */
  readonly stop: AbortController;
}

/** Maximum number of rows that are read but not written. */
const MAX_PENDING = 256;
/** Number of consecutive failures that ends a run. */
const MAX_FAILURES = 20;

export class TooManyFailures extends AppError {}

export class FailureLimit {
  readonly #what: string;
  #count = 0;

  /** @param what fails, in the plural */
  constructor(what: string) {
    this.#what = what;
  }

  /** @param cause undefined for a success. @throws {TooManyFailures} */
  add(cause: AppError | undefined): void {
    this.#count = cause === undefined ? 0 : this.#count + 1;
    if (cause === undefined || this.#count < MAX_FAILURES) return;
    const message = `${this.#count} consecutive ${this.#what} failed: ${cause.message}`;
    throw new TooManyFailures(cause.code, message, { ...cause.details, cause });
  }
}

interface TextResult {
  readonly text: string;
  readonly status: Status;
  readonly cause?: AppError | undefined;
}

interface PendingRow {
  readonly query: RowQuery;
  readonly own: RowText;
  readonly result: TextResult | Promise<TextResult>;
  readonly isSent?: boolean;
  readonly isEarlier?: boolean;
}

/**
 * Finds the restaurants of the rows concurrently, and writes the rows in order, each as soon as it and all rows before
 * it are done. A row counts as done when the operating system has accepted all of it.
 * @throws the error that ended the run early; written rows are kept
 */
export async function enrichRows(job: Job): Promise<void> {
  const { signal } = job.stop;
  try {
    signal.throwIfAborted();
    await untilAborted(new RowRun(job).work(), signal);
  } catch (error) {
    job.stop.abort(error);
    throw signal.reason;
  }
}

const MAX_CHARACTERS = 2_000_000;
const MAX_RESTAURANTS = 1000;

class RowRun {
  readonly #job: Job;
  readonly #recent = new Recent<TextResult>(MAX_CHARACTERS, ({ text, cause }) =>
    cause === undefined ? text.length : undefined,
  );
  /** Rows with the same name and city, but another place, share a search. */
  readonly #searches = new Recent<Found>(MAX_RESTAURANTS, ({ results }) => results.length + 1);
  #written: Promise<void> = Promise.resolve();
  #pending = 0;
  #running = 0;
  #signalDone = (): void => {};
  #isQuotaSpent = false;
  readonly #failures = new FailureLimit('rows');

  constructor(job: Job) {
    this.#job = job;
  }

  async work(): Promise<void> {
    const { plan, stop, finished } = this.#job;
    try {
      for await (const row of plan.rows()) {
        if (this.#isQuotaSpent || stop.signal.aborted) break;
        this.#take(row);
        while (this.#running >= plan.options.concurrency) await this.#oneDone();
        if (this.#pending >= MAX_PENDING) await this.#written;
      }
    } finally {
      // Write the rows before a malformed one.
      await this.#written;
    }
    // After the end of the run, the output is closed.
    stop.signal.throwIfAborted();
    finished.end();
  }

  #oneDone(): Promise<void> {
    return new Promise((resolve) => {
      this.#signalDone = resolve;
    });
  }

  #take(row: InputRow): void {
    const { plan, finished } = this.#job;
    const own = plan.codec.input(row);
    const query = plan.columns.query(row);
    const earlier = finished.take(row, own);
    if (earlier?.isWritten === true) this.#count(query, earlier, true);
    else
      this.#enqueue({ query, own, ...(earlier === undefined ? this.#resultOf(query) : { result: earlier }) });
  }

  #resultOf(query: RowQuery): Pick<PendingRow, 'result' | 'isSent' | 'isEarlier'> {
    if (query.kind === 'none') {
      const restaurant = query.id === undefined ? {} : { service_id: query.id };
      return { result: this.#encode({ status: 'skipped', error: query.why, restaurant }) };
    }
    if (query.kind === 'decided' && !needsDetails(query, this.#job.plan.options.fields))
      return { result: this.#encode(query.result), isEarlier: true };
    const key = keyOf(query);
    const shared = this.#recent.get(key);
    return shared === undefined
      ? { result: this.#recent.add(key, this.#send(query)), isSent: true }
      : { result: shared };
  }

  #send(query: Searchable | DecidedQuery): Promise<TextResult> {
    const { plan, service, stop } = this.#job;
    const { fields, loose = false } = plan.options;
    this.#running += 1;
    const result = resolveRow(query, {
      find: (search) => (query.place === undefined ? service.find(search) : this.#find(search)),
      lookup: (id) => service.lookup(id, fields ?? 'basic'),
      details: fields !== undefined,
      loose,
    }).then((each) => this.#encode(each));
    result
      .catch((error: unknown) => {
        // The rows before this one are finished first. Any other failure ends the run immediately.
        if (error instanceof RateLimitError) this.#isQuotaSpent = true;
        else stop.abort(error);
      })
      .then(() => {
        this.#running -= 1;
        this.#signalDone();
      });
    return result;
  }

  #find({ name, city }: FindQuery): Promise<Found> {
    const key = JSON.stringify([name, city]);
    return this.#searches.get(key) ?? this.#searches.add(key, this.#job.service.find({ name, city }));
  }

  #encode(result: RowResult): TextResult {
    const { codec } = this.#job.plan;
    try {
      if (result.details !== undefined) this.#job.counters.addDetails(result.details);
      return { text: codec.result(result), status: result.status, cause: result.cause };
    } catch (error) {
      // The data cannot be written because it nests too deep.
      if (!(error instanceof AppError)) throw error;
      return { text: codec.result(fromError(error)), status: 'error', cause: error };
    }
  }

  #enqueue(row: PendingRow): void {
    this.#pending += 1;
    this.#written = this.#written.then(() => this.#write(row));
    this.#written.catch((error: unknown) => this.#job.stop.abort(error));
  }

  async #write({ query, own, result, isSent, isEarlier = false }: PendingRow): Promise<void> {
    const { append, stop } = this.#job;
    const done = await result;
    stop.signal.throwIfAborted();
    await append(own.start + done.text + own.end);
    this.#pending -= 1;
    this.#count(query, done, isEarlier);
    if (isSent) this.#failures.add(done.cause);
  }

  #count(query: RowQuery, { status, cause }: TextResult, earlier: boolean): void {
    const { plan, counters } = this.#job;
    const isMissing = status === 'not_found' && query.kind === 'search' && plan.options.loose !== true;
    const hasSecondSearch = isMissing && furtherSearches(query).length > 0;
    counters.add({ status, earlier, city: cityOf(query), hasSecondSearch, cause });
  }
}

/** Whether the details of a row that was decided before are still to be looked up. */
export const needsDetails = ({ result }: DecidedQuery, fields: EnrichOptions['fields']): boolean =>
  fields !== undefined && result.status === 'matched';

/** A short key: it is kept with the result. */
function keyOf(query: Searchable | DecidedQuery): string {
  if (query.kind === 'decided') return JSON.stringify(query);
  return JSON.stringify([query.kind === 'lookup' ? query.id : '', query.name, query.city, query.place]);
}

const cityOf = (query: RowQuery): string | undefined =>
  query.kind === 'none' || query.city === '' ? undefined : query.city;

/** Answers to recent queries, also pending ones, which equal queries share. After a failure, they send their own request. */
class Recent<T> {
  readonly #answers = new Map<string, Promise<T>>();
  readonly #sizeOf: (answer: T) => number | undefined;
  readonly #maxSize: number;
  #size = 0;

  /** @param sizeOf the size of an answer in any unit; undefined for a failure */
  constructor(maxSize: number, sizeOf: (answer: T) => number | undefined) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  get(key: string): Promise<T> | undefined {
    return this.#answers.get(key);
  }

  add(key: string, answer: Promise<T>): Promise<T> {
    this.#answers.set(key, answer);
    const drop = () => this.#answers.delete(key);
    answer.then((each) => {
      const size = this.#sizeOf(each);
      if (size === undefined) drop();
      this.#size += size ?? 0;
      // All at once: V8 keeps single deleted entries alive (see AGENTS.md).
      if (this.#size > this.#maxSize) this.#clear();
    }, drop);
    return answer;
  }

  #clear(): void {
    this.#answers.clear();
    this.#size = 0;
  }
}
