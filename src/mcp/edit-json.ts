import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  type FormattingOptions,
  type JSONPath,
  modify,
  type ParseError,
  parse,
  printParseErrorCode,
} from 'jsonc-parser';
import { isObject, type JsonObject } from '../api/rpc.ts';
import { damaged } from './damaged.ts';
import { ENTRY_NAME, type Entry } from './entry.ts';

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
  const wanted = withEntry(root, servers, entry, path);
  if (isDeepStrictEqual(wanted, root)) return text;
  const after = editsFor(root, wanted, servers, entry).reduce(
    (json, { place, value, insert }) =>
      applyEdits(
        json,
        modify(json, place, value, { formattingOptions: styleOf(before), isArrayInsertion: insert }),
      ),
    before,
  );
  // Repeated keys, for one, make an edit land where no reader looks.
  if (!isDeepStrictEqual(parse(after, [], { allowTrailingComma: true }), wanted)) {
    throw damaged(path, 'a key stands in it twice');
  }
  return mark + after;
}

function readRoot(json: string, path: string): JsonObject {
  const errors: ParseError[] = [];
  const root: unknown = parse(json, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = json.slice(0, error.offset).split('\n').length;
    throw damaged(path, `it is not JSON (line ${line}: ${printParseErrorCode(error.error)})`);
  }
  if (!isObject(root)) throw damaged(path, 'it holds no JSON object');
  return root;
}

/** What the file shall hold. */
function withEntry(root: JsonObject, servers: string, entry: Entry, path: string): JsonObject {
  const { [servers]: held = {}, inputs = [] } = root;
  if (!isObject(held)) throw damaged(path, `"${servers}" is no object`);
  const missing = missingInputs(inputs, entry, path);
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

interface Edit {
  readonly place: JSONPath;
  /** Undefined removes what is there. */
  readonly value: unknown;
  readonly insert: boolean;
}

function editsFor(root: JsonObject, wanted: JsonObject, servers: string, entry: Entry): Edit[] {
  const held = isObject(root[servers]) ? root[servers][ENTRY_NAME] : undefined;
  const place = [servers, ENTRY_NAME];
  const set = (at: JSONPath, value: unknown): Edit => ({ place: at, value, insert: false });
  const entryEdits = isObject(held)
    ? [
        ...Object.entries(entry.value)
          .filter(([key, value]) => !isDeepStrictEqual(held[key], value))
          .map(([key, value]) => set([...place, key], value)),
        ...Object.keys(held)
          .filter((key) => entry.ownKeys.includes(key) && !(key in entry.value))
          .map((key) => set([...place, key], undefined)),
      ]
    : [set(place, entry.value)];
  const had = Array.isArray(root.inputs) ? root.inputs.length : undefined;
  const inputs = Array.isArray(wanted.inputs) ? wanted.inputs : [];
  const inputEdits =
    had === undefined
      ? inputs.length === 0
        ? []
        : [set(['inputs'], inputs)]
      : inputs.slice(had).map((value, at) => ({ place: ['inputs', had + at], value, insert: true }));
  return [...entryEdits, ...inputEdits];
}

/** How the file is written so far. */
function styleOf(json: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ';
  const eol = json.includes('\r\n') ? '\r\n' : '\n';
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol };
}
