import type { App } from '../../app/app.ts';
import { readArgumentFile, readJsonArgument } from '../../app/input.ts';
import { AppError } from '../../errors.ts';
import { isRecord } from '../../output/records.ts';
import { parseExactOrNone, rawNumber } from '../../util/exact-json.ts';
import { excerpt } from '../../util/excerpt.ts';
import { shellWord } from '../../util/shell.ts';
import { keepDigits, parseUserJson, textHint } from '../../util/user-json.ts';

/** Maximum number of characters of a word that an error repeats. */
const MAX_SHOWN = 200;

/** Arguments from the command line: JSON values, and texts whose type the tool's schema decides. */
export type GivenArguments = ReadonlyMap<string, Given>;

/** `json`: the text of a value, where it is known. */
export type Given =
  | { readonly value: unknown; readonly json?: string | undefined }
  | { readonly text: string };

/**
 * Parses the words of `call`: `key=text`, `key:=json`, `key=@file`, `key=@@text`, and the value of `--args`.
 * @throws {AppError} `usage` or `bad_input`
 */
export async function readArguments(
  app: App,
  tool: string,
  words: readonly string[],
  json: string | undefined,
): Promise<GivenArguments> {
  const object = await readJsonArguments(app, json);
  const given = new Map<string, Given>(
    Object.entries(object).map(([key, value]) => [key, { value, json: rawNumber(object, key) }]),
  );
  for (const word of words) {
    const [, key = '', typed, text = ''] = /^([^=:]+)(:?)=([\s\S]*)$/.exec(word) ?? [];
    if (key === '' || /^\s*[[{]/.test(word)) throw notAPair(tool, word);
    if (given.has(key)) {
      throw new AppError('usage', `argument '${key}' is given twice`, {
        hint: `give each argument once: ${shellWord(word)}`,
      });
    }
    if (typed === ':') {
      const hint = textHint(
        text,
        (plain) => shellWord(`${key}=${plain}`),
        (value) => shellWord(`${key}:=${value}`),
      );
      given.set(key, { value: parseUserJson(text, key, 'usage', hint), json: text });
    } else given.set(key, { text: readText(app, text) });
  }
  return given;
}

/** Expands `@file`; `@@` is a literal `@`. */
function readText(app: App, text: string): string {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? readArgumentFile(app, text.slice(1)) : text;
}

function notAPair(tool: string, word: string): AppError {
  const call = `restaurant call ${shellWord(tool)}`;
  const shown = excerpt(word, MAX_SHOWN);
  return new AppError('usage', `'${shown}': expected key=value`, {
    hint: /^\s*\{/.test(word)
      ? `${call} --args ${shown === word ? shellWord(word) : '@file.json'}`
      : `${call} key=text key:=3; restaurant tools ${shellWord(tool)} shows the arguments`,
  });
}

async function readJsonArguments(app: App, json: string | undefined): Promise<Record<string, unknown>> {
  const value = json === undefined ? {} : await readJsonArgument(app, json, '--args');
  if (isRecord(value)) return value;
  throw new AppError('usage', '--args: expected a JSON object', { hint: `--args '{"name": "Nopa"}'` });
}

/** Builds the object to send. @param read turns a text into a value; default: sends it as text */
export function buildArguments(
  given: GivenArguments,
  read: (text: string, key: string) => unknown = (text) => text,
): Record<string, unknown> {
  const args = Object.fromEntries(
    [...given].map(([key, each]) => [key, 'value' in each ? each.value : read(each.text, key)]),
  );
  for (const [key, each] of given) if ('value' in each) keepDigits(args, key, each.json);
  return args;
}

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** Maximum number of schemas visited for the types of one argument: a schema may refer to itself. */
const MAX_VISITED = 50;

const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** The schema itself and its top-level `allOf`, which together list the arguments. */
const partsOf = (root: Schema): unknown[] => [root, ...(Array.isArray(root.allOf) ? root.allOf : [])];

/** Returns the names of the arguments that a tool's schema lists. */
export function argumentNames(root: Schema): string[] {
  return partsOf(root).flatMap((part) => Object.keys(memberOf(part, 'properties') ?? {}));
}

/** Returns the schema of one argument, where the tool's schema contains it directly. */
export function schemaOf(root: Schema, name: string): Schema | undefined {
  const found = partsOf(root)
    .map((part) => memberOf(memberOf(part, 'properties'), name))
    .find(isRecord);
  return found ?? (isRecord(root.additionalProperties) ? root.additionalProperties : undefined);
}

/** Types of a text whose schema names none, likeliest first. */
const ANY_TYPE: readonly unknown[] = ['string', 'boolean', 'number', 'null', 'object', 'array'];

/**
 * Returns the values that a text from the command line can mean, likeliest first: in the order of the schema's types;
 * the text itself where the schema names no type.
 * @param schema of the argument; undefined if unknown
 * @param root the document that `$ref` points into
 * @throws {AppError} `usage` for text that starts as JSON, is not JSON and cannot be a string
 */
export function possibleValues(
  text: string,
  name: string,
  schema: Schema | undefined,
  root: Schema,
): unknown[] {
  if (schema === undefined) return [text];
  const parts = expand(schema, root);
  const named = parts.flatMap(({ type }) => [type ?? []].flat());
  const types = named.length > 0 ? new Set(named) : new Set(ANY_TYPE);
  const isJson = /^\s*[[{]/.test(text);
  const isList = types.has('array') && named.length > 0 && !/^\s*\[/.test(text);
  const mustBeJson =
    isJson && !types.has('string') && (types.has('object') || (types.has('array') && !isList));
  const value = readJson(text, mustBeJson ? name : undefined);
  return [...types].flatMap((type) => {
    if (type === 'string') return [text];
    if (type === 'array' && isList && !(isJson && types.has('object')))
      return [readList(text, name, parts, root)];
    return value !== undefined && typeOf(value) === (type === 'integer' ? 'number' : type) ? [value] : [];
  });
}

/** Returns the type of a JSON value as JSON Schema names it. */
const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Parses JSON; undefined for a number that would change, and for other text unless an error names it. */
function readJson(text: string, name: string | undefined): unknown {
  const value = name === undefined ? parseExactOrNone(text) : parseUserJson(text, name);
  if (typeof value !== 'number') return value;
  const isKept = Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isKept && text === text.trim() ? value : undefined;
}

/** Reads `a,b,c`, each item by the schema of the list's items. */
function readList(text: string, name: string, parts: readonly Schema[], root: Schema): unknown[] {
  if (text.trim() === '') return [];
  const items = parts.map((part) => part.items).find(isRecord);
  return text.split(',').map((each) => possibleValues(each.trim(), name, items, root)[0] ?? each.trim());
}

/** Returns a schema and those it is composed of (`$ref` within the document, `anyOf`, `oneOf`, `allOf`), in order. */
function expand(schema: Schema, root: Schema): Schema[] {
  const found: Schema[] = [];
  let open: unknown[] = [schema];
  for (let visited = 0; visited < MAX_VISITED && open.length > 0; visited += 1) {
    const [next, ...rest] = open;
    open = rest;
    if (!isRecord(next) || found.includes(next)) continue;
    found.push(next);
    const parts = [next.anyOf, next.oneOf, next.allOf].flatMap((list) =>
      Array.isArray(list) ? list.slice(0, MAX_VISITED) : [],
    );
    open = [...(typeof next.$ref === 'string' ? [resolvePointer(next.$ref, root)] : []), ...parts, ...rest];
  }
  return found;
}

/** Resolves a JSON Pointer into the same document (RFC 6901); undefined for any other reference. */
function resolvePointer(ref: string, root: Schema): unknown {
  if (!ref.startsWith('#/')) return ref === '#' ? root : undefined;
  const keys = ref
    .slice(2)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce<unknown>((at, key) => (Array.isArray(at) ? at[Number(key)] : memberOf(at, key)), root);
}
