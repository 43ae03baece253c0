import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import { damaged } from './damaged.ts';
import { ENTRY_NAME, type Entry } from './entry.ts';
import { insertLast, styleOf } from './json-insert.ts';

const BOM = '\uFEFF';

/**
 * Puts the entry into JSON that may have comments and trailing commas. All else stays as it is: other entries, comments,
 * indent, line ends; in an entry of ours what the user added to it.
 * @param text what the file holds; blank counts as empty
 * @param path as errors name the file
 * @throws {AppError} `bad_config` where the text is not JSON of that shape
 */
export function editJson(text: string, servers: string, entry: Entry, path: string): string {
  const mark = text.startsWith(BOM) ? BOM : '';
  const blank = text.slice(mark.length).trim() === '';
  const before = blank ? '{}\n' : text.slice(mark.length);
  const root = readRoot(before, path);
  const missing = missingInputs(root.inputs ?? [], entry, path);
  const wanted = withEntry(root, servers, entry, missing, path);
  if (isDeepStrictEqual(wanted, root)) return text;
  const after = edited(before, root, servers, entry, missing);
  // Repeated keys, for one, make an edit land where no reader looks.
  if (!isDeepStrictEqual(parseJsonc(after, []), wanted)) {
    throw damaged(path, 'a key stands in it twice');
  }
  return mark + after;
}

function readRoot(json: string, path: string): JsonObject {
  const errors: ParseError[] = [];
  const root = parseJsonc(json, errors);
  const [error] = errors;
  if (error !== undefined) {
    const line = json.slice(0, error.offset).split('\n').length;
    throw damaged(path, `it is not JSON (line ${line}: ${printParseErrorCode(error.error)})`);
  }
  if (!isObject(root)) throw damaged(path, 'it holds no JSON object');
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

/** What the file shall hold. */
function withEntry(
  root: JsonObject,
  servers: string,
  entry: Entry,
  missing: readonly JsonObject[],
  path: string,
): JsonObject {
  const { [servers]: held = {}, inputs = [] } = root;
  if (!isObject(held)) throw damaged(path, `"${servers}" is no object`);
  return {
    ...root,
    [servers]: { ...held, [ENTRY_NAME]: mergedEntry(held[ENTRY_NAME], entry) },
    ...(missing.length === 0 ? {} : { inputs: [...(inputs as unknown[]), ...missing] }),
  };
}

/** The entry as it shall be: ours, and what the user added to the one that was there. */
export function mergedEntry(held: unknown, { value, ownKeys }: Entry): JsonObject {
  const theirs = Object.entries(isObject(held) ? held : {}).filter(([key]) => !ownKeys.includes(key));
  return { ...value, ...Object.fromEntries(theirs) };
}

function missingInputs(inputs: unknown, entry: Entry, path: string): JsonObject[] {
  if (entry.inputs.length === 0) return [];
  if (!Array.isArray(inputs)) throw damaged(path, '"inputs" is no array');
  return entry.inputs.filter(({ id }) => !inputs.some((input) => isObject(input) && input.id === id));
}

/** The text with the entry in it. */
function edited(
  before: string,
  root: JsonObject,
  servers: string,
  entry: Entry,
  missing: readonly JsonObject[],
): string {
  const place = [servers, ENTRY_NAME];
  const held = isObject(root[servers]) ? root[servers][ENTRY_NAME] : undefined;
  let json = before;
  if (root[servers] === undefined) json = insertLast(json, [], servers, { [ENTRY_NAME]: entry.value });
  else if (held === undefined) json = insertLast(json, [servers], ENTRY_NAME, entry.value);
  else if (!isObject(held)) json = set(json, place, entry.value);
  else json = changed(json, place, held, entry);
  if (missing.length > 0 && root.inputs === undefined) return insertLast(json, [], 'inputs', missing);
  return missing.reduce<string>((text, input) => insertLast(text, ['inputs'], undefined, input), json);
}

/** An entry of ours that was there before: what differs is set, what does not belong to it any more goes. */
function changed(before: string, place: JSONPath, held: JsonObject, { value, ownKeys }: Entry): string {
  const gone = Object.keys(held).filter((key) => ownKeys.includes(key) && !(key in value));
  const differs = Object.entries(value).filter(([key, each]) => !isDeepStrictEqual(held[key], each));
  const json = gone.reduce((text, key) => set(text, [...place, key], undefined), before);
  return differs.reduce(
    (text, [key, each]) =>
      key in held ? set(text, [...place, key], each) : insertLast(text, place, key, each),
    json,
  );
}

/** Sets a value that is there; undefined removes it. */
function set(json: string, place: JSONPath, value: unknown): string {
  const { indent, eol } = styleOf(json);
  const formattingOptions = { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol };
  return applyEdits(json, modify(json, place, value, { formattingOptions }));
}
