import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { onTestFinished } from 'vitest';
import { type Running, type StartOptions, start } from './process.ts';

/**
 * Bundles a worker so that a real process can run it. Its code may import from the sources as if it were in test/e2e/storage.
 * @returns the path of the bundle, in `folder`.
 */
export async function bundleWorker(folder: string, code: string): Promise<string> {
  const outfile = join(folder, 'worker.mjs');
  const entry = join(import.meta.dirname, '../e2e/storage/worker-entry.ts');
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    plugins: [
      {
        name: 'entry',
        load: (id) => (id === entry ? code : null),
        resolveId: (id) => (id === entry ? id : null),
      },
    ],
  });
  await bundle.write({ format: 'esm', file: outfile, codeSplitting: false });
  await bundle.close();
  return outfile;
}

/** Starts a worker in a separate process. It is killed when the test ends. */
export function startWorker(worker: string, args: readonly string[], options: StartOptions = {}): Running {
  const running = start(process.execPath, [worker, ...args], options);
  onTestFinished(() => void running.process.kill('SIGKILL'));
  return running;
}
