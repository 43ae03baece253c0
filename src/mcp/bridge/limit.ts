/** Thrown where too much is waiting already. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/** Runs tasks, so many at a time; the rest wait in order. */
export interface Limit {
  /**
   * Runs the task when it is its turn. A task whose signal is aborted while it waits is never run.
   * @throws {LimitReached} when the queue is full; the signal's reason when it is aborted before the task's turn
   */
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** @param most tasks that run at the same time; `waiting` how many may wait for their turn */
export function createLimit(most: number, waiting: number): Limit {
  const queue = new Set<() => void>();
  let running = 0;

  function turn(signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    if (running < most) return undefined;
    if (queue.size >= waiting) throw new LimitReached(`${waiting} calls are waiting already`);
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        queue.delete(start);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.add(start);
    });
  }

  /** Hands the place on to the first in the queue, which counts as running from now on. */
  function leave(): void {
    const [next] = queue;
    if (next === undefined) {
      running -= 1;
      return;
    }
    queue.delete(next);
    next();
  }

  return {
    async run(task, signal) {
      const wait = turn(signal);
      if (wait === undefined) running += 1;
      else await wait;
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}
