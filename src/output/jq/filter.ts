import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Context } from '../../context.ts';
import { AppError, usage } from '../../errors.ts';
import { again, type Hint } from '../../hint.ts';
import { formatDuration } from '../../util/format.ts';
import { checkDepth, formatJson } from '../../util/json.ts';
import { cleanCell, cleanLine } from '../../util/text.ts';
import { worker as WORKER } from './asset.js';
import type { Result, Task } from './worker.ts';

/** Maximum heap of the worker for what jq prints; jq itself gets at most 256 MiB. */
const MAX_HEAP_MB = 1024;
/** Errors of the worker itself. Without memory, WebAssembly throws a RuntimeError, and V8 a RangeError or an error with a code. */
const BUGS = [ReferenceError, SyntaxError, TypeError];
const DEFAULT_HINT: Hint = [
  { text: 'for example', command: again({ '--jq': '.results[].name' }) },
  { text: 'the language: https://jqlang.org/manual' },
];

/** A jq filter, which runs in a worker so that signals and time limits end it. */
export class Filter {
  readonly #filter: string;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  #worker: Worker | undefined;

  constructor(filter: string, timeoutMs: number, { signal }: Pick<Context, 'signal'>) {
    this.#filter = filter;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  async check(): Promise<void> {
    await this.#run('');
  }

  /**
   * Filters a JSON document. Numbers keep every digit.
   * @returns each output on its own line: strings as cleaned text, anything else as JSON
   * @throws {AppError} `usage` with jq's message if the filter fails on this document; `timeout`
   */
  async apply(json: string, pretty: boolean): Promise<string> {
    const outputs = (await this.#run(json)).split('\n').filter((line) => line !== '');
    return outputs.map((output) => `${outputText(output, pretty)}\n`).join('');
  }

  async #run(input: string): Promise<string> {
    const { stdout, stderr } = await this.#inWorker({ input, filter: this.#filter });
    if (stdout !== '' || stderr === '') return stdout;
    const [, message = 'the filter failed'] = /jq: (?:error(?: \([^)]*\))?: )?([^\n]*)/.exec(stderr) ?? [];
    throw this.#error(cleanLine(message).trim().replace(/:$/, ''));
  }

  #error(problem: string): AppError {
    return usage(`--jq '${cleanLine(this.#filter)}': ${problem}`, DEFAULT_HINT);
  }

  #timeout(): AppError {
    const problem = `did not finish within ${formatDuration(this.#timeoutMs)} (--timeout)`;
    return new AppError('timeout', `--jq '${cleanLine(this.#filter)}' ${problem}`, {
      hint: { text: 'correct the filter, or allow more time', command: again({ '--timeout': '2m' }) },
      retryable: false,
    });
  }

  async #inWorker(task: Task): Promise<Result> {
    this.#signal.throwIfAborted();
    const worker = this.#open();
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    worker.ref();
    worker.postMessage(task);
    try {
      const [result] = await once(worker, 'message', { signal: AbortSignal.any([this.#signal, timeout]) });
      return result;
    } catch (error) {
      this.#signal.throwIfAborted();
      if (timeout.aborted) throw this.#timeout();
      if (BUGS.some((kind) => error instanceof kind)) throw error;
      throw this.#error('the filter needs too much memory');
    } finally {
      // A worker that is still running ends with the program. Bun would wait for one that is terminated in a loop.
      worker.unref();
    }
  }

  #open(): Worker {
    if (this.#worker === undefined) {
      this.#worker = new Worker(WORKER, {
        eval: true,
        env: {},
        execArgv: [],
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      });
      // It may run out of memory after the time limit, when nobody waits for it.
      this.#worker.on('error', () => {});
    }
    return this.#worker;
  }
}

function outputText(output: string, pretty: boolean): string {
  if (!/^["[{]/.test(output)) return output;
  const value: unknown = JSON.parse(output);
  if (typeof value === 'string') return cleanCell(value);
  checkDepth(value);
  return formatJson(output, pretty);
}
