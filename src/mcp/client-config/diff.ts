/** Lines that are compared one by one; longer changes are shown as one block. */
const MOST = 500;

/** The lines that an edit took (`- `) and gave (`+ `), in their order. */
export function changedLines(before: string, after: string): string[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  const shorter = Math.min(old.length, now.length) - head;
  while (tail < shorter && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  return compare(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
}

function compare(old: readonly string[], now: readonly string[]): string[] {
  if (old.length > MOST || now.length > MOST) return [...old.map(taken), ...now.map(given)];
  const common = commonLengths(old, now);
  const changes: string[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && common(i + 1, j) >= common(i, j + 1))) {
      changes.push(taken(old[i] ?? ''));
      i += 1;
    } else {
      changes.push(given(now[j] ?? ''));
      j += 1;
    }
  }
  return changes;
}

/** Length of the longest common subsequence of what follows line `i` of one and `j` of the other. */
function commonLengths(old: readonly string[], now: readonly string[]): (i: number, j: number) => number {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const same = old[i] === now[j];
      lengths[i * width + j] = same ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}

const taken = (line: string): string => `- ${line}`;
const given = (line: string): string => `+ ${line}`;
const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));
