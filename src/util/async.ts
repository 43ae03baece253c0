/**
 * Calls a function when a signal is aborted.
 * @returns a function that ends this. It also drops the reference to `act`, because the signal may keep removed listeners.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  let current: (() => void) | undefined = act;
  const listener = (): void => current?.();
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    signal.removeEventListener('abort', listener);
    current = undefined;
  };
}

/** Settles like the promise, or rejects with the signal's reason as soon as it is aborted. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const ignoreAbort = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(ignoreAbort);
  });
}

/** Thrown when the queue of a semaphore is full. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

/** Runs a bounded number of tasks at the same time; the others wait in order. */
export interface Semaphore {
  /**
   * Runs the task when a place is free. A task whose signal is aborted while it waits is never started.
   * @throws {QueueFull} when the queue is full; the signal's reason when it is aborted before the task starts
   */
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/**
 * Creates a semaphore.
 * @param maxRunning tasks that run at the same time
 * @param maxQueued tasks that may wait
 */
export function createSemaphore(maxRunning: number, maxQueued: number): Semaphore {
  const queue: (() => void)[] = [];
  let running = 0;

  function acquire(signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    if (running < maxRunning) return undefined;
    if (queue.length >= maxQueued) throw new QueueFull(`${maxQueued} calls are already waiting`);
    return new Promise((resolve, reject) => {
      const start = () => {
        ignoreAbort();
        resolve();
      };
      const ignoreAbort = onAbort(signal, () => {
        queue.splice(queue.indexOf(start), 1);
        reject(signal.reason);
      });
      queue.push(start);
    });
  }

  /** Passes the place to the first task in the queue, which counts as running from now on. */
  function release(): void {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return {
    async run(task, signal) {
      const wait = acquire(signal);
      if (wait === undefined) running += 1;
      else await wait;
      try {
        return await task();
      } finally {
        release();
      }
    },
  };
}

/**
 * Runs `work` on the items, at most `concurrency` at a time, and yields the results in the order of the items. The
 * first failure ends it. At most `concurrency` results wait for an earlier one.
 */
export async function* mapOrdered<T, R>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const waiting: Promise<R>[] = [];
  for (const item of items) {
    const [first] = waiting;
    if (first !== undefined && waiting.length >= concurrency) {
      yield await first;
      waiting.shift();
    }
    const started = work(item);
    // Its failure is reported when its turn comes; until then it must not count as unhandled.
    started.catch(() => {});
    waiting.push(started);
  }
  for (const result of waiting) yield await result;
}
