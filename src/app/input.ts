import { statSync } from 'node:fs';
import { AppError, failure, systemCode } from '../errors.ts';
import { system } from '../hint.ts';
import { ioReason } from '../storage/files.ts';
import { readUserFile } from '../storage/user-files.ts';
import { resolveInput } from '../storage/user-paths.ts';
import type { App } from './app.ts';
import { fullPath } from './output-file.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const MARKS = [
  [0xff, 0xfe, 'utf-16le'],
  [0xfe, 0xff, 'utf-16be'],
] as const;

/** @param what the expected input, for a note to a user at a terminal. @throws {AppError} `bad_input` */
export async function readAllText(app: App, what: string): Promise<string> {
  const { stdin } = app.context;
  if (stdin.isTTY) await app.notes.note(`reading ${what} from the keyboard; Ctrl-D ends it`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stdin.chunks()) {
    size += part.byteLength;
    if (size > MAX_BYTES) {
      throw failure('bad_input', 'stdin is larger than 64 MiB', { text: 'split it into smaller parts' });
    }
    parts.push(part);
  }
  return decodeText(Buffer.concat(parts), 'stdin');
}

/** Decodes UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it. @throws {AppError} `bad_input` */
export function decodeText(bytes: Uint8Array, name: string): string {
  const [first, second] = bytes;
  const utf16 = MARKS.find(([one, two]) => first === one && second === two)?.[2];
  try {
    return new TextDecoder(utf16 ?? 'utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw failure('bad_input', `${name} is not UTF-8 text`, { text: 'save it as UTF-8' }, cause);
  }
}

/** The real path of a file that the command line names. @throws {AppError} `bad_input` if a link leads away */
export const inputPath = (app: App, typed: string): string =>
  resolveInput(fullPath(app.context, typed), app.context, typed).path;

/** Reads a file named by an argument. @throws {AppError} `bad_input` */
export async function readArgumentFile(app: App, path: string): Promise<string> {
  const full = fullPath(app.context, path);
  try {
    return decodeText((await readUserFile(full, MAX_BYTES, app.context, path)).bytes, path);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (systemCode(cause) === 'ETOOLARGE') throw new AppError('bad_input', `${path} is larger than 64 MiB`);
    throw failure(
      'bad_input',
      `cannot read ${path}: ${ioReason(cause)}`,
      { text: 'check the path', command: system('ls -l', path) },
      cause,
    );
  }
}

/** JSON, `@file`, or `-` for stdin. @throws {AppError} `usage` if the command line is not JSON; `bad_input` */
export async function readJsonArgument(app: App, text: string, what: string): Promise<unknown> {
  const { parseUserJson } = await import('../util/user-json.ts');
  if (text === '-') return parseUserJson(await readAllText(app, what), 'stdin', 'bad_input');
  if (!text.startsWith('@')) return parseUserJson(text, what);
  const path = text.slice(1);
  return parseUserJson(await readArgumentFile(app, path), path, 'bad_input');
}

/** The name of a list, by its ending. */
export const LIST_NAME = /\.(?:csv|tsv|txt|xlsx|ndjson|jsonl|geojson|parquet)$/i;

/** Whether a word names a file: a list, a path, or one that exists. A folder may have the name of a restaurant. */
export const isFile = (app: App, word: string): boolean =>
  LIST_NAME.test(word) ||
  /^(?:\.{0,2}|~|[a-z]:)[/\\]/i.test(word) ||
  statSync(fullPath(app.context, word), { throwIfNoEntry: false })?.isFile() === true;
