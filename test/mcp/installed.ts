import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The program as a command on a PATH of its own. */
export interface Installed {
  /** The command by its full path. */
  readonly command: string;
  /** A PATH with the command on it. */
  readonly path: string;
}

/** Installs the program of these sources, as a real command, around the tests of a file. */
export function useInstalled(): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'restaurant-installed-'));
  const bin = join(folder, 'bin');
  const command = join(bin, 'restaurant');
  beforeAll(async () => {
    await build({
      absWorkingDir: ROOT,
      entryPoints: ['src/main.ts'],
      outdir: join(folder, 'dist'),
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      mainFields: ['module', 'main'],
      logLevel: 'silent',
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    mkdirSync(bin);
    writeFileSync(
      command,
      `#!/bin/sh\nexec "${process.execPath}" "${join(folder, 'dist', 'main.js')}" "$@"\n`,
    );
    chmodSync(command, 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return { command, path: [bin, process.env.PATH].join(delimiter) };
}
