import { on } from 'node:events';
import { Worker } from 'node:worker_threads';

export class LimitReached extends Error {
  readonly limit: 'memory' | 'time';

  constructor(limit: 'memory' | 'time', cause: unknown) {
    super(`a worker needs more ${limit}`, { cause });
    this.limit = limit;
  }
}

interface WorkerLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Errors of the program. Without memory, WebAssembly throws a RuntimeError, and V8 a RangeError or an error with a code. */
const BUGS = [ReferenceError, SyntaxError, TypeError];

/** A program in a worker, so that signals and limits of memory and time end it. */
export class LimitedWorker<Task, Message> {
  readonly #program: string;
  readonly #maxHeapMb: number;
  #worker: Worker | undefined;

  constructor(program: string, maxHeapMb: number) {
    this.#program = program;
    this.#maxHeapMb = maxHeapMb;
  }

  /** The messages that answer a task. The caller knows which one is the last. @throws {LimitReached} or the signal's reason */
  async *messages(task: Task, { timeoutMs, signal }: WorkerLimits): AsyncGenerator<Message> {
    signal.throwIfAborted();
    const worker = this.#open();
    const timeout = AbortSignal.timeout(timeoutMs);
    worker.ref();
    try {
      const messages = on(worker, 'message', { signal: AbortSignal.any([signal, timeout]) });
      worker.postMessage(task);
      for await (const [message] of messages) yield message;
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted) throw new LimitReached('time', error);
      throw BUGS.some((kind) => error instanceof kind) ? error : new LimitReached('memory', error);
    } finally {
      // A worker that is still running ends with the program. Bun would wait for one that is terminated in a loop.
      worker.unref();
    }
  }

  /** Frees the memory of a worker that has answered. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #open(): Worker {
    if (this.#worker === undefined) {
      this.#worker = new Worker(this.#program, {
        eval: true,
        env: {},
        execArgv: [],
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: this.#maxHeapMb },
      });
      // It may run out of memory after the time limit, when nobody waits for it.
      this.#worker.on('error', () => {});
    }
    return this.#worker;
  }
}
