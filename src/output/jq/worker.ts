import { parentPort } from 'node:worker_threads';
import openJq from 'jq-wasm/dist/build/jq.js';

/** A filter, which is compiled but not run without input, and what it printed. */
export interface Task {
  readonly input: string;
  readonly filter: string;
}
export interface Result {
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_BYTES = 256 * 1024 ** 2;

const reply = (result: Result): void => parentPort?.postMessage(result);

class Bytes {
  #buffer = Buffer.alloc(4096);
  #length = 0;

  readonly add = (byte: number | null): void => {
    if (byte === null || this.#length > MAX_BYTES) return;
    if (this.#length === MAX_BYTES) reply({ stdout: '', stderr: 'jq: it prints more than 256 MiB' });
    if (this.#length === this.#buffer.length) {
      this.#buffer = Buffer.concat([this.#buffer], this.#length * 2);
    }
    this.#buffer[this.#length++] = byte;
  };

  take(): string {
    const text = this.#buffer.toString('utf8', 0, this.#length);
    this.#length = 0;
    return text;
  }
}

let input: Uint8Array = Buffer.alloc(0);
let at = 0;
const stdout = new Bytes();
const stderr = new Bytes();
const opening = openJq({ stdin: () => input[at++] ?? null, stdout: stdout.add, stderr: stderr.add });

parentPort?.on('message', async (task: Task) => {
  const jq = await opening;
  input = Buffer.from(task.input);
  at = 0;
  // The space prevents a filter that starts with a hyphen from being parsed as an option.
  jq.callMain(['-M', '-c', ` ${task.filter}`, '/dev/stdin']);
  reply({ stdout: stdout.take(), stderr: stderr.take() });
});
