import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import { invalidConfig } from './client-file.ts';
import { ENTRY_NAME, type Entry, mergeEntry } from './entry.ts';

const BOM = '\uFEFF';

/** The result of an edit: the new text, and the entry before and after it. */
export interface Edit {
  readonly text: string;
  readonly existing: unknown;
  readonly merged: JsonObject;
}

/**
 * Puts the entry into JSON that may have comments and trailing commas. Everything else stays: other entries, comments,
 * indentation, line endings, and the user's own keys in our entry.
 * @param text content of the file; blank counts as empty
 * @param path the file's name in errors
 * @throws {AppError} `bad_config` when the text is not JSON of the expected structure
 */
export function editJson(text: string, servers: string, entry: Entry, path: string): Edit {
  const mark = text.startsWith(BOM) ? BOM : '';
  const json = text.slice(mark.length).trim() === '' ? '{}\n' : text.slice(mark.length);
  const root = readRoot(json, path);
  const list = root[servers] === undefined ? {} : root[servers];
  if (!isObject(list)) throw invalidConfig(path, `"${servers}" is not an object`);
  const existing = list[ENTRY_NAME];
  const merged = mergeEntry(existing, entry);
  const inputs = missingInputs(root.inputs ?? [], entry, path);
  const wanted: JsonObject = {
    ...root,
    [servers]: { ...list, [ENTRY_NAME]: merged },
    ...(inputs.length === 0 ? {} : { inputs: [...inputs, ...((root.inputs ?? []) as unknown[])] }),
  };
  if (isDeepStrictEqual(wanted, root)) return { text, existing, merged };
  const edited = withInputs(withEntry(json, root, servers, merged), root, inputs);
  // A repeated key can make an edit land where no reader looks.
  if (!isDeepStrictEqual(parseJsonc(edited, []), wanted)) {
    throw invalidConfig(path, 'it contains a duplicate key');
  }
  return { text: mark + edited, existing, merged };
}

function readRoot(json: string, path: string): JsonObject {
  const errors: ParseError[] = [];
  const root = parseJsonc(json, errors);
  const [error] = errors;
  if (error !== undefined) {
    const line = json.slice(0, error.offset).split('\n').length;
    throw invalidConfig(path, `it is not valid JSON (line ${line}: ${printParseErrorCode(error.error)})`);
  }
  if (!isObject(root)) throw invalidConfig(path, 'it does not contain a JSON object');
  return root;
}

/** Parses JSON with comments. Unlike jsonc-parser's own `parse`, it reads a member named `__proto__` like any other. */
function parseJsonc(json: string, errors: ParseError[]): unknown {
  const node = parseTree(json, errors, { allowTrailingComma: true });
  return node && nodeValue(node);
}

function nodeValue({ type, value, children = [] }: Node): unknown {
  if (type === 'array') return children.map(nodeValue);
  if (type !== 'object') return value;
  const members = children.flatMap(({ children: [key, member] = [] }) =>
    key === undefined || member === undefined ? [] : [[key.value, nodeValue(member)] as const],
  );
  return Object.fromEntries(members);
}

/** Returns the items of `inputs` that the file does not have yet. */
function missingInputs(inputs: unknown, entry: Entry, path: string): JsonObject[] {
  if (entry.inputs.length === 0) return [];
  if (!Array.isArray(inputs)) throw invalidConfig(path, '"inputs" is not an array');
  return entry.inputs.filter(({ id }) => !inputs.some((input) => isObject(input) && input.id === id));
}

function withEntry(json: string, root: JsonObject, servers: string, merged: JsonObject): string {
  if (root[servers] === undefined) return insertFirst(json, [], servers, { [ENTRY_NAME]: merged });
  const list = root[servers] as JsonObject;
  const place = [servers, ENTRY_NAME];
  const existing = list[ENTRY_NAME];
  if (existing === undefined) return insertFirst(json, [servers], ENTRY_NAME, merged);
  if (!isObject(existing)) return setValue(json, place, merged);
  const removed = Object.keys(existing).filter((key) => !(key in merged));
  const changed = Object.entries(merged).filter(([key, value]) => !isDeepStrictEqual(existing[key], value));
  const rest = removed.reduce((text, key) => setValue(text, [...place, key], undefined), json);
  return changed.reduce(
    (text, [key, value]) =>
      key in existing ? setValue(text, [...place, key], value) : insertFirst(text, place, key, value),
    rest,
  );
}

function withInputs(json: string, root: JsonObject, inputs: readonly JsonObject[]): string {
  if (inputs.length > 0 && root.inputs === undefined) return insertFirst(json, [], 'inputs', inputs);
  return inputs.reduce<string>((text, input) => insertFirst(text, ['inputs'], undefined, input), json);
}

/** Sets an existing value; undefined removes it. */
function setValue(json: string, place: JSONPath, value: unknown): string {
  const { indent, eol } = styleOf(json);
  const formattingOptions = { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol };
  return applyEdits(json, modify(json, place, value, { formattingOptions }));
}

/** Returns the indentation and line ending of a text; two spaces and LF when it shows none. */
function styleOf(json: string): { readonly indent: string; readonly eol: string } {
  return {
    indent: /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ',
    eol: json.includes('\r\n') ? '\r\n' : '\n',
  };
}

/** Blanks and comments that can follow a bracket on its line. */
const REST_OF_LINE = /[ \t]*(?:\/\*[^\n]*?\*\/[ \t]*)*(?:\/\/[^\r\n]*)?/y;

/**
 * Inserts a member at the beginning of an object or array, on its own lines. No other byte changes: unlike
 * jsonc-parser's own insertion, it formats nothing again, and a comment stays on the line that it describes.
 * @param key of the member; undefined in an array
 */
function insertFirst(json: string, place: JSONPath, key: string | undefined, value: unknown): string {
  const root = parseTree(json, [], { allowTrailingComma: true });
  const parent = root && findNodeAtLocation(root, place);
  if (parent === undefined) return json;
  const { indent, eol } = styleOf(json);
  const margin = eol + indent.repeat(place.length + 1);
  REST_OF_LINE.lastIndex = parent.offset + 1;
  const at = parent.offset + 1 + (REST_OF_LINE.exec(json)?.[0].length ?? 0);
  const name = key === undefined ? '' : `${JSON.stringify(key)}: `;
  const text = margin + name + JSON.stringify(value, null, indent).replaceAll('\n', margin);
  const isEmpty = parent.children === undefined || parent.children.length === 0;
  const isLineEnd = /[\r\n]/.test(json[at] ?? '');
  const next = isLineEnd ? '' : isEmpty ? eol + indent.repeat(place.length) : margin;
  return json.slice(0, at) + text + (isEmpty ? '' : ',') + next + json.slice(at);
}
