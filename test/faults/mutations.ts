import fc from 'fast-check';
import { KEY } from './fault.ts';

const json = (value: unknown): string => JSON.stringify(value ?? null);
const wordsOf = (text: string): string[] => text.trim().split(/\s+/);

const KEYS = [
  ...wordsOf(`
    jsonrpc id result error method content type text isError structuredContent resultType status results
    total_matches service_id name coordinates code message data supported __proto__ constructor prototype
    toString toJSON then length Result ID a.b __proto__.x`),
  ...['', KEY, '\u0000', '\u001b[2J', '\u202e'],
].map(json);

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const LEAVES = [
  ...wordsOf(String.raw`
    null true false 0 -0 1 -1 1.5 "" "x" [] {} "1" "ok" "error" "not_found" "plan_required" "input_required"
    9007199254740993 1e400 -1e400 5e-400 1E+2 0.1000000000000000055511151231257827
    -32601 -32602 -32000 -32020 -32022 "2026-07-28" ["2026-07-28"]
    "\ud800" "\udfff\ud800" "\u0000" "\u001b]0;x\u0007" "\u202e" "\u2028" "😀" "\\u"
    NaN undefined 'x' 01 +1 .5 1. "\x" [1,] {"a"}`),
  ...['"\n"', `1${'0'.repeat(400)}`, deep(20), deep(190), deep(300), `{"a":${deep(60)}}`],
  ...[`"${'x'.repeat(3000)}"`, json(KEY), `"Bearer ${KEY}"`],
];

/** A text in a value that `textOf` inserts unquoted into its JSON, be it valid or not. */
export const unquoted = (text: string): string => `@${text}@`;

/** Returns a value as JSON. */
export function textOf(value: unknown): string {
  let text = json(value);
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/"@((?:[^"\\]|\\.)*)@"/g, (_, quoted) => JSON.parse(`"${quoted}"`));
  }
  return text;
}

/** Replacements of a value, made from it, its key and another one (both with a colon, or empty in a list), and any text. */
type Kind = 'replace' | 'drop' | 'repeat' | 'insert' | 'rename' | 'list' | 'object';
const REPLACEMENTS: Readonly<
  Record<Kind, (value: string, key: string, other: string, leaf: string) => string | undefined>
> = {
  replace: (_value, _key, _other, leaf) => leaf,
  drop: () => undefined,
  repeat: (value, key, _other, leaf) => `${value},${key}${leaf}`,
  insert: (value, _key, other, leaf) => `${value},${other}${leaf}`,
  rename: (value, _key, other, leaf) => `${leaf},${other}${value}`,
  list: (value) => `[${value}]`,
  object: (value, _key, other) => `{${other || '"a":'}${value}}`,
};

/** One change. `at` selects a value, `pick` its replacement. */
export const change = fc.record({
  kind: fc.constantFrom(...(Object.keys(REPLACEMENTS) as Kind[])),
  at: fc.nat(1000),
  pick: fc.nat(1000),
});
export type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const some = (choices: readonly string[], pick: number): string => choices[pick % choices.length] ?? 'null';

/** Returns a copy of a value in which at most one value is changed. */
export function changed(root: unknown, { kind, at, pick }: Change): unknown {
  const text = json(root);
  // There are about as many values as these characters.
  let place = at % (text.match(/[[{:,]/g)?.length ?? 1);
  return JSON.parse(text, function (this: unknown, key: string, value: unknown) {
    place -= 1;
    if (place !== -1) return value;
    const [own, other] = Array.isArray(this) ? ['', ''] : [`${json(key)}:`, `${some(KEYS, pick)}:`];
    const replacement = REPLACEMENTS[kind](textOf(value), own, other, some(LEAVES, pick >> 3));
    return replacement === undefined ? undefined : unquoted(replacement);
  });
}
