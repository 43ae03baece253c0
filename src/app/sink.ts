import { existsSync, lstatSync, statSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { AppError } from '../errors.ts';
import { writeFileAtomic } from '../storage/atomic.ts';
import { ioError } from '../storage/io-error.ts';
import type { App } from './app.ts';
import { fullPath } from './full-path.ts';

/** Where a command's data goes: stdout, or the file of `--output`. A key of this run that is in it is masked. */
export interface OutputTarget {
  write(text: string): Promise<void>;
  /** Makes what was written stand: a file appears whole, at this moment. */
  finish(): Promise<void>;
}

/** The path that `--output` names; undefined for stdout. */
export function outputPath(app: App): string | undefined {
  const { output } = app.globals;
  if (output === '')
    throw new AppError('usage', '--output needs the name of a file', { hint: 'restaurant … -o out.csv' });
  return output === undefined || output === '-' ? undefined : fullPath(app.context, output);
}

/** Extension of the output file, lower-case, without its dot; empty for stdout. */
export const outputExtension = (app: App): string =>
  extname(outputPath(app) ?? '')
    .slice(1)
    .toLowerCase();

/**
 * Refuses an output that stands already, before anything is asked of the service.
 * @throws {AppError} `usage` naming --force; `io_error` for a folder
 */
export function checkOutput(app: App): void {
  const path = outputPath(app);
  if (path === undefined || !existsSync(path)) return;
  const facts = statSync(path);
  if (facts.isDirectory()) {
    throw new AppError('io_error', `${path} is a folder`, { hint: 'name a file: -o <folder>/out.csv' });
  }
  if (facts.isFile() && app.globals.force !== true) {
    throw new AppError('usage', `${path} exists`, {
      hint: 'add --force to replace it, or name another file with -o',
    });
  }
}

/** Opens the place for a command's data. @throws {AppError} as {@link checkOutput} */
export function openOutput(app: App): OutputTarget {
  checkOutput(app);
  const path = outputPath(app);
  const { stdout } = app.context;
  if (path === undefined) return { write: (text) => stdout.write(app.maskKey(text)), finish: async () => {} };
  const parts: string[] = [];
  return {
    write: async (text) => {
      parts.push(app.maskKey(text));
    },
    finish: async () => writeOutput(path, parts.join('')),
  };
}

function writeOutput(path: string, text: string): void {
  try {
    // A device or a pipe is written to; only a plain file can be replaced.
    if (existsSync(path) && !lstatSync(path).isFile() && !statSync(path).isFile()) writeFileSync(path, text);
    else writeFileAtomic(path, text, { mode: 0o644 });
  } catch (cause) {
    const { code, message, details } = ioError('write', path, cause);
    const hint = details.hint ?? 'name another place: restaurant … -o <file>';
    throw new AppError(code, message, { ...details, hint });
  }
}
