import { isDeepStrictEqual } from 'node:util';
import { parse, patch, stringify } from '@decimalturn/toml-patch';
import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import { damaged } from './damaged.ts';
import { mergedEntry } from './edit-json.ts';
import { ENTRY_NAME, type Entry } from './entry.ts';

/**
 * Puts the entry into TOML. All else stays as it is: other tables, comments, line ends; in a table of ours what the user
 * added to it.
 * @param path as errors name the file
 * @throws {AppError} `bad_config` where the text is not TOML of that shape
 */
export function editToml(text: string, servers: string, entry: Entry, path: string): string {
  const root = readRoot(text, path);
  const held = root[servers] ?? {};
  if (!isObject(held)) throw damaged(path, `"${servers}" is no table`);
  const table = mergedEntry(held[ENTRY_NAME], entry);
  const wanted = bare({ ...root, [servers]: { ...held, [ENTRY_NAME]: table } }) as JsonObject;
  if (isDeepStrictEqual(root, wanted)) return text;
  const holds = (toml: string | undefined): toml is string =>
    toml !== undefined && isDeepStrictEqual(tryParse(toml), wanted);
  const appended = ENTRY_NAME in held ? undefined : text + tableText(text, servers, entry);
  if (holds(appended)) return appended;
  const patched = tryPatch(text, wanted);
  if (holds(patched)) return patched;
  throw damaged(path, `"${servers}" is written in a way that cannot be added to`);
}

/** The entry as a table of its own. */
export function tomlTable(servers: string, entry: Entry): string {
  return `[${servers}.${ENTRY_NAME}]\n${stringify(entry.value, { inlineTableStart: 0 }).trimEnd()}\n`;
}

/** The table as it follows the text: behind a blank line, with its line ends. */
function tableText(text: string, servers: string, entry: Entry): string {
  const gap = text.trim() === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  const table = gap + tomlTable(servers, entry);
  return text.includes('\r\n') ? table.replaceAll('\n', '\r\n') : table;
}

function readRoot(text: string, path: string): JsonObject {
  let root: unknown;
  try {
    root = parse(text);
  } catch (error) {
    // Its message quotes the file, which may hold a key.
    const line = error instanceof Error && 'line' in error ? ` (line ${error.line})` : '';
    throw damaged(path, `it is not TOML${line}`);
  }
  if (!isObject(root)) throw damaged(path, 'it is not TOML');
  return root;
}

/** The same with objects that have no prototype, as the parser makes them. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, bare(each)] as const);
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

function tryParse(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function tryPatch(text: string, wanted: JsonObject): string | undefined {
  try {
    return patch(text, wanted);
  } catch {
    return undefined;
  }
}
