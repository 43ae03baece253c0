import { isDeepStrictEqual } from 'node:util';
import { parse, patch, stringify } from '@decimalturn/toml-patch';
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { attempt } from '../../errors.ts';
import { isObject, type JsonObject, mapValues } from '../../util/json.ts';
import { ENTRY_NAME, type McpClient } from './clients.ts';

type FileShape = Pick<McpClient, 'format' | 'servers'>;

const BOM = '\uFEFF';

/**
 * Changes the entry in the text of a client's file: TOML, or JSON that may have comments and trailing commas. Nothing
 * else changes, not even a space. @param entry undefined removes the existing one
 * @throws {SyntaxError} if the text is invalid or does not have the expected structure; {RangeError} for deep nesting
 */
export function editText(shape: FileShape, text: string, entry: JsonObject | undefined): string {
  const { servers = 'mcpServers' } = shape;
  const isToml = shape.format === 'toml';
  const read = isToml ? parseToml : parseJsonc;
  const mark = text.startsWith(BOM) ? BOM : '';
  const before = text.slice(mark.length).trim() === '' && !isToml ? '{}\n' : text.slice(mark.length);
  const root = read(before);
  if (!isObject(root)) throw new SyntaxError('it does not contain an object');
  const list = root[servers] === undefined ? {} : root[servers];
  if (!isObject(list)) throw new SyntaxError(`"${servers}" is not a group of servers`);
  if (entry === undefined && list[ENTRY_NAME] === undefined) return text;
  const wanted = withoutPrototypes(withEntry(root, servers, list, entry)) as JsonObject;
  if (isDeepStrictEqual(withoutPrototypes(root), wanted)) return text;
  const ways = isToml
    ? [() => appendTable(before, servers, entry), () => patchToml(before, wanted)]
    : [() => changeJson(before, [], root, wanted)];
  // With a repeated key or an inline table, an edit may have no effect for the client.
  const hasEffect = (edited: string) => isDeepStrictEqual(withoutPrototypes(read(edited)), wanted);
  for (const way of ways) {
    const edited = attempt(way);
    if (edited !== undefined && attempt(() => hasEffect(edited)) === true) return mark + edited;
  }
  throw new SyntaxError(`"${servers}" cannot be edited, for example because of a duplicate key`);
}

/** A group that becomes empty is removed, too. */
function withEntry(root: JsonObject, servers: string, list: JsonObject, entry?: JsonObject): JsonObject {
  if (entry !== undefined) return { ...root, [servers]: { ...list, [ENTRY_NAME]: entry } };
  const { [ENTRY_NAME]: _, ...others } = list;
  if (Object.keys(others).length > 0) return { ...root, [servers]: others };
  const { [servers]: _group, ...rest } = root;
  return rest;
}

/** @returns undefined if the text has none, or cannot be read */
export function entryIn({ format, servers = 'mcpServers' }: FileShape, text: string): unknown {
  const root = attempt(() => (format === 'toml' ? parseToml : parseJsonc)(text.replace(/^\uFEFF/, '')));
  const list = isObject(root) ? root[servers] : undefined;
  return isObject(list) ? list[ENTRY_NAME] : undefined;
}

export function formatSnippet({ format, servers = 'mcpServers' }: FileShape, entry: JsonObject): string {
  if (format === 'toml') return formatTable(servers, entry);
  return `${JSON.stringify({ [servers]: { [ENTRY_NAME]: entry } }, null, 2)}\n`;
}

function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isObject(value)) return value;
  const kept = Object.getPrototypeOf(value);
  if (kept !== Object.prototype && kept !== null) return value;
  return Object.assign(Object.create(null), mapValues(value, withoutPrototypes));
}

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

function treeOf(json: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(json, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error === undefined) return root;
  const line = json.slice(0, error.offset).split('\n').length;
  throw new SyntaxError(`it is not valid JSON (line ${line}: ${printParseErrorCode(error.error)})`);
}

function parseJsonc(json: string): unknown {
  const root = treeOf(json);
  return root && getNodeValue(root);
}

