import { AppError, systemCode } from '../errors.ts';
import { ioReason, shellWord } from '../storage/io-error.ts';
import { readNamed } from '../storage/plain.ts';
import type { App } from './app.ts';
import { fullPath } from './full-path.ts';
import { decodeUtf8, readAllText } from './stdin.ts';

/** Largest file accepted as an argument, in bytes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Reads a file named by an argument.
 * @throws {AppError} `bad_input`
 */
export function readArgumentFile(app: App, path: string): string {
  const full = fullPath(app.context, path);
  try {
    return decodeUtf8(readNamed(full, MAX_FILE_BYTES), path);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (systemCode(cause) === 'ETOOLARGE') throw new AppError('bad_input', `${path} is larger than 64 MiB`);
    throw new AppError('bad_input', `cannot read ${path}: ${ioReason(cause)}`, {
      cause,
      hint: `check the path: ls -l ${shellWord(path)}`,
    });
  }
}

/** Returns an argument itself, or the content of `@file` or of stdin (`-`), with a name for messages. */
export async function readArgument(
  app: App,
  text: string,
  what: string,
): Promise<{ text: string; name: string }> {
  if (text === '-') return { text: await readAllText(app, what), name: 'stdin' };
  if (text.startsWith('@')) return { text: readArgumentFile(app, text.slice(1)), name: text.slice(1) };
  return { text, name: what };
}
