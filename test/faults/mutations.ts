import fc from 'fast-check';
import { KEY } from './fault.ts';

/** JSON as text: keys may be repeated, and a leaf is any text. The keys of a list are empty. */
export type Node = string | { readonly isList: boolean; readonly items: readonly Item[] };
type Item = readonly [key: string, value: Node];

const list = (items: readonly Item[]): Node => ({ isList: true, items });
const object = (items: readonly Item[]): Node => ({ isList: false, items });

/** Returns the tree of a value, in which texts that `holes` contains are replaced by other trees. */
export function nodeOf(value: unknown, holes: ReadonlyMap<unknown, Node> = new Map()): Node {
  const hole = holes.get(value);
  if (hole !== undefined) return hole;
  if (Array.isArray(value)) return list(value.map((each) => ['', nodeOf(each, holes)]));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return object(Object.entries(value).map(([key, each]) => [JSON.stringify(key), nodeOf(each, holes)]));
}

export function textOf(node: Node): string {
  if (typeof node === 'string') return node;
  if (node.isList) return `[${node.items.map(([, value]) => textOf(value)).join(',')}]`;
  return `{${node.items.map(([key, value]) => `${key}:${textOf(value)}`).join(',')}}`;
}

const wordsOf = (text: string): string[] => text.trim().split(/\s+/);

const KEYS = [
  ...wordsOf(`
    jsonrpc id result error method content type text isError structuredContent resultType status results
    total_matches service_id name coordinates code message data supported __proto__ constructor prototype
    toString toJSON then length Result ID a.b __proto__.x`),
  ...['', KEY, '\u0000', '\u001b[2J', '\u202e'],
].map((key) => JSON.stringify(key));

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const LEAVES = [
  ...wordsOf(String.raw`
    null true false 0 -0 1 -1 1.5 "" "x" [] {} "1" "ok" "error" "not_found" "plan_required" "input_required"
    9007199254740993 1e400 -1e400 5e-400 1E+2 0.1000000000000000055511151231257827
    -32601 -32602 -32000 -32020 -32022 "2026-07-28" ["2026-07-28"]
    "\ud800" "\udfff\ud800" "\u0000" "\u001b]0;x\u0007" "\u202e" "\u2028" "😀" "\\u"
    NaN undefined 'x' 01 +1 .5 1. "\x" [1,] {"a"}`),
  ...['"\n"', `1${'0'.repeat(400)}`, deep(20), deep(190), deep(300), `{"a":${deep(60)}}`],
  ...[`"${'x'.repeat(3000)}"`, JSON.stringify(KEY), `"Bearer ${KEY}"`],
];

/** One change of a tree. `at` selects the node, `pick` its replacement. */
export const change = fc.record({
  kind: fc.constantFrom('replace', 'drop', 'repeat', 'rename', 'swap', 'wrap', 'insert'),
  at: fc.nat(1000),
  pick: fc.nat(1000),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** Generates no element in half of the cases, otherwise one to three. */
export const mostlyNone = <T>(each: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.oneof(fc.constant<T[]>([]), fc.array(each, { minLength: 1, maxLength: 3 }));

const some = (choices: readonly string[], pick: number): string => choices[pick % choices.length] ?? 'null';

/** Returns a changed copy of a tree. */
export function changed(root: Node, { kind, at, pick }: Change): Node {
  let place = at % count(root);
  const visit = (node: Node): Node => {
    if (place-- === 0) return apply(node, kind, pick);
    return typeof node === 'string'
      ? node
      : { ...node, items: node.items.map(([key, value]) => [key, visit(value)]) };
  };
  return visit(root);
}

const count = (node: Node): number =>
  typeof node === 'string' ? 1 : node.items.reduce((total, [, value]) => total + count(value), 1);

function apply(node: Node, kind: Change['kind'], pick: number): Node {
  if (kind === 'wrap') return pick % 2 === 0 ? list([['', node]]) : object([[some(KEYS, pick), node]]);
  if (typeof node === 'string' || kind === 'replace') return some(LEAVES, pick);
  const at = pick % Math.max(node.items.length, 1);
  const [item, next] = node.items.slice(at);
  if (item === undefined) return node;
  const replacements: Readonly<Record<typeof kind, readonly Item[]>> = {
    drop: [],
    repeat: [item, item],
    rename: [[some(KEYS, pick), item[1]]],
    insert: [item, [some(KEYS, pick >> 3), some(LEAVES, pick)]],
    swap: next === undefined ? [item] : [next, item],
  };
  const replaced = kind === 'swap' ? 2 : 1;
  return { ...node, items: node.items.toSpliced(at, replaced, ...replacements[kind]) };
}
