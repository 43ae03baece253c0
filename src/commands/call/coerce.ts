import { parseExact } from '../../util/exact-json.ts';
import { parseUserJson } from '../../util/user-json.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** Most schemas visited for the types of one argument: a schema may refer to itself. */
const MAX_VISITED = 50;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const memberOf = (value: unknown, name: string): unknown =>
  isSchema(value) && Object.hasOwn(value, name) ? value[name] : undefined;

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
    .find(isSchema);
  return found ?? (isSchema(root.additionalProperties) ? root.additionalProperties : undefined);
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
  const value = readJson(text, isJson && !types.has('string') ? name : undefined);
  return [...types].flatMap((type) => {
    if (type === 'string') return [text];
    if (type === 'array' && !isJson && named.length > 0) return [readList(text, name, parts, root)];
    return value !== undefined && typeOf(value) === (type === 'integer' ? 'number' : type) ? [value] : [];
  });
}

/** Returns the type of a JSON value as JSON Schema names it. */
const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Parses JSON; undefined for other text, unless an error needs its name, and for a number that would change. */
function readJson(text: string, name: string | undefined): unknown {
  try {
    const value = name === undefined ? parseExact(text) : parseUserJson(text, name);
    if (typeof value !== 'number') return value;
    const isKept = Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
    return isKept && text === text.trim() ? value : undefined;
  } catch (error) {
    if (name !== undefined) throw error;
    return undefined;
  }
}

/** Reads `a,b,c`, each item by the schema of the list's items. */
function readList(text: string, name: string, parts: readonly Schema[], root: Schema): unknown[] {
  if (text.trim() === '') return [];
  const items = parts.map((part) => part.items).find(isSchema);
  return text.split(',').map((each) => possibleValues(each.trim(), name, items, root)[0] ?? each.trim());
}

/** Returns a schema and those it is composed of (`$ref` within the document, `anyOf`, `oneOf`, `allOf`), in order. */
function expand(schema: Schema, root: Schema): Schema[] {
  const found: Schema[] = [];
  let open: unknown[] = [schema];
  for (let visited = 0; visited < MAX_VISITED && open.length > 0; visited += 1) {
    const [next, ...rest] = open;
    open = rest;
    if (!isSchema(next) || found.includes(next)) continue;
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
