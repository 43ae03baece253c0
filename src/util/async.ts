/** @returns removes the listener, and the reference to `act`, because the signal may keep removed listeners alive */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  let current: (() => void) | undefined = act;
  const listener = (): void => current?.();
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    signal.removeEventListener('abort', listener);
    current = undefined;
  };
}

/** A controller that is aborted with a signal, or before it. */
export function abortedWith(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else onAbort(signal, () => controller.abort(signal.reason));
  return controller;
}

export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const ignoreAbort = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(ignoreAbort);
  });
}

/** Settles like the promise, or resolves with undefined after `ms` if it is still pending. */
export function within<T>(
  promise: Promise<T>,
  ms: number,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): Promise<T | undefined> {
  const timer = new AbortController();
  const timeout = sleep(ms, timer.signal).then(() => undefined);
  return Promise.race([promise, timeout]).finally(() => timer.abort());
}

/** Runs at most `max` tasks at a time. A task that is aborted while it waits never starts. */
export class Semaphore {
  readonly #max: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#running < this.#max) this.#running += 1;
    else await this.#wait(signal);
    try {
      return await task();
    } finally {
      // The slot passes to the first task in the queue, which now counts as running.
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        ignoreAbort();
        resolve();
      };
      const ignoreAbort = onAbort(signal, () => {
        this.#queue.splice(this.#queue.indexOf(start), 1);
        reject(signal.reason);
      });
      this.#queue.push(start);
    });
  }
}

/** Runs a task for every item, at most `max` at a time, and yields the results in order. */
export async function* mapConcurrently<T, R>(
  items: Iterable<T>,
  max: number,
  run: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const started: Promise<R>[] = [];
  for (const item of items) {
    const [first] = started;
    // Tasks do not run ahead of a consumer that is slow or stops.
    if (first !== undefined && started.length >= max) {
      yield await first;
      started.shift();
    }
    const result = run(item);
    // A failure is thrown when its turn comes. Until then, it must not count as an unhandled rejection.
    result.catch(() => {});
    started.push(result);
  }
  for (const result of started) yield await result;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The first items, then the rest, which is closed at the end. */
export async function* prepend<T>(first: readonly T[], rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield* first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
