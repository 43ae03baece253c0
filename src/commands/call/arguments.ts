import type { App } from '../../app/app.ts';
import { readArgumentFile, readJsonArgument } from '../../app/input.ts';
import { DOCUMENTED_TOOLS, TOOLS } from '../../client/tools.ts';
import { type AppError, usage } from '../../errors.ts';
import { type Command, fragment, restaurant } from '../../hint.ts';
import { excerpt } from '../../util/format.ts';
import { isObject, type JsonObject, tryParseJson } from '../../util/json.ts';
import { longInteger, parseUserJson, textHint } from '../../util/user-json.ts';

const MAX_SHOWN = 200;

/** Arguments from the command line: JSON values, and texts whose type the tool's schema determines. */
export type Inputs = ReadonlyMap<string, ToolInput>;

type ToolInput = { readonly value: unknown } | { readonly text: string };

/**
 * Parses the words of `call`: `key=text`, `key:=json`, `key=@file`, `key=@@text`, and the value of `--args`.
 * @throws {AppError} `usage` or `bad_input`
 */
export async function readArguments(
  app: App,
  tool: string,
  words: readonly string[],
  json: string | undefined,
): Promise<Inputs> {
  const object = await readJsonArguments(app, json);
  const inputs = new Map<string, ToolInput>(Object.entries(object).map(([key, value]) => [key, { value }]));
  for (const typedWord of words) {
    // `name:Nopa`
    const word = typedWord.replace(/^([A-Za-z]\w*):(?!\/\/)([^=]+)$/s, '$1=$2');
    const [, key = '', typed, text = ''] = /^([^=:]+)(:?)=([\s\S]*)$/.exec(word) ?? [];
    if (key === '' || /^\s*[[{]/.test(word)) throw invalidPair(tool, word, words);
    if (inputs.has(key)) {
      throw usage(`duplicate argument '${key}'`, {
        text: 'set it once',
        command: fragment(word),
      });
    }
    if (typed === ':') {
      const hint = textHint(
        text,
        (plain) => fragment(`${key}=${plain}`),
        (value) => fragment(`${key}:=${value}`),
      );
      inputs.set(key, { value: parseUserJson(text, key, 'usage', hint) });
    } else inputs.set(key, { text: await readText(app, text) });
  }
  return inputs;
}

async function readText(app: App, text: string): Promise<string> {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? readArgumentFile(app, text.slice(1)) : text;
}

/** `call find_restaurant Nopa SF` */
function inOrder(tool: string, words: readonly string[]): Command | undefined {
  if (tool === TOOLS.lookup.definition.name) return restaurant('lookup', ...words);
  const { required = [] } = DOCUMENTED_TOOLS.find(({ name }) => name === tool)?.inputSchema ?? {};
  const names = [required].flat().map(String);
  return names.length === 0 || words.length !== names.length || words.some((word) => /[=[{]/.test(word))
    ? undefined
    : restaurant('call', tool, ...names.map((name, index) => `${name}=${words[index]}`));
}

function invalidPair(tool: string, word: string, words: readonly string[]): AppError {
  const text = excerpt(word, MAX_SHOWN);
  const command = inOrder(tool, words);
  if (command !== undefined) return usage(`'${text}': expected key=value`, { text: 'did you mean', command });
  return usage(
    `'${text}': expected key=value`,
    /^\s*\{/.test(word)
      ? { command: restaurant('call', tool, '--args', text === word ? word : '@file.json') }
      : [{ text: 'see its arguments', command: restaurant('tools', tool) }],
  );
}

async function readJsonArguments(app: App, json: string | undefined): Promise<JsonObject> {
  const value = json === undefined ? {} : await readJsonArgument(app, json, '--args');
  if (isObject(value)) return value;
  throw usage('--args: expected a JSON object', {
    text: 'for example',
    command: fragment('--args', '{"name": "Nopa"}'),
  });
}

export function buildArguments(
  inputs: Inputs,
  read: (text: string, key: string) => unknown = (text) => text,
): JsonObject {
  return Object.fromEntries(
    [...inputs].map(([key, each]) => [key, 'value' in each ? each.value : read(each.text, key)]),
  );
}

export type Schema = Readonly<JsonObject>;

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** The schema itself and its top-level `allOf`, which together list the arguments. */
export const partsOf = (root: Schema): Schema[] => [root, ...[root.allOf ?? []].flat().filter(isObject)];

export function argumentNames(root: Schema): string[] {
  return partsOf(root).flatMap((part) => Object.keys(memberOf(part, 'properties') ?? {}));
}

export function schemaOf(root: Schema, name: string): Schema | undefined {
  const own = partsOf(root)
    .map((part) => memberOf(memberOf(part, 'properties'), name))
    .find(isObject);
  return own ?? (isObject(root.additionalProperties) ? root.additionalProperties : undefined);
}

const alternatives = (schema: Schema): Schema[] =>
  [schema, schema.anyOf, schema.oneOf, schema.allOf].flat().filter(isObject);

export const typesOf = (schema: Schema): unknown[] =>
  alternatives(schema).flatMap(({ type }) => [type ?? []].flat());

/**
 * Yields the values that a text from the command line can mean, most likely first. The validator then chooses the first
 * valid one. If both the text and its JSON value may be valid, the first type in the schema decides; if the schema has
 * no type, as with `$ref`, the text is first.
 * @param schema of the argument, if the tool's schema contains it
 */
export function* possibleValues(text: string, schema: Schema = {}): Generator<unknown> {
  const json = readExact(text);
  const values = json === undefined ? [] : [json];
  const [type = 'string', ...others] = typesOf(schema);
  const mayBeList = [type, ...others].includes('array') || alternatives(schema).some(({ $ref }) => $ref);
  const lists = () => (mayBeList ? possibleLists(text, json, schema) : []);
  if (type === 'array') {
    // A list of one object is meant only if the object alone is not valid.
    if (isObject(json)) yield json;
    yield* lists();
  }
  // Many services round a long integer, but not a text.
  if (type === 'string' || (typeof json === 'bigint' && others.includes('string'))) yield text;
  yield* values;
  yield text;
  yield* lists();
}

function possibleLists(text: string, json: unknown, schema: Schema): unknown[][] {
  if (/^\s*[[{]/.test(text)) return isObject(json) ? [[json]] : [];
  if (text.trim() === '') return [[]];
  const texts = text.split(',').map((part) => part.trim());
  const values = texts.map((part) => {
    const value = readExact(part);
    return value === undefined ? part : value;
  });
  const items = alternatives(schema).find((part) => isObject(part.items))?.items;
  const [type = 'string'] = isObject(items) ? typesOf(items) : [];
  return type === 'string' ? [texts, values] : [values, texts];
}

/** Parses JSON; undefined for other text, and for a number other than an integer that would lose digits. */
function readExact(text: string): unknown {
  const integer = longInteger(text);
  if (integer !== undefined) return integer;
  const value = tryParseJson(text);
  if (typeof value !== 'number') return value;
  const isKept = Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isKept && text === text.trim() ? value : undefined;
}
