import { onAbort } from './abort.ts';

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
