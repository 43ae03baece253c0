import { AppError } from '../errors.ts';
import type { App } from './app.ts';

/** Most that is read from stdin as one piece, in bytes. */
const MOST = 64 * 1024 * 1024;

/**
 * Reads all of stdin as UTF-8.
 * @param what what is expected there, for the person who finds the program waiting
 * @throws {AppError} `bad_input` for other encodings or too much
 */
export async function readAllText(app: App, what: string): Promise<string> {
  const { stdin } = app.context;
  if (stdin.isTTY) await app.note(`reading ${what} from the keyboard; Ctrl-D ends it`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stdin.chunks()) {
    size += part.byteLength;
    if (size > MOST) {
      throw new AppError('bad_input', 'stdin holds more than 64 MiB', { hint: 'give it in smaller parts' });
    }
    parts.push(part);
  }
  return decodeUtf8(Buffer.concat(parts), 'stdin');
}

/** Bytes as text. @throws {AppError} `bad_input` naming the place where it is not UTF-8 */
export function decodeUtf8(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError('bad_input', `${name} is not UTF-8 text`, {
      cause,
      hint: `convert it first: iconv -f <encoding> -t UTF-8`,
    });
  }
}
