import { hash } from 'node:crypto';
import type { LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { untilAborted } from '../../util/async.ts';
import type { Columns, RowQuery, Searchable } from '../match/columns.ts';
import type { RowResult, Status } from '../match/match.ts';
import { fromError, QuotaError, type RestaurantService, resolveRow } from '../match/resolve-row.ts';
import type { FinishedRowReader } from '../write/checkpoint.ts';
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
  readonly service: RestaurantService;
  /** Appends the text of a row and returns its offset. @throws {AppError} `io_error`; {PipeClosed} */
  append(text: string): number | Promise<number>;
  /** Ends the run at once, with the signal's reason. `service` must end with it as well. */
  readonly stop: AbortController;
  onRow(done: RowDone): void;
  onDetails?(details: LookupOutput): void;
}

/** Texts of finished results by their query, so that equal queries are requested once. */
export interface Memo {
  get(key: string): string | undefined;
  /** Keeps a text; the first one of a key stays. @param offset where it begins in the output */
  set(key: string, text: string, offset: number): void;
}

export const queryKey = (query: Searchable): string =>
  query.kind === 'search' ? `search\0${query.name}\0${query.city}` : `row\0${query.id}`;

/** The key of a restaurant's details, whichever row requested them. */
export const detailsKey = (id: string): string => `details\0${id}`;

/** Creates a memo for an output that can be read again. Memory holds a digest and an offset of each text. */
export function createOffsetMemo(read: (offset: number) => string | undefined): Memo {
  const offsets = new Map<string, number>();
  // 96 bits are enough to distinguish queries. A longer slice would keep the whole digest in memory.
  const digest = (key: string): string => hash('sha256', key, 'binary').slice(0, 12);
  return {
    get(key) {
      const offset = offsets.get(digest(key));
      return offset === undefined ? undefined : read(offset);
    },
    set(key, _text, offset) {
      const short = digest(key);
      if (!offsets.has(short)) offsets.set(short, offset);
    },
  };
}

/** Characters that a memo holds. When they are too many, all are dropped. */
const MAX_CHARACTERS = 8_000_000;

/** Creates a memo for an output that cannot be read again. */
export function createTextMemo(): Memo {
  const texts = new Map<string, string>();
  let size = 0;
  return {
    get: (key) => texts.get(key),
    set(key, text) {
      if (texts.has(key)) return;
      size += text.length;
      if (size > MAX_CHARACTERS) {
        texts.clear();
        size = text.length;
      }
      texts.set(key, text);
    },
  };
}

/** Rows between the input and the output. */
const MAX_PENDING = 256;
/** Failed rows in a row that end the run. */
const MAX_FAILURES = 20;

export class TooManyFailures extends AppError {
  constructor(cause: AppError, count: number) {
    super(cause.code, `${count} rows in a row failed: ${cause.message}`, { ...cause.details, cause });
  }
}

/** A result as it is written. */
interface TextResult {
  readonly text: string;
  readonly status: Status;
  readonly cause?: AppError | undefined;
}

interface PendingResult {
  readonly result: TextResult | Promise<TextResult>;
  /** For the row that sends the requests, for itself and its equals: called when it is written. */
  readonly release?: () => void;
}

/**
 * Finds the restaurants of the rows, some at the same time, and writes them in order, each as soon as it and those before
 * it are done. A row counts as done when the system has taken all of it. Equal queries are requested once.
 * @throws what ended it early; the rows that were written stay
 */
