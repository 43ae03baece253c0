import type { Paint } from '../color.ts';
import { type Pair, pairLines } from '../pairs.ts';
import { cleanLine, width, wrap } from '../text.ts';
import type { View } from '../view.ts';

/** A titled group of facts. */
export interface PairSection {
  readonly title?: string;
  /** A remark stands behind the text, below those of the other lines. */
  readonly pairs: readonly (readonly [key: string, text: string, remark?: string])[];
}

/** Groups of aligned key/value lines with a blank line between, as whole lines. Empty groups are left out. */
export function renderPairs(sections: readonly PairSection[], view: View): string {
  const groups = sections.filter(({ pairs }) => pairs.length > 0);
  const texts = groups.map(({ title, pairs }) => {
    const heading = title === undefined ? [] : wrap(cleanLine(title), view.width).map(view.palette.heading);
    const list = withRemarks(pairs, view);
    return [...heading, ...pairLines(list, view.width, view)].map((line) => `${line}\n`).join('');
  });
  return texts.join('\n');
}

/** A longer text does not push the remarks of the others aside. */
const MAX_ALIGNED_WIDTH = 24;

function withRemarks(pairs: PairSection['pairs'], { palette }: View): Pair[] {
  const texts = pairs
    .filter(([, , remark]) => remark !== undefined)
    .map(([, text]) => width(cleanLine(text)));
  const most = texts.filter((own) => own <= MAX_ALIGNED_WIDTH).reduce((a, b) => Math.max(a, b), 0);
  return pairs.map(([key, text, remark]) => {
    if (remark === undefined) return { key, text };
    const value = cleanLine(text);
    const paint: Paint = (line) =>
      line.endsWith(remark) ? line.slice(0, -remark.length) + palette.dim(remark) : line;
    return { key, text: `${value.padEnd(value.length + most - width(value))}  ${remark}`, paint };
  });
}
