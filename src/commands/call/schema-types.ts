/** JSON types in the words of JSON Schema, in the order in which a schema names them. */
export type Schema = Readonly<Record<string, unknown>>;

const MOST_STEPS = 50;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const memberOf = (value: unknown, name: string): unknown =>
  isSchema(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** What a tool's schema says of its arguments: itself, and what it is made of. */
const partsOf = (root: Schema): unknown[] => [root, ...(Array.isArray(root.allOf) ? root.allOf : [])];

/** The names of the arguments that a tool's schema lists. */
export function argumentNames(root: Schema): string[] {
  return partsOf(root).flatMap((part) => Object.keys(memberOf(part, 'properties') ?? {}));
}

/** The schema of one argument, as far as it stands in the tool's schema itself. */
export function schemaOf(root: Schema, name: string): Schema | undefined {
  const found = partsOf(root)
    .map((part) => memberOf(memberOf(part, 'properties'), name))
    .find(isSchema);
  return found ?? (isSchema(root.additionalProperties) ? root.additionalProperties : undefined);
}

/** The schema of the elements of a list. */
export function itemsOf(schema: Schema, root: Schema): Schema | undefined {
  return unfolded(schema, root)
    .map(({ items }) => items)
    .find(isSchema);
}

/**
 * The types that a schema allows, in its order, through `$ref` within the document, `anyOf`, `oneOf` and `allOf`.
 * Empty where it names none.
 */
export function typesOf(schema: Schema, root: Schema): string[] {
  const named = unfolded(schema, root).flatMap(({ type }) => (Array.isArray(type) ? type : [type]));
  return [...new Set(named.filter((type) => typeof type === 'string'))];
}

/** A schema with those that it is made of, in order. */
function unfolded(schema: Schema, root: Schema): Schema[] {
  const found: Schema[] = [];
  const open: unknown[] = [schema];
  // A schema may refer to itself.
  for (let step = 0; step < MOST_STEPS && open.length > 0; step += 1) {
    const next = open.shift();
    if (!isSchema(next) || found.includes(next)) continue;
    found.push(next);
    const parts = [next.anyOf, next.oneOf, next.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
    open.unshift(...(typeof next.$ref === 'string' ? [pointed(next.$ref, root)] : []), ...parts);
  }
  return found;
}

/** What a JSON Pointer into the same document leads to (RFC 6901); undefined for any other reference. */
function pointed(ref: string, root: Schema): unknown {
  if (!ref.startsWith('#/')) return ref === '#' ? root : undefined;
  const keys = ref
    .slice(2)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce<unknown>((at, key) => (Array.isArray(at) ? at[Number(key)] : memberOf(at, key)), root);
}