export async function enrichRows(job: Job): Promise<void> {
  const { stop, codec, memo, service, fields, loose = false, concurrency } = job;
  const { signal } = stop;
  const running = new Set<Promise<void>>();
  const searches = new Map<string, Promise<TextResult>>();
  const lookups = new Map<string, Promise<LookupOutput>>();
  let isQuotaSpent = false;
  let failures = 0;

  /** Reads and starts the rows; each is written after the one before it. */
  async function work(): Promise<void> {
    let written: Promise<void> = Promise.resolve();
    let pending = 0;
    try {
      for await (const row of job.rows) {
        if (isQuotaSpent || signal.aborted) break;
        const own = codec.input(row);
        const query = job.columns.query(row);
        const earlier = job.finished.take(row, own);
        if (earlier?.offset !== undefined) {
          remember(query, earlier, earlier.offset);
          job.onRow({ status: earlier.status, earlier: true, city: cityOf(query) });
          continue;
        }
        const next = earlier === undefined ? begin(query) : { result: earlier };
        pending += 1;
        written = written.then(() => write(query, own, next));
        written.then(
          () => {
            pending -= 1;
          },
          (error: unknown) => stop.abort(error),
        );
        while (running.size >= concurrency) await Promise.race(running);
        if (pending >= MAX_PENDING) await written;
      }
    } finally {
      // The rows before a malformed one are written.
      await written;
    }
    // The output is closed after the end of the run.
    signal.throwIfAborted();
    job.finished.end();
  }

  /** Takes a known result, shares one that is on its way, or starts the requests for it. */
  function begin(query: RowQuery): PendingResult {
    if (query.kind === 'none') return { result: encode({ status: 'skipped', error: query.why }) };
    const key = queryKey(query);
    const known = recall(key);
    if (known !== undefined) return { result: known };
    const shared = searches.get(key);
    if (shared !== undefined) return { result: shared };
    const ids: string[] = [];
    const result = request(query, key, ids);
    searches.set(key, result);
    const settled: Promise<void> = result
      .then(
        () => {},
        (error: unknown) => {
          // The rows before this one are finished; any other failure ends the run at once.
          if (error instanceof QuotaError) isQuotaSpent = true;
          else stop.abort(error);
        },
      )
      .then(() => void running.delete(settled));
    running.add(settled);
    const release = (): void => {
      if (searches.get(key) === result) searches.delete(key);
      for (const id of ids) lookups.delete(id);
    };
    return { result, release };
  }

  /** @param ids receives the restaurants whose details this row requests */
  async function request(query: Searchable, key: string, ids: string[]): Promise<TextResult> {
    const done = encode(
      await resolveRow(query, {
        find: service.find,
        lookup: (id) => lookup(id, ids),
        details: fields !== undefined,
        loose,
      }),
    );
    // An equal row sends its own request after a failure.
    if (done.cause !== undefined) searches.delete(key);
    return done;
  }

  /** Requests the details of each restaurant once, however many rows have it. */
  async function lookup(id: string, ids: string[]): Promise<LookupOutput> {
    const known = recall(detailsKey(id));
    if (known?.status === 'not_found') throw new AppError('not_found', `no restaurant has the id ${id}`);
    const details = known && codec.detailsOf(known.text)?.details;
    if (details !== undefined) return details;
    const shared = lookups.get(id);
    if (shared !== undefined) return shared;
    const sent = service.lookup(id, fields ?? 'basic');
    lookups.set(id, sent);
    ids.push(id);
    return sent;
  }

  function recall(key: string): TextResult | undefined {
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
      // Data that cannot be written: nested too deep.
      if (!(error instanceof AppError)) throw error;
      return { text: codec.result(fromError(error)), status: 'error', cause: error };
    }
  }

  /** Keeps a written result for the equals of its row. After a failure an equal row sends its own request. */
  function remember(query: RowQuery, { text, status }: TextResult, offset: number): void {
    if (query.kind === 'none' || status === 'error') return;
    memo.set(queryKey(query), text, offset);
    if (query.kind === 'lookup') memo.set(detailsKey(query.id), text, offset);
    const id = fields === undefined ? undefined : codec.detailsOf(text)?.id;
    if (id !== undefined) memo.set(detailsKey(id), text, offset);
  }

  async function write(query: RowQuery, own: string, { result, release }: PendingResult): Promise<void> {
    const done = await result;
    // The output is closed after the end of the run.
    signal.throwIfAborted();
    const offset = (await job.append(own + done.text)) + Buffer.byteLength(own);
    remember(query, done, offset);
    job.onRow({ status: done.status, earlier: false, city: cityOf(query) });
    if (release === undefined) return;
    release();
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
