import { withNumberTexts } from '../../exact-json.ts';
import { label } from '../label.ts';
import type { Presentation } from '../present.ts';
import { isRecord, pick } from '../records.ts';
import { cleanLine, width, wrap } from '../text.ts';
import { glyphs, type View } from '../view.ts';
import { entryLines } from './data.ts';
import { inline } from './inline.ts';
import { type Known, type Sorted, sortFields } from './kinds.ts';

/** One restaurant that was looked up. */
export interface LookupItem {
  readonly restaurantId: string;
  /** As the service gave it; the fields are not documented. */
  readonly output: Record<string, unknown>;
}

/** Running text is not made wider than this. */
const READING_WIDTH = 88;

/**
 * Restaurants as cards, without a final line break: grade and name, cuisine and price, the summary, then all other
 * fields. With `columns` only those. Nothing is cut.
 */
export function renderLookup(
  items: readonly LookupItem[],
  { columns }: { columns?: readonly string[] | undefined },
  view: View,
): string {
  const rule = view.palette.dim(glyphs(view).rule.repeat(Math.min(view.width, READING_WIDTH)));
  const cards = items.map(({ restaurantId, output }) => {
    const shown = columns === undefined ? output : pick(output, columns);
    return card(restaurantId, sortFields(withNumberTexts(shown)), view).join('\n');
  });
  return cards.join(`\n\n${rule}\n\n`);
}

function card(restaurantId: string, { known, rest }: Sorted, view: View): string[] {
  const named = known.name !== undefined;
  const hasId = !named || rest.some(([, value]) => value === restaurantId);
  const facts = entryLines(hasId ? rest : [...rest, ['restaurant_id', restaurantId]], view.width, view);
  const summary =
    known.summary === undefined ? [] : wrap(inline(known.summary.value), Math.min(view.width, READING_WIDTH));
  const head = [
    ...heading(known.grade, named ? inline(known.name?.value) : restaurantId, view),
    ...subheading(known, view),
  ];
  return [head, summary, facts]
    .filter((part) => part.length > 0)
    .flatMap((part, index) => (index === 0 ? part : ['', ...part]));
}

/** Grade and name in one line; a long name goes on below itself. */
function heading(grade: Known | undefined, name: string, view: View): string[] {
  const letter = grade === undefined ? '' : cleanLine(inline(grade.value)).trim();
  const short = letter !== '' && width(letter) <= view.width >> 2;
  const indent = short ? width(letter) + 2 : 0;
  const lines = wrap(cleanLine(name), view.width - indent).map(view.palette.name);
  const [first = '', ...more] = lines.map((line, index) => (index === 0 ? line : ' '.repeat(indent) + line));
  if (short) return [`${view.palette.grade(letter)}  ${first}`, ...more];
  return [first, ...more, ...(letter === '' ? [] : wrap(`Grade ${letter}`, view.width))];
}

function subheading({ cuisine, price }: Sorted['known'], view: View): string[] {
  const facts = [
    ...(cuisine === undefined ? [] : [cleanLine(inline(cuisine.value))]),
    ...(price === undefined ? [] : [priceText(price)]),
  ];
  return facts.length === 0 ? [] : wrap(facts.join(` ${glyphs(view).dot} `), view.width);
}

/** `$$$` speaks for itself, `2` or `moderate` does not. */
function priceText({ key, value }: Known): string {
  const text = cleanLine(inline(value));
  return /\p{Sc}/u.test(text) ? text : `${label(key)} ${text}`;
}

/**
 * Lookups for every form of output. `json` is the document: the output itself, or for a list an array of
 * `{restaurant_id, output}` and `{restaurant_id, error}`.
 */
export function lookupPresentation(items: readonly LookupItem[], json: unknown): Presentation {
  const list = Array.isArray(json);
  return {
    json,
    records: items.map(({ restaurantId, output }) =>
      list ? { restaurant_id: restaurantId, ...output } : output,
    ),
    trim: (columns) => (list ? json.map((entry) => trimEntry(entry, columns)) : pick(json, columns)),
    table: (view, columns) => renderLookup(items, { columns }, view),
  };
}

function trimEntry(entry: unknown, columns: readonly string[]): unknown {
  return isRecord(entry) && isRecord(entry.output)
    ? { ...entry, output: pick(entry.output, columns) }
    : entry;
}
