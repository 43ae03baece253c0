/** The name with the fewest edits from `word` (Levenshtein), the first of equals; undefined where there are no names. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const edits = distance(word.toLowerCase().slice(0, 64), name.toLowerCase().slice(0, 64));
    if (edits < least) [best, least] = [name, edits];
  }
  return best;
}

function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...from.split('').entries()]) {
    const next = [line + 1];
    for (const [column, other] of to.split('').entries()) {
      const swap = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(swap, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
