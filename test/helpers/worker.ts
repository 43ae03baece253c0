import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { onTestFinished } from 'vitest';
import { type Running, type StartOptions, start } from './process.ts';
import { tempFolder } from './temp-folder.ts';

interface WorkerOptions extends StartOptions {
  /** A limit for the process, such as `-f 20`: see `ulimit` of the shell. */
  readonly limit?: string;
}

/**
 * Bundles a worker so that a real process of any user can run it. Its code may import from the sources as if it were in
 * test/e2e/storage.
 * @returns the path of the bundle
 */
export async function bundleWorker(code: string): Promise<string> {
  const folder = tempFolder();
  chmodSync(folder, 0o755);
  const file = join(folder, 'worker.mjs');
  const input = join(import.meta.dirname, '../e2e/storage/worker-entry.ts');
  const bundle = await rolldown({
    input,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    plugins: [
      {
        name: 'entry',
        load: (id) => (id === input ? code : null),
        resolveId: (id) => (id === input ? id : null),
      },
    ],
  });
  await bundle.write({ format: 'esm', file, codeSplitting: false });
  await bundle.close();
  return file;
}

/** Starts a worker in a separate process. It is killed when the test ends. */
export function startWorker(
  worker: string,
  args: readonly string[],
  { limit, ...options }: WorkerOptions = {},
): Running {
  const words = [worker, ...args];
  const limited = ['-c', `ulimit ${limit}; exec "$0" "$@"`, process.execPath, ...words];
  const running =
    limit === undefined ? start(process.execPath, words, options) : start('sh', limited, options);
  onTestFinished(() => void running.process.kill('SIGKILL'));
  return running;
}