/** Changes a value to another, member by member, so that the comments in it stay. */
function changeJson(json: string, path: readonly string[], from: unknown, to: unknown): string {
  if (isDeepStrictEqual(withoutPrototypes(from), withoutPrototypes(to))) return json;
  if (!isObject(from) || !isObject(to)) return setJson(json, path, to);
  return Object.keys({ ...from, ...to }).reduce((text, key) => {
    const at = [...path, key];
    if (!Object.hasOwn(to, key)) return cutMember(text, at);
    return Object.hasOwn(from, key)
      ? changeJson(text, at, from[key], to[key])
      : insertMember(text, at, to[key]);
  }, json);
}

function nodeAt(json: string, path: readonly string[]): Node {
  const root = treeOf(json);
  const node = root && findNodeAtLocation(root, [...path]);
  if (node === undefined) throw new SyntaxError('the member has moved');
  return node;
}

const splice = (text: string, from: number, to: number, inserted = ''): string =>
  text.slice(0, from) + inserted + text.slice(to);

function setJson(json: string, path: readonly string[], value: unknown): string {
  const { offset, length } = nodeAt(json, path);
  return splice(json, offset, offset + length, formatValue(json, offset, value));
}

/** Inserts a member before the others, so that a comment after the last one keeps its place. */
function insertMember(json: string, path: readonly string[], value: unknown): string {
  const { offset, length, children = [] } = nodeAt(json, path.slice(0, -1));
  const { unit, eol } = styleOf(json);
  const indent = lineIndent(json, offset);
  const member = `${JSON.stringify(path.at(-1))}: ${formatValue(json, offset, value, unit)}`;
  const inner = json.slice(offset + 1, offset + length - 1);
  const end = inner.includes('\n') ? '' : eol + indent;
  return splice(
    json,
    offset + 1,
    offset + 1,
    `${eol}${indent}${unit}${member}${children.length > 0 ? ',' : end}`,
  );
}

/** Cuts a member with the white space before it and its comma; without one, the comma before it. */
function cutMember(json: string, path: readonly string[]): string {
  const property = nodeAt(json, path).parent;
  const object = property?.parent;
  if (property === undefined || object === undefined) throw new SyntaxError('the member has moved');
  const brace = object.offset + object.length - 1;
  const end = property.offset + property.length;
  const gap = json.slice(0, property.offset).trimEnd().length;
  const isFirst = gap === object.offset + 1;
  const comma = commaAt(json, end, brace);
  const rest = json.slice(comma === undefined ? end : comma + 1);
  // What follows on the same line must not become a part of a comment before it.
  const mayJoin = json.slice(json.lastIndexOf('\n', gap - 1) + 1, gap).includes('//');
  const start = mayJoin && !/^[ \t]*(?:\r?\n|\/\/)/.test(rest) ? property.offset : gap;
  if (comma !== undefined) {
    const between = json.slice(end, comma);
    return splice(json, start, comma + 1, between.trim() === '' ? '' : between);
  }
  const siblings = object.children ?? [];
  const previous = siblings[siblings.indexOf(property) - 1];
  if (previous === undefined) {
    return splice(json, start, isFirst && json.slice(end, brace).trim() === '' ? brace : end);
  }
  const cut = splice(json, start, end);
  const before = commaAt(json, previous.offset + previous.length, property.offset);
  return before === undefined ? cut : splice(cut, before, before + 1);
}

/** The position of the next comma, which only white space and comments precede. */
function commaAt(json: string, from: number, to: number): number | undefined {
  const [gap = ''] = /^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(json.slice(from, to)) ?? [];
  return json[from + gap.length] === ',' ? from + gap.length : undefined;
}

const lineIndent = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))?.[0] ?? '';

function styleOf(json: string): { readonly unit: string; readonly eol: string } {
  const unit = /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ';
  return { unit: unit.startsWith('\t') ? '\t' : unit, eol: json.includes('\r\n') ? '\r\n' : '\n' };
}

/** JSON with the indentation of the line at an offset. */
function formatValue(json: string, offset: number, value: unknown, more = ''): string {
  const { unit, eol } = styleOf(json);
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + lineIndent(json, offset) + more);
}
