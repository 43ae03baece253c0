import { pairLines } from '../pairs.ts';
import { cleanLine, wrap } from '../text.ts';
import type { View } from '../view.ts';

/** A titled group of facts. */
export interface PairSection {
  readonly title?: string;
  readonly pairs: readonly (readonly [key: string, text: string])[];
}

/** Groups of aligned key/value lines with a blank line between, as whole lines. Empty groups are left out. */
export function renderPairs(sections: readonly PairSection[], view: View): string {
  const groups = sections.filter(({ pairs }) => pairs.length > 0);
  const texts = groups.map(({ title, pairs }) => {
    const heading = title === undefined ? [] : wrap(cleanLine(title), view.width).map(view.palette.heading);
    const list = pairs.map(([key, text]) => ({ key, text }));
    return [...heading, ...pairLines(list, view.width, view)].map((line) => `${line}\n`).join('');
  });
  return texts.join('\n');
}
