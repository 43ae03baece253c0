import { parseUserJson } from '../../app/input.ts';
import { parseExact } from '../../util/exact-json.ts';
import { itemsOf, type Schema, typesOf } from './schema-types.ts';

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The values that a text of the command line can stand for, the likeliest first: in the order of the types that the
 * schema names, the text itself where it names none.
 * @param schema of the argument; undefined where nothing is known of it
 * @param root the document that `$ref` leads into
 * @throws {AppError} `usage` where the text begins as JSON and nothing but JSON can be meant
 */
export function candidates(text: string, name: string, schema: Schema | undefined, root: Schema): unknown[] {
  const types = schema === undefined ? [] : typesOf(schema, root);
  if (schema === undefined) return [text];
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
      return numberIn(text);
    case 'array':
      return /^\s*\[/.test(text) ? jsonIn(text, name, types) : [listIn(text, name, schema, root)];
    case 'object':
      return /^\s*[[{]/.test(text) ? jsonIn(text, name, types) : [];
    default:
      return [];
  }
}

/** A number that JSON carries as it was written. */
function numberIn(text: string): number[] {
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value)) return [];
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? [] : [value];
}

function jsonIn(text: string, name: string, types: readonly string[]): unknown[] {
  try {
    return [parseExact(text)];
  } catch {
    if (!types.includes('string')) parseUserJson(text, name);
    return [];
  }
}

/** `a,b,c`: each of them as the elements of the list are. */
function listIn(text: string, name: string, schema: Schema, root: Schema): unknown[] {
  const items = itemsOf(schema, root);
  if (text.trim() === '') return [];
  return text.split(',').map((each) => candidates(each.trim(), name, items, root)[0] ?? each.trim());
}
