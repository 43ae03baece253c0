import { parentPort } from 'node:worker_threads';
import { raw } from 'jq-wasm/inline';

/** A filter, which is compiled but not run without input, and what it printed. */
export interface Task {
  readonly input: string;
  readonly filter: string;
}
export interface Result {
  readonly stdout: string;
  readonly stderr: string;
}

declare global {
  /** Called when a filter has printed 256 MiB; scripts/assets.js makes jq-wasm drop the rest. */
  var onOutputLimit: () => void;
}

const reply = (result: Result): void => parentPort?.postMessage(result);

globalThis.onOutputLimit = () => reply({ stdout: '', stderr: 'jq: it prints more than 256 MiB' });

parentPort?.on('message', async ({ input, filter }: Task) => {
  const { stdout, stderr } = await raw(input, filter, ['-c', '--']);
  reply({ stdout, stderr });
});
