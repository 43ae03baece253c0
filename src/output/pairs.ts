import { clean, cleanLine, pad, width, wrap } from '../util/text.ts';
import { EMPTY } from './presentation.ts';
import type { Paint, View } from './style.ts';

export interface Pair {
  readonly key: string;
  readonly text: string;
  readonly paint?: Paint;
}

/** Maximum share of the line for keys; a longer key is printed on a separate line. */
const KEY_SHARE = 0.4;
const GAP = 2;

/** Renders a key/value list at most `columns` wide, aligned if there is room; values wrap and are never cut. */
export function pairLines(pairs: readonly Pair[], columns: number, view: View): string[] {
  const limit = Math.floor(columns * KEY_SHARE);
  const keyWidth = maxWidth(pairs.map(({ key }) => keyText(key)).filter((key) => width(key) <= limit));
  return pairs.flatMap((pair) => onePair(pair, keyWidth, columns, view));
}

function onePair({ key, text, paint }: Pair, keyWidth: number, columns: number, { palette }: View): string[] {
  const value = clean(text).trim() || EMPTY;
  const color: Paint = value === EMPTY ? palette.dim : (paint ?? ((line) => line));
  const aligned = Math.min(keyWidth + GAP, columns - 1);
  const indent = indentOf(value, [aligned, Math.min(GAP, columns - 1), 0], columns);
  const [first = '', ...rest] = wrap(value, columns - indent).map(color);
  const below = indented(rest, indent);
  const name = keyText(key);
  if (indent === aligned && width(name) <= keyWidth)
    return [palette.key(pad(name, indent)) + first, ...below];
  return [...wrap(name, columns).map(palette.key), ' '.repeat(indent) + first, ...below];
}

function indentOf(value: string, indents: readonly number[], columns: number): number {
  const widest = maxWidth(value.split(/\s/));
  return indents.find((indent) => widest <= columns - indent) ?? indents[0] ?? 0;
}

const keyText = (key: string): string => cleanLine(key).trim();

export const maxWidth = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, width(text)), 0);

export const indented = (lines: readonly string[], columns: number): string[] =>
  lines.map((line) => (line === '' ? '' : ' '.repeat(columns) + line));

export interface PairSection {
  readonly title?: string;
  /** Remarks follow the texts and are aligned with each other. */
  readonly pairs: readonly (readonly [key: string, text: string, remark?: string])[];
}

export function renderPairs(sections: readonly PairSection[], view: View): string {
  const groups = sections.filter(({ pairs }) => pairs.length > 0);
  const texts = groups.map(({ title, pairs }) => {
    const heading = title === undefined ? [] : wrap(cleanLine(title), view.width).map(view.palette.heading);
    const list = withRemarks(pairs, view);
    return [...heading, ...pairLines(list, view.width, view)].map((line) => `${line}\n`).join('');
  });
  return texts.join('\n');
}

const MAX_ALIGNED_WIDTH = 24;

function withRemarks(pairs: PairSection['pairs'], { palette }: View): Pair[] {
  const texts = pairs.flatMap(([, text, remark]) => (remark === undefined ? [] : [cleanLine(text)]));
  const aligned = maxWidth(texts.filter((text) => width(text) <= MAX_ALIGNED_WIDTH));
  return pairs.map(([key, text, remark]) => {
    if (remark === undefined) return { key, text };
    const paint: Paint = (line) =>
      line.endsWith(remark) ? line.slice(0, -remark.length) + palette.dim(remark) : line;
    return { key, text: `${pad(cleanLine(text), aligned)}  ${remark}`, paint };
  });
}
