import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { onTestFinished } from 'vitest';

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

export interface Child {
  readonly process: ChildProcess;
  /** What it printed, once it has ended. */
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Resolves when it printed this text. */
  printed(text: string): Promise<void>;
}

/** Starts a worker in a process of its own. It is killed when the test is over. */
export function startWorker(worker: string, args: readonly string[], options: SpawnOptions = {}): Child {
  return startProgram(process.execPath, [worker, ...args], options);
}

export function startProgram(program: string, args: readonly string[], options: SpawnOptions = {}): Child {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    process: child,
    ended,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => stdout.includes(text) && resolve();
        look();
        child.stdout?.on('data', look);
        child.on('close', () => reject(new Error(`ended without printing ${text}: ${stderr}`)));
      }),
  };
}
