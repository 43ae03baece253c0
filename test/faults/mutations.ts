import fc from 'fast-check';
import { KEY } from './fault.ts';

/** JSON as text: keys may be repeated, and a leaf is any text. */
export type Node = { members: [key: string, value: Node][] } | { elements: Node[] } | string;

/** Returns the tree of a value. */
export function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return { elements: value.map(nodeOf) };
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return { members: Object.entries(value).map(([key, member]) => [JSON.stringify(key), nodeOf(member)]) };
}

export function textOf(node: Node): string {
  if (typeof node === 'string') return node;
  if ('elements' in node) return `[${node.elements.map(textOf).join(',')}]`;
  return `{${node.members.map(([key, value]) => `${key}:${textOf(value)}`).join(',')}}`;
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
  '"\n"',
  `1${'0'.repeat(400)}`,
  deep(20),
  deep(190),
  deep(300),
  `{"a":${deep(60)}}`,
  `"${'x'.repeat(3000)}"`,
  JSON.stringify(KEY),
  `"Bearer ${KEY}"`,
];

/** One change of a tree. `at` selects the node, `pick` its replacement. */
interface Change {
  readonly kind: 'replace' | 'drop' | 'repeat' | 'rename' | 'swap' | 'wrap' | 'insert';
  readonly at: number;
  readonly pick: number;
}

export const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('replace', 'drop', 'repeat', 'rename', 'swap', 'wrap', 'insert'),
  at: fc.nat(1000),
  pick: fc.nat(1000),
});

/** Generates no element in half of the cases, otherwise one to three. */
export const mostlyNone = <T>(each: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.oneof(fc.constant<T[]>([]), fc.array(each, { minLength: 1, maxLength: 3 }));

const some = (list: readonly string[], pick: number): string => list[pick % list.length] ?? 'null';

/** Returns a changed copy of a tree. */
export function changed(root: Node, { kind, at, pick }: Change): Node {
  const total = count(root);
  let place = at % total;
  const visit = (node: Node): Node => {
    if (place-- === 0) return apply(node, kind, pick);
    if (typeof node === 'string') return node;
    if ('elements' in node) return { elements: node.elements.map(visit) };
    return { members: node.members.map(([key, value]) => [key, visit(value)]) };
  };
  return visit(root);
}

function count(node: Node): number {
  if (typeof node === 'string') return 1;
  const inner = 'elements' in node ? node.elements : node.members.map(([, value]) => value);
  return inner.reduce((total, each) => total + count(each), 1);
}

function apply(node: Node, kind: Change['kind'], pick: number): Node {
  if (kind === 'wrap') return pick % 2 === 0 ? { elements: [node] } : { members: [[some(KEYS, pick), node]] };
  if (typeof node === 'string' || kind === 'replace') return some(LEAVES, pick);
  return 'elements' in node
    ? { elements: edited(node.elements, kind, pick, () => some(LEAVES, pick)) }
    : { members: edited(node.members, kind, pick, ([key, value]) => editedMember(key, value, kind, pick)) };
}

function editedMember(key: string, value: Node, kind: Change['kind'], pick: number): [string, Node] {
  return kind === 'rename'
    ? [some(KEYS, pick), value]
    : [kind === 'insert' ? some(KEYS, pick >> 3) : key, some(LEAVES, pick)];
}

/** Returns a copy of a list with one item dropped, repeated, swapped with the next, replaced, or followed by a new one. */
function edited<T>(items: readonly T[], kind: Change['kind'], pick: number, other: (item: T) => T): T[] {
  const at = items.length === 0 ? 0 : pick % items.length;
  const item = items[at];
  if (item === undefined) return [...items];
  const next = items[at + 1];
  const between: T[] =
    kind === 'drop'
      ? []
      : kind === 'repeat'
        ? [item, item]
        : kind === 'insert'
          ? [item, other(item)]
          : kind === 'swap' && next !== undefined
            ? [next, item]
            : [other(item)];
  return [
    ...items.slice(0, at),
    ...between,
    ...items.slice(at + (kind === 'swap' && next !== undefined ? 2 : 1)),
  ];
}
