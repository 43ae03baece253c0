import type { Context } from '../../context.ts';
import { AppError, usage } from '../../errors.ts';
import { again, type Hint } from '../../hint.ts';
import { formatDuration } from '../../util/format.ts';
import { checkDepth, formatJson } from '../../util/json.ts';
import { cleanCell, cleanLine } from '../../util/text.ts';
import { LimitedWorker, LimitReached } from '../../util/worker.ts';
import { worker as WORKER } from './asset.js';
import type { Result, Task } from './worker.ts';

/** Maximum heap of the worker for what jq prints; jq itself gets at most 256 MiB. */
const MAX_HEAP_MB = 1024;

const exampleHint = (example: string): Hint => [
  { text: 'for example', command: again({ '--jq': example }) },
  { text: 'the language: https://jqlang.org/manual' },
];

/** A jq filter, which runs in a worker so that signals and time limits end it. */
export class JqFilter {
  readonly #filter: string;
  readonly #example: string;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  readonly #worker = new LimitedWorker<Task, Result>(WORKER, MAX_HEAP_MB);
  #isRunning = false;

  constructor(filter: string, timeoutMs: number, { signal }: Pick<Context, 'signal'>, example = '.') {
    this.#filter = filter;
    this.#example = example;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  async check(): Promise<void> {
    await this.#run('');
  }

  /**
   * @returns each output on its own line: strings as cleaned text, anything else as JSON whose numbers keep every digit
   * @throws {AppError} `usage` with jq's message if the filter fails on this document; `timeout`
   */
  async apply(json: string, pretty: boolean): Promise<string> {
    const outputs = (await this.#run(json)).split('\n').filter((line) => line !== '');
    return outputs.map((output) => `${outputText(output, pretty)}\n`).join('');
  }

  /** Frees the memory of the worker. A filter that still runs ends with the program. */
  async close(): Promise<void> {
    if (!this.#isRunning) await this.#worker.close();
  }

  async #run(input: string): Promise<string> {
    const { stdout, stderr } = await this.#inWorker({ input, filter: this.#filter });
    if (stdout !== '' || stderr === '') return stdout;
    const [, message = 'the filter failed'] = /jq: (?:error(?: \([^)]*\))?: )?([^\n]*)/.exec(stderr) ?? [];
    throw this.#error(cleanLine(message).trim().replace(/:$/, ''));
  }

  #error(problem: string): AppError {
    return usage(`--jq '${cleanLine(this.#filter)}': ${problem}`, exampleHint(this.#example));
  }

  #timeout(): AppError {
    const problem = `did not finish within ${formatDuration(this.#timeoutMs)} (--timeout)`;
    return new AppError('timeout', `--jq '${cleanLine(this.#filter)}' ${problem}`, {
      hint: { text: 'correct the filter, or allow more time', command: again({ '--timeout': '2m' }) },
      retryable: false,
    });
  }

  async #inWorker(task: Task): Promise<Result> {
    const limits = { timeoutMs: this.#timeoutMs, signal: this.#signal };
    this.#isRunning = true;
    try {
      for await (const result of this.#worker.messages(task, limits)) {
        this.#isRunning = false;
        return result;
      }
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      throw error.limit === 'time' ? this.#timeout() : this.#error('the filter needs too much memory');
    }
    throw new Error('the worker gave no answer');
  }
}

function outputText(output: string, pretty: boolean): string {
  if (!/^["[{]/.test(output)) return output;
  const value: unknown = JSON.parse(output);
  if (typeof value === 'string') return cleanCell(value);
  checkDepth(value);
  return formatJson(output, pretty);
}
