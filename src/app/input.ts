import { type ParseError, parse } from 'jsonc-parser';
import { AppError, systemCode } from '../errors.ts';
import { readPath } from '../storage/files.ts';
import { ioReason } from '../storage/io-error.ts';
import { isInexact, parseExact, setRawNumber } from '../util/exact-json.ts';
import { shellWord } from '../util/shell.ts';
import type { App } from './app.ts';
import { fullPath } from './output.ts';

/** Maximum size of stdin, or of a file that an argument names, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

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
    if (size > MAX_BYTES) {
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

/**
 * Reads a file that an argument names.
 * @throws {AppError} `bad_input`
 */
export function readArgumentFile(app: App, path: string): string {
  const full = fullPath(app.context, path);
  try {
    return decodeUtf8(readPath(full, MAX_BYTES), path);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (systemCode(cause) === 'ETOOLARGE') throw new AppError('bad_input', `${path} is larger than 64 MiB`);
    throw new AppError('bad_input', `cannot read ${path}: ${ioReason(cause)}`, {
      cause,
      hint: `check the path: ls -l ${shellWord(path)}`,
    });
  }
}

/** An argument as it stands, or what `@file` or `-` (stdin) holds. */
export async function readArgument(
  app: App,
  text: string,
  what: string,
): Promise<{ text: string; name: string }> {
  if (text === '-') return { text: await readAllText(app, what), name: 'stdin' };
  if (text.startsWith('@')) return { text: readArgumentFile(app, text.slice(1)), name: text.slice(1) };
  return { text, name: what };
}

/** Longest text that a hint repeats. */
const MOST_REPEATED = 60;
const JSON_HINT = `JSON needs double quotes, and single quotes around it in a shell: '{"name": "value"}'`;

/**
 * Reads JSON that a user wrote.
 * @param code `usage` for the command line, `bad_input` for a file
 * @throws {AppError} naming line and column
 */
export function parseUserJson(
  text: string,
  name: string,
  code: 'usage' | 'bad_input' = 'usage',
  hint = JSON_HINT,
): unknown {
  if (text.trim() === '') throw new AppError(code, `${name} is empty, and should be JSON`, { hint });
  try {
    return parseExact(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new AppError(code, `${name} is not JSON${placeOf(text)}`, {
      cause,
      hint,
    });
  }
}

/**
 * The hint where JSON was expected and perhaps text was meant.
 * @param plain how a value is given as text
 * @param typed how it is given as JSON
 */
export function textHint(
  text: string,
  plain: (text: string) => string,
  typed: (json: string) => string,
): string {
  if (/^[[{"@]/.test(text.trim()) || text.trim() === '') return JSON_HINT;
  const short = text.length > MOST_REPEATED ? '…' : text;
  return `as text: ${plain(short)}; as JSON text: ${typed(JSON.stringify(short))}`;
}

/** Where JSON stops being JSON. `JSON.parse` says it in words alone, and not on every version of Node. */
function placeOf(text: string): string {
  const errors: ParseError[] = [];
  parse(text, errors, { allowTrailingComma: false });
  const offset = errors[0]?.offset ?? text.length;
  const lines = text.slice(0, offset).split('\n');
  return `: line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

/** Sets `a.b.c` in nested objects, to the value of `json` where that is given. @throws {AppError} `usage` where a part is no object, or set twice */
export function setDotted(
  target: Record<string, unknown>,
  path: string,
  value: unknown,
  json?: string,
): void {
  const keys = path.split('.');
  let place = target;
  for (const [index, key] of keys.entries()) {
    if (key === '' || key === '__proto__') {
      throw new AppError('usage', `'${path}' is no key`, { hint: 'dots nest: -F arguments.limit=3' });
    }
    const last = index === keys.length - 1;
    const held = Object.hasOwn(place, key) ? place[key] : undefined;
    if (last) {
      if (held !== undefined)
        throw new AppError('usage', `'${path}' is given twice`, { hint: 'leave one out' });
      place[key] = value;
      keepDigits(place, key, json);
      return;
    }
    if (held === undefined) place[key] = {};
    const next = place[key];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) {
      throw new AppError('usage', `'${path}': '${keys.slice(0, index + 1).join('.')}' has a value already`, {
        hint: 'leave one out',
      });
    }
    place = next as Record<string, unknown>;
  }
}

/** A number alone is sent as it was typed. @param json what the value was parsed from */
export function keepDigits(target: Record<string, unknown>, key: string, json: string | undefined): void {
  const text = json?.trim() ?? '';
  if (typeof target[key] === 'number' && text !== '' && isInexact(text)) setRawNumber(target, key, text);
}

/** Cuts `key=value` at the first `=`. @throws {AppError} `usage` */
export function cutPair(text: string, flag: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new AppError('usage', `${flag} '${text}': expected key=value`, { hint: `${flag} name=Nopa` });
}
