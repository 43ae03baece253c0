import { isRestaurant } from '../client/tools.ts';
import type { FindQuery } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { SharedStateError } from '../storage/ledger.ts';
import { longWaitOf } from '../storage/pacer.ts';
import { Semaphore, untilAborted } from '../util/async.ts';
import type { Answers } from './answers.ts';
import type { PacedService } from './paced-service.ts';
import { keptResults, type Question, type Request, type Resolution, requestKey } from './resolve.ts';

interface Asking {
  readonly service: Pick<PacedService, 'find' | 'lookup'>;
  readonly state: {
    readonly answers: Pick<Answers, 'addFind' | 'addLookup'>;
    resolve(question: Question): Resolution;
  };
  /** Ends the run immediately, with the signal's reason. `service` must use the same signal. */
  readonly stop: AbortController;
}

const MAX_REQUESTS = 4;
/** Rows that are under way at a time: of many equal ones, which share a request, more than requests. */
const MAX_ROWS = 64;
const MAX_FAILURES = 20;

/** Asks for what rows lack. Equal requests are sent once, also if they fail. */
export class Asker {
  readonly #asking: Asking;
  /** Requests that are under way or have failed, by their keys. */
  readonly #sent = new Map<string, Promise<AppError | undefined>>();
  readonly #requests = new Semaphore(MAX_REQUESTS);
  #failuresInARow = 0;

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  /**
   * Asks until a row lacks nothing, or a request for it has failed.
   * @returns that failure @throws errors that end the whole run: a rejected key, an exhausted quota, an interruption
   */
  async finish(question: Question): Promise<AppError | undefined> {
    const { state } = this.#asking;
    const asked = new Set<string>();
    for (;;) {
      const { lack } = state.resolve(question);
      if (lack === undefined) return undefined;
      const key = requestKey(lack.request);
      // An answer that is due at once comes from a clock that was set back.
      if (asked.has(key)) return undefined;
      asked.add(key);
      const outcome = this.#sent.get(key) ?? this.#ask(key, lack.request);
      this.#sent.set(key, outcome);
      const failure = await outcome;
      if (failure !== undefined) return failure;
    }
  }

  async #ask(key: string, request: Request): Promise<AppError | undefined> {
    const { stop } = this.#asking;
    try {
      await this.#requests.run(() => this.#send(request), stop.signal);
      this.#failuresInARow = 0;
      this.#sent.delete(key);
      return undefined;
    } catch (error) {
      if (!(error instanceof AppError) || !isOfOneRow(error)) throw error;
      this.#failuresInARow += 1;
      if (this.#failuresInARow >= MAX_FAILURES)
        throw error.add({ about: `${MAX_FAILURES} consecutive requests failed` });
      return error;
    }
  }

  async #send(request: Request): Promise<void> {
    const { service } = this.#asking;
    const { answers } = this.#asking.state;
    if (request.kind === 'find') return addSearch(request.query, answers, service);
    const output = await service.lookup(request.id, request.level).catch(nothingFound);
    answers.addLookup(request.id, request.level, output ?? null);
  }
}

export async function addSearch(
  query: FindQuery,
  answers: Pick<Answers, 'addFind'>,
  service: Pick<PacedService, 'find'>,
): Promise<void> {
  const found = await service.find(query).catch(nothingFound);
  const { results = [], total = 0 } = found ?? {};
  if (results.length > 0 && !results.some(isRestaurant))
    throw new AppError('bad_response', `none of ${results.length} results can be read`);
  const { kept, received } = keptResults(query, results);
  const isCount = Number.isSafeInteger(total) && total >= received;
  answers.addFind(query, { results: kept, received, total: isCount ? total : received });
}

/** That the service knows no such restaurant is an answer. */
function nothingFound(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}

const isOfOneRow = (error: AppError): boolean =>
  longWaitOf(error) === undefined &&
  !(error instanceof SharedStateError) &&
  ['network', 'rate_limit', 'service', 'not_found'].includes(error.kind);

/**
 * Does the work for several items at a time, begun in their order. Once the quota is used up, those that are under way
 * are finished. @throws the error that ended the run
 */
export async function workThrough<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  stop: AbortController,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let spent: unknown;
  const begin = (item: T): void => {
    const done = work(item)
      .catch((error: unknown) => {
        if (error instanceof AppError && longWaitOf(error) !== undefined) spent ??= error;
        else stop.abort(error);
      })
      .finally(() => running.delete(done));
    running.add(done);
  };
  const all = async (): Promise<void> => {
    try {
      for await (const item of items) {
        if (spent !== undefined || stop.signal.aborted) break;
        begin(item);
        if (running.size >= MAX_ROWS) await Promise.race(running);
      }
    } finally {
      // Also those before a malformed row.
      await Promise.all(running);
    }
  };
  try {
    stop.signal.throwIfAborted();
    await untilAborted(all(), stop.signal);
  } catch (error) {
    stop.abort(error);
    throw stop.signal.reason;
  }
  stop.signal.throwIfAborted();
  if (spent !== undefined) throw spent;
}
