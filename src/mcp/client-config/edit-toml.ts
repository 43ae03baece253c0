import { isDeepStrictEqual } from 'node:util';
import { parse, patch, stringify } from '@decimalturn/toml-patch';
import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import { invalidConfig } from './client-file.ts';
import type { Edit } from './edit-json.ts';
import { ENTRY_NAME, type Entry, mergeEntry } from './entry.ts';

/**
 * Puts the entry into TOML. Everything else stays: other tables, comments, line endings, and the user's own keys in our
 * table.
 * @param path the file's name in errors
 * @throws {AppError} `bad_config` when the text is not TOML of the expected structure
 */
export function editToml(text: string, servers: string, entry: Entry, path: string): Edit {
  const root = readRoot(text, path);
  const list = root[servers] ?? {};
  if (!isObject(list)) throw invalidConfig(path, `"${servers}" is not a table`);
  const existing = list[ENTRY_NAME];
  const merged = mergeEntry(existing, entry);
  const wanted = withoutPrototypes({
    ...root,
    [servers]: { ...list, [ENTRY_NAME]: merged },
  }) as JsonObject;
  if (isDeepStrictEqual(root, wanted)) return { text, existing, merged };
  const appended = ENTRY_NAME in list ? undefined : text + tableText(text, servers, merged);
  const edited = [appended, attempt(() => patch(text, wanted))].find(
    (toml) =>
      toml !== undefined &&
      isDeepStrictEqual(
        attempt(() => parse(toml)),
        wanted,
      ),
  );
  if (edited === undefined) {
    throw invalidConfig(path, `"${servers}" is written in a way that this program cannot extend`);
  }
  return { text: edited, existing, merged };
}

/** Formats the entry as a table. */
export function tomlTable(servers: string, value: JsonObject): string {
  return `[${servers}.${ENTRY_NAME}]\n${stringify(value, { inlineTableStart: 0 }).trimEnd()}\n`;
}

/** Formats the table as it follows the text: after a blank line, with the same line endings. */
function tableText(text: string, servers: string, value: JsonObject): string {
  const gap = text.trim() === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  const table = gap + tomlTable(servers, value);
  return text.includes('\r\n') ? table.replaceAll('\n', '\r\n') : table;
}

function readRoot(text: string, path: string): JsonObject {
  let root: unknown;
  try {
    root = parse(text);
  } catch (error) {
    // The parser's message quotes the file, which may hold a key.
    const line = error instanceof Error && 'line' in error ? ` (line ${error.line})` : '';
    throw invalidConfig(path, `it is not valid TOML${line}`);
  }
  if (!isObject(root)) throw invalidConfig(path, 'it is not valid TOML');
  return root;
}

/** Copies a value with objects that have no prototype, as the parser creates them. */
function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, withoutPrototypes(each)] as const);
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
