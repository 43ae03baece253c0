import type { LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import { untilAborted } from '../../util/async.ts';
import type { Columns, RowQuery } from '../match/columns.ts';
import type { RowResult, Status } from '../match/match.ts';
import { fromError, type RestaurantService, resolveRow } from '../match/resolve-row.ts';
import type { FinishedRowReader } from '../write/checkpoint.ts';
import { detailsKey, type Memo, queryKey } from './memo.ts';
import type { EnrichOptions, Plan } from './plan.ts';

export interface RowDone {
  readonly status: Status;
  readonly earlier: boolean;
  readonly city?: string | undefined;
}

export interface Job
  extends Pick<Plan, 'rows' | 'codec'>,
    Pick<EnrichOptions, 'fields' | 'loose' | 'concurrency'> {
  readonly columns: Pick<Columns, 'query'>;
  readonly finished: FinishedRowReader;
  readonly memo: Memo;
  /** Whether the query with a key may occur again. Default: always. */
  readonly isRepeated?: (key: string) => boolean;
  readonly service: RestaurantService;
  /** Appends the text of a row and returns its offset. @throws {AppError} `io_error`; {PipeClosed} */
  append(text: string): number | Promise<number>;
  /** Ends the run immediately, with the signal's reason. `service` must use the same signal. */
  readonly stop: AbortController;
  onRow(done: RowDone): void;
  onDetails?(details: LookupOutput): void;
}

/** Maximum number of rows that are read but not written. */
const MAX_PENDING = 256;
/** Number of consecutive failed rows that ends the run. */
const MAX_FAILURES = 20;

export class TooManyFailures extends AppError {
  constructor(cause: AppError, count: number) {
    super(cause.code, `${count} consecutive rows failed: ${cause.message}`, { ...cause.details, cause });
  }
}

/** A result as text for the output. */
interface TextResult {
  readonly text: string;
  readonly status: Status;
  readonly cause?: AppError | undefined;
}

/** A row that sends requests. Until it is written, equal rows share its results. */
interface SentRow {
  /** Undefined after a failure, so that an equal row sends its own request. */
  key: string | undefined;
  readonly result: Promise<TextResult>;
  readonly details: SentLookup;
}

/** The lookup that a row sends, if any. */
interface SentLookup {
  id?: string;
  output?: Promise<LookupOutput>;
}

/**
 * Finds the restaurants of the rows concurrently, and writes the rows in order, each as soon as it and all rows before
 * it are done. A row counts as done when the operating system has accepted all of it. Equal queries are requested once.
 * @throws the error that ended the run early; written rows are kept
 */
export async function enrichRows(job: Job): Promise<void> {
  const { stop, codec, memo, service, fields, loose = false, concurrency } = job;
  const { signal } = stop;
  // An array, although it is searched by key: a Map with short-lived entries keeps deleted ones alive (see AGENTS.md).
  const sentRows: SentRow[] = [];
  let running = 0;
  let isOneDone = (): void => {};
  let isQuotaSpent = false;
  let failures = 0;

  /** Reads and starts the rows. Each is written after the previous one. */
  async function work(): Promise<void> {
    let written: Promise<void> = Promise.resolve();
    let pending = 0;
    try {
      for await (const row of job.rows()) {
        if (isQuotaSpent || signal.aborted) break;
        const own = codec.input(row);
        const query = job.columns.query(row);
        const key = query.kind === 'none' ? '' : queryKey(query);
        const earlier = job.finished.take(row, own);
        if (earlier?.offset !== undefined) {
          writeMemo(query, key, earlier, earlier.offset);
          job.onRow({ status: earlier.status, earlier: true, city: cityOf(query) });
          continue;
        }
        const result = earlier ?? begin(query, key);
        pending += 1;
        written = written.then(async () => {
          await write(query, key, own, result);
          pending -= 1;
        });
        written.catch((error: unknown) => stop.abort(error));
        while (running >= concurrency)
          await new Promise<void>((resolve) => {
            isOneDone = resolve;
          });
        if (pending >= MAX_PENDING) await written;
      }
    } finally {
      // Write the rows before a malformed one.
      await written;
    }
    // After the end of the run, the output is closed.
    signal.throwIfAborted();
    job.finished.end();
  }

  /** Uses a known result, shares a pending one, or starts the requests for it. */
  function begin(query: RowQuery, key: string): TextResult | Promise<TextResult> {
    if (query.kind === 'none') return encode({ status: 'skipped', error: query.why });
    const known = readMemo(key) ?? sentRows.find((row) => row.key === key)?.result;
    if (known !== undefined) return known;
    const details: SentLookup = {};
    const result = resolveRow(query, {
      find: service.find,
      lookup: (id) => lookup(id, details),
      details: fields !== undefined,
      loose,
    }).then(encode);
    const sent: SentRow = { key, result, details };
    sentRows.push(sent);
    running += 1;
    result
      .then(
        ({ cause }) => {
          if (cause !== undefined) sent.key = undefined;
        },
        (error: unknown) => {
          // The rows before this one are finished first. Any other failure ends the run immediately.
          if (error instanceof RateLimitError) isQuotaSpent = true;
          else stop.abort(error);
        },
      )
      .then(() => {
        running -= 1;
        isOneDone();
      });
    return result;
  }

  /** Requests the details of each restaurant once, even if several rows match it. */
  async function lookup(id: string, details: SentLookup): Promise<LookupOutput> {
    const known = readMemo(detailsKey(id));
    if (known?.status === 'not_found') throw new AppError('not_found', `no restaurant has the id ${id}`);
    const output =
      (known && codec.detailsOf(known.text)?.details) ??
      sentRows.find((row) => row.details.id === id)?.details.output;
    if (output !== undefined) return output;
    details.id = id;
    details.output = service.lookup(id, fields ?? 'basic');
    return details.output;
  }

  function readMemo(key: string): TextResult | undefined {
    const text = memo.get(key);
    const status = text === undefined ? undefined : codec.statusOf(text);
    // Another program may have changed the output.
    return text === undefined || status === undefined ? undefined : { text, status };
  }

  function encode(result: RowResult): TextResult {
    try {
      if (result.details !== undefined) job.onDetails?.(result.details);
      return { text: codec.result(result), status: result.status, cause: result.cause };
    } catch (error) {
      // The data cannot be written because it nests too deep.
      if (!(error instanceof AppError)) throw error;
      return { text: codec.result(fromError(error)), status: 'error', cause: error };
    }
  }

  /** Stores a written result for equal rows. After a failure, an equal row sends its own request. */
  function writeMemo(query: RowQuery, key: string, { text, status }: TextResult, offset: number): void {
    if (query.kind === 'none' || status === 'error') return;
    if (job.isRepeated?.(key) !== false) memo.set(key, text, offset);
    if (fields === undefined) return;
    if (query.kind === 'lookup') memo.set(detailsKey(query.id), text, offset);
    const id = codec.detailsOf(text)?.id;
    if (id !== undefined) memo.set(detailsKey(id), text, offset);
  }

  async function write(
    query: RowQuery,
    key: string,
    own: string,
    result: TextResult | Promise<TextResult>,
  ): Promise<void> {
    const done = await result;
    // After the end of the run, the output is closed.
    signal.throwIfAborted();
    const offset = (await job.append(own + done.text)) + Buffer.byteLength(own);
    writeMemo(query, key, done, offset);
    job.onRow({ status: done.status, earlier: false, city: cityOf(query) });
    if (sentRows[0]?.result !== result) return;
    sentRows.shift();
    failures = done.cause === undefined ? 0 : failures + 1;
    if (done.cause !== undefined && failures >= MAX_FAILURES) throw new TooManyFailures(done.cause, failures);
  }

  try {
    signal.throwIfAborted();
    await untilAborted(work(), signal);
  } catch (error) {
    stop.abort(error);
    throw signal.reason;
  }
}

const cityOf = (query: RowQuery): string | undefined => (query.kind === 'search' ? query.city : undefined);
