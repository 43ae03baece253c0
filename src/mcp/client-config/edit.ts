import { isDeepStrictEqual } from 'node:util';
import { parse, patch, stringify } from '@decimalturn/toml-patch';
import {
  applyEdits,
  type FormattingOptions,
  getNodeValue,
  type JSONPath,
  type ModificationOptions,
  modify,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { attempt } from '../../errors.ts';
import { isObject, type JsonObject, mapValues } from '../../util/json.ts';
import type { McpClient } from './clients.ts';
import { ENTRY_NAME, type Entry } from './entry.ts';

const BOM = '\uFEFF';

/**
 * Changes the entry in the text of a client's file: TOML, or JSON that may have comments and trailing commas. Everything
 * else is kept: other entries, comments, indentation, line endings, and the user's own keys in our entry. JSON on one
 * short line is formatted.
 * @param text content of the file; blank counts as empty
 * @param merge returns the entry to write in place of the existing one; undefined to remove it, with its input
 * @returns the new text, which is the same if nothing changes
 * @throws {SyntaxError} if the text is invalid or does not have the expected structure; {RangeError} for deep nesting
 */
export function editText(
  { format, servers = 'mcpServers' }: Pick<McpClient, 'format' | 'servers'>,
  text: string,
  input: JsonObject | undefined,
  merge: (existing: unknown) => JsonObject | undefined,
): string {
  const isToml = format === 'toml';
  const read = isToml ? parseToml : parseJsonc;
  const mark = text.startsWith(BOM) ? BOM : '';
  const before = text.slice(mark.length).trim() === '' && !isToml ? '{}\n' : text.slice(mark.length);
  const root = read(before);
  if (!isObject(root)) throw new SyntaxError('it does not contain an object');
  const list = root[servers] === undefined ? {} : root[servers];
  if (!isObject(list)) throw new SyntaxError(`"${servers}" is not a group of servers`);
  const entry = merge(list[ENTRY_NAME]);
  if (entry === undefined && list[ENTRY_NAME] === undefined) return text;
  const inputs = input === undefined ? root.inputs : withInput(root.inputs, input, entry !== undefined);
  const group = withoutUndefined({ ...list, [ENTRY_NAME]: entry });
  const wanted = withoutPrototypes(withoutUndefined({ ...root, [servers]: group, inputs })) as JsonObject;
  if (isDeepStrictEqual(root, wanted)) return text;
  const ways = isToml
    ? [() => appendTable(before, servers, entry), () => patchToml(before, wanted)]
    : [() => changeJson(changeJson(before, [servers], root, wanted), ['inputs'], root, wanted)];
  // With a repeated key or an inline table, an edit may have no effect for the client.
  const hasEffect = (edited = '') => attempt(() => isDeepStrictEqual(read(edited), wanted)) === true;
  const edited = ways.map((way) => attempt(way)).find(hasEffect);
  if (edited !== undefined) return mark + edited;
  throw new SyntaxError(`"${servers}" cannot be edited, for example because of a duplicate key`);
}

export function formatSnippet(
  { format, servers = 'mcpServers' }: McpClient,
  { value, input }: Entry,
): string {
  if (format === 'toml') return formatTable(servers, value);
  const root = { [servers]: { [ENTRY_NAME]: value }, inputs: input && [input] };
  return `${JSON.stringify(root, null, 2)}\n`;
}

function withInput(inputs: unknown, input: JsonObject, isWanted: boolean): unknown {
  if (inputs === undefined) return isWanted ? [input] : undefined;
  if (!Array.isArray(inputs)) throw new SyntaxError('"inputs" is not an array');
  const others = inputs.filter((each) => !isObject(each) || each.id !== input.id);
  if (!isWanted) return others;
  return others.length < inputs.length ? inputs : [input, ...inputs];
}

function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.assign(Object.create(null), mapValues(value, withoutPrototypes));
}

const withoutUndefined = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));

function parseToml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    // The parser's message quotes the file, which may contain a key.
    const line = error instanceof Error && 'line' in error ? ` (line ${error.line})` : '';
    throw new SyntaxError(`it is not valid TOML${line}`);
  }
}

/** Longest TOML that is patched: the library takes 4 s for it, and four times as long for twice the length. */
const MAX_PATCHED = 400_000;

function patchToml(text: string, wanted: JsonObject): string {
  if (text.length <= MAX_PATCHED) return patch(text, wanted);
  throw new SyntaxError(`it has more than ${MAX_PATCHED} characters`);
}

const formatTable = (servers: string, value: JsonObject): string =>
  `[${servers}.${ENTRY_NAME}]\n${stringify(value, { inlineTableStart: 0 }).trimEnd()}\n`;

function appendTable(text: string, servers: string, value: JsonObject = {}): string {
  const gap = text.endsWith('\n') ? '\n' : '\n\n';
  const table = (text.trim() === '' ? '' : gap) + formatTable(servers, value);
  return text + (text.includes('\r\n') ? table.replaceAll('\n', '\r\n') : table);
}

function parseJsonc(json: string): unknown {
  const errors: ParseError[] = [];
  const root = parseTree(json, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = json.slice(0, error.offset).split('\n').length;
    throw new SyntaxError(`it is not valid JSON (line ${line}: ${printParseErrorCode(error.error)})`);
  }
  return root && getNodeValue(root);
}

/** Longest line that is formatted, because formatting takes minutes on a line of a megabyte. */
const MAX_FORMATTED_LINE = 5000;

/**
 * Changes a member of JSON text from one value to another, so that comments and formatting are kept. New members and
 * items are inserted before the others, so a comment after the last one keeps its place. A comment on the line of the
 * opening bracket follows the inserted member.
 */
function changeJson(json: string, place: JSONPath, from: JsonObject, to: JsonObject): string {
  const key = place.at(-1) as string;
  const [old, next] = [from[key], to[key]];
  if (isDeepStrictEqual(old, next)) return json;
  if (isObject(old) && isObject(next)) {
    const keys = Object.keys({ ...old, ...next });
    return keys.reduce((text, each) => changeJson(text, [...place, each], old, next), json);
  }
  const isInsertion = Array.isArray(old) && Array.isArray(next) && isDeepStrictEqual(old, next.slice(1));
  const edit = (options: ModificationOptions) =>
    isInsertion
      ? modify(json, [...place, 0], next[0], { ...options, isArrayInsertion: true })
      : modify(json, place, next, { ...options, getInsertionIndex: () => 0 });
  const plain = edit({});
  const isLong = plain.some(({ offset }) => lineLength(json, offset) > MAX_FORMATTED_LINE);
  return applyEdits(json, isLong ? plain : edit({ formattingOptions: styleOf(json) }));
}

function lineLength(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return (end === -1 ? text.length : end) - text.lastIndexOf('\n', offset - 1);
}

function styleOf(json: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.length,
    eol: json.includes('\r\n') ? '\r\n' : '\n',
  };
}
