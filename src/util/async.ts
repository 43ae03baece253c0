/**
 * Calls a function when a signal is aborted.
 * @returns removes the listener, and the reference to `act`, because the signal may keep removed listeners alive
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

/** Creates a function that runs at most `max` tasks at a time. A task that is aborted while it waits never starts. */
export function createSemaphore(max: number): <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  const queue: (() => void)[] = [];
  let running = 0;

  const waitForPlace = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
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

  return async (task, signal) => {
    signal.throwIfAborted();
    if (running < max) running += 1;
    else await waitForPlace(signal);
    try {
      return await task();
    } finally {
      // The slot passes to the first task in the queue, which now counts as running.
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
