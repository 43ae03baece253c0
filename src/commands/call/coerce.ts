import { parseExact } from '../../util/exact-json.ts';
import { parseUserJson } from '../../util/user-json.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** Most schemas visited for the types of one argument: a schema may refer to itself. */
const MAX_VISITED = 50;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

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
  const types = typesOf(schema, root);
  if (types.length > 0) return types.flatMap((type) => readAs(type, text, name, schema, root, types));
  const literals = ['boolean', 'number', 'null', ...(/^\s*[[{]/.test(text) ? ['object'] : [])];
  return [text, ...literals.flatMap((type) => readAs(type, text, name, schema, root, ['string']))];
}

function readAs(
  type: string,
  text: string,
  name: string,
  schema: Schema,
  root: Schema,
  types: readonly string[],
): unknown[] {
  switch (type) {
    case 'string':
      return [text];
    case 'boolean':
      return text === 'true' || text === 'false' ? [text === 'true'] : [];
    case 'null':
      return text === 'null' ? [null] : [];
    case 'integer':
    case 'number':
      return readNumber(text);
    case 'array':
      return /^\s*\[/.test(text) ? readJson(text, name, types) : [readList(text, name, schema, root)];
    case 'object':
      return /^\s*[[{]/.test(text) ? readJson(text, name, types) : [];
    default:
      return [];
  }
}

/** Reads a number that survives as it was written. */
function readNumber(text: string): number[] {
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value)) return [];
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? [] : [value];
}

function readJson(text: string, name: string, types: readonly string[]): unknown[] {
  try {
    return [parseExact(text)];
  } catch {
    if (!types.includes('string')) parseUserJson(text, name);
    return [];
  }
}

/** Reads `a,b,c`, each item by the schema of the list's items. */
function readList(text: string, name: string, schema: Schema, root: Schema): unknown[] {
  if (text.trim() === '') return [];
  const items = expand(schema, root)
    .map((part) => part.items)
    .find(isSchema);
  return text.split(',').map((each) => possibleValues(each.trim(), name, items, root)[0] ?? each.trim());
}

/** Returns the types that a schema allows, in its order; empty if it names none. */
function typesOf(schema: Schema, root: Schema): string[] {
  const named = expand(schema, root).flatMap(({ type }) => (Array.isArray(type) ? type : [type]));
  return [...new Set(named.filter((type) => typeof type === 'string'))];
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
