import type { Paint } from './color.ts';
import { clean, cleanLine, pad, width, wrap } from './text.ts';
import { NOTHING, type View } from './view.ts';

/** One line of a key/value list. Texts are cleaned here. */
export interface Pair {
  readonly key: string;
  readonly text: string;
  readonly paint?: Paint;
}

/** Below this, a value stands under its key and not beside it. */
const NARROW = 30;
/** A key takes at most this share of the line; a longer one gets a line for itself. */
const KEY_SHARE = 0.4;
const GAP = 2;

/** An aligned key/value list, at most `columns` wide; values wrap, nothing is cut. */
export function pairLines(pairs: readonly Pair[], columns: number, view: View): string[] {
  const keys = pairs.map(({ key }) => cleanLine(key).trim());
  const most = Math.floor(columns * KEY_SHARE);
  const keyWidth = keys
    .map(width)
    .filter((keyColumns) => keyColumns <= most)
    .reduce((a, b) => Math.max(a, b), 0);
  return pairs.flatMap(({ text, paint }, index) => {
    const key = keys[index] ?? '';
    const value = clean(text).trim() || NOTHING;
    const color = value === NOTHING ? view.palette.dim : (paint ?? ((line: string) => line));
    const beside = columns >= NARROW && width(key) <= keyWidth;
    const indent = columns >= NARROW ? keyWidth + GAP : Math.min(GAP, columns - 1);
    const lines = wrap(value, columns - indent).map((line) =>
      line === '' ? '' : ' '.repeat(indent) + color(line),
    );
    if (!beside) return [...wrap(key, columns).map(view.palette.key), ...lines];
    const [first = '', ...rest] = lines;
    return [view.palette.key(pad(key, keyWidth + GAP)) + first.slice(indent), ...rest];
  });
}
