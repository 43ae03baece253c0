import { type Advice, again } from '../hint.ts';

const MAX_LENGTH = 64;

/** Counts insertions, deletions, substitutions and swaps of neighbors (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const substitution = (last[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      const shift = Math.min(last[column] ?? 0, current[column - 1] ?? 0) + 1;
      const isSwap =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const swap = isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(substitution, shift, swap));
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}

function closeness(word: string, name: string): number | undefined {
  if (word === '' || name === '') return undefined;
  const shorter = Math.min(word.length, name.length);
  const isPrefix = shorter >= 3 && (name.startsWith(word) || word.startsWith(name));
  const edits = editDistance(word, name);
  if (isPrefix) return Math.min(edits, 1);
  const maxEdits = Math.max(1, Math.floor(shorter / 3));
  // A different letter in a short word makes a different word: map is not mcp.
  const isOtherWord =
    shorter <= 3 && word.length === name.length && [...word].sort().join() !== [...name].sort().join();
  return edits > maxEdits || isOtherWord ? undefined : edits;
}

function ranked(word: string, names: readonly string[]): { name: string; edits: number }[] {
  const normalize = (text: string): string => text.toLowerCase().slice(0, MAX_LENGTH);
  return names
    .flatMap((name) => {
      const edits = closeness(normalize(word), normalize(name));
      return edits === undefined ? [] : [{ name, edits }];
    })
    .sort((one, other) => one.edits - other.edits);
}

export const nearest = (word: string, names: readonly string[], most = 3): string[] =>
  ranked(word, names)
    .slice(0, most)
    .map(({ name }) => name);

/** Returns the names that are equally near, and nearer than all others. */
export function nearestOnes(word: string, names: readonly string[]): string[] {
  const all = ranked(word, names);
  return all.filter(({ edits }) => edits === all[0]?.edits).map(({ name }) => name);
}

/** Returns the typed line with the nearest name as its first operand; undefined if it is one of them, or none is near. */
export function withNearest(
  [word = '', ...others]: readonly string[],
  names: readonly string[],
): Advice | undefined {
  const [near] = names.includes(word) ? [] : nearest(word, names, 1);
  return near === undefined ? undefined : { command: again({}, { operands: [near, ...others] }) };
}

export function didYouMean(word: string, names: readonly string[], most?: number): string {
  const near = nearest(word, names, most);
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : '';
}

export function suggestion(word: string, names: readonly string[], most?: number): Advice[] {
  const text = didYouMean(word, names, most);
  return text === '' ? [] : [{ text }];
}
