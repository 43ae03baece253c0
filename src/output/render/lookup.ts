import type { Lookup } from '../../client/types.ts';
import type { JsonObject } from '../../util/json.ts';
import { mapUrl } from '../../util/restaurant.ts';
import { cleanLine, label, pad, width, wrap } from '../../util/text.ts';
import { bulleted, dataLines, entryLines, separate } from '../data.ts';
import {
  type Classified,
  type ComparedField,
  type Comparison,
  compare,
  factsOf,
  fieldsOf,
  inOrder,
  lookupEntries,
  PLACE,
  placeOf,
  RECORD,
} from '../fields.ts';
import { maxWidth } from '../pairs.ts';
import { EMPTY, glyphs, type Presentation } from '../presentation.ts';
import { pick } from '../records.ts';
import { link, type View } from '../style.ts';
import { type DataField, inline, isEmptyValue, isSimple, itemTexts } from '../values.ts';

/** One as a card, two to four side by side if they fit, otherwise cards below each other. No value is cut. */
export function renderLookup(
  outcomes: readonly Lookup[],
  columns: readonly string[] | undefined,
  view: View,
): string {
  const comparison = comparisonLines(outcomes, columns, view);
  if (comparison !== undefined) return comparison.join('\n');
  const rule = view.palette.dim(glyphs(view).rule.repeat(Math.min(view.width, READING_WIDTH)));
  return outcomes.map((outcome) => cardLines(outcome, columns, view).join('\n')).join(`\n\n${rule}\n\n`);
}

/**
 * Presents lookups. Failed ones are not records; the table and the page show them in their place.
 * @param isOne whether the document is the output of the only one, and not a list
 * @param at time of the response, in milliseconds since the epoch
 */
export function lookupPresentation(outcomes: readonly Lookup[], isOne: boolean, at: number): Presentation {
  const outputs = outcomes.flatMap(({ output }) => output ?? []);
  const rows = outcomes.flatMap(({ restaurantId, output }) =>
    output === undefined ? [] : [{ restaurant_id: restaurantId, ...output }],
  );
  return {
    records: isOne ? outputs : rows,
    rows,
    readable: outcomes.flatMap(readableRecord),
    keyValue: true,
    selectColumns: (columns) => (isOne ? pick(outputs[0], columns) : lookupEntries(outcomes, columns)),
    table: (view, columns) => renderLookup(outcomes, columns, view),
    page: async (columns) => (await import('../html/rows.ts')).lookupPage(outcomes, at, columns),
  };
}

/** The fields in the order of a card, the id once, and no status of `ok`. */
function readableRecord({ restaurantId, output }: Lookup): JsonObject[] {
  if (output === undefined) return [];
  const { known, rest } = fieldsOf(output, undefined);
  const { name, grade, cuisine, price, summary } = known;
  const facts = factsOf(restaurantId, rest);
  return [
    Object.fromEntries(
      [name, grade, cuisine, price, summary, ...facts].filter((field) => field !== undefined),
    ),
  ];
}

/** Adds the fields of search results that basic details may lack. @param rows results of the search */
export function withSearchResults(outcomes: readonly Lookup[], rows: readonly unknown[] = []): Lookup[] {
  const byId = new Map(rows.map((row) => [Object(row).service_id, row]));
  return outcomes.map((outcome) => {
    const row = byId.get(outcome.restaurantId);
    return outcome.output === undefined || row === undefined
      ? outcome
      : { ...outcome, output: { ...pick(row, PLACE), ...outcome.output } };
  });
}

type LookupSuccess = Extract<Lookup, { readonly output: unknown }>;
type Failed = Extract<Lookup, { readonly error: unknown }>;

const READING_WIDTH = 88;

/** A restaurant as a card. A status of `ok` is left out; fields without a value share a line. */
function cardLines(outcome: Lookup, columns: readonly string[] | undefined, view: View): string[] {
  if (outcome.error !== undefined) return failureLines(outcome, view.width, view);
  const { restaurantId, output } = outcome;
  const { known, rest } = fieldsOf(output, columns);
  const facts = known.name === undefined ? inOrder(rest) : factsOf(restaurantId, rest);
  const summary =
    known.summary === undefined ? [] : wrap(inline(known.summary[1]), Math.min(view.width, READING_WIDTH));
  return separate([
    [...heading(outcome, known, view), ...subheading(known, view)],
    summary,
    ...factLines(facts, view),
  ]);
}

function failureLines(
  { restaurantId, error: { code, message } }: Failed,
  columns: number,
  { palette }: View,
): string[] {
  const reason = wrap(`${code}: ${cleanLine(message)}`, Math.min(columns, READING_WIDTH));
  return [...wrap(cleanLine(restaurantId), columns).map(palette.name), ...reason.map(palette.bad)];
}

function nameLines(
  { restaurantId, output }: LookupSuccess,
  name: DataField | undefined,
  columns: number,
  view: View,
): string[] {
  const text = name === undefined ? restaurantId : inline(name[1]);
  const url = mapUrl(placeOf(output));
  return wrap(cleanLine(text), columns).map((line) => link(view.palette.name(line), url, view));
}

function factLines(facts: readonly DataField[], view: View): string[][] {
  const about = facts.filter(([key]) => RECORD.includes(key));
  const others = facts.filter(([key]) => !RECORD.includes(key));
  const present = others.filter(([, value]) => !isEmptyValue(value));
  const none = others.filter(([, value]) => isEmptyValue(value)).map(([key]) => label(key));
  const last: readonly DataField[] = none.length === 0 ? about : [['No data', none.join(', ')], ...about];
  // Without sections in between, all fields share one alignment.
  const groups = present.every(([, value]) => isSimple(value)) ? [[...present, ...last]] : [present, last];
  return groups.map((group) => entryLines(group, view.width, view));
}

function heading(found: LookupSuccess, { grade, name }: Classified['known'], view: View): string[] {
  const { palette, width: columns } = view;
  const letter = grade === undefined ? '' : cleanLine(inline(grade[1])).trim();
  const isShort = letter !== '' && width(letter) <= columns >> 2;
  const indent = isShort ? width(letter) + 2 : 0;
  const [first = '', ...more] = nameLines(found, name, columns - indent, view);
  if (isShort)
    return [`${palette.grade(letter)}  ${first}`, ...more.map((line) => ' '.repeat(indent) + line)];
  return [first, ...more, ...(letter === '' ? [] : wrap(`Grade ${letter}`, columns))];
}

function subheading({ cuisine, price }: Classified['known'], view: View): string[] {
  const facts = [cuisine && cleanLine(inline(cuisine[1])), price && priceText(price)].filter(
    (fact) => fact !== undefined,
  );
  return facts.length === 0 ? [] : wrap(facts.join(` ${glyphs(view).dot} `), view.width);
}

/** Formats a price. `$$$` needs no label, but `2` or `moderate` does. */
function priceText([key, value]: DataField): string {
  const text = cleanLine(inline(value));
  return /\p{Sc}/u.test(text) ? text : `${label(key)} ${text}`;
}

const MIN_CELL_WIDTH = 18;
const MAX_CELL_WIDTH = 44;
const MAX_LABEL_WIDTH = 16;
const GAP = 2;

/** Fields as rows, restaurants as columns, equal values dimmed. @returns undefined if the columns do not fit */
export function comparisonLines(
  outcomes: readonly Lookup[],
  columns: readonly string[] | undefined,
  view: View,
): string[] | undefined {
  const comparison = compare(outcomes, columns);
  if (comparison === undefined) return undefined;
  const { found, groups } = comparison;
  const titles = groups.flat().map(({ key, level }) => ' '.repeat(level * GAP) + label(key));
  const titleWidth = Math.min(maxWidth(titles), MAX_LABEL_WIDTH);
  const room = Math.min(MAX_CELL_WIDTH, Math.floor((view.width - titleWidth) / found.length) - GAP);
  if (room < MIN_CELL_WIDTH) return undefined;

  const line = (title: readonly string[], cells: readonly (readonly string[])[]): string[] =>
    joinHorizontal([title, ...cells], [titleWidth, ...cells.map(() => room)]);
  const heads = outcomes.map((outcome, index) =>
    outcome.error === undefined
      ? nameLines(outcome, found[index]?.known.name, room, view)
      : failureLines(outcome, room, view),
  );
  const [first = [], ...blocks] = groups.map((rows) =>
    rows.flatMap((row) =>
      row.values === undefined
        ? titleLines(row, view.width, view)
        : line(titleLines(row, titleWidth, view), cellsOf(row, found, room, view)),
    ),
  );
  return separate([[...line([], heads), ...first], ...blocks]);
}

function joinHorizontal(columns: readonly (readonly string[])[], widths: readonly number[]): string[] {
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, index) => {
    const parts = columns.map((lines, column) => pad(lines[index] ?? '', (widths[column] ?? 0) + GAP));
    return parts.join('').trimEnd();
  });
}

function titleLines({ key, level, values }: ComparedField, columns: number, { palette }: View): string[] {
  const indent = ' '.repeat(level * GAP);
  const paint = values === undefined && level === 0 ? palette.heading : palette.key;
  return wrap(label(key), columns - indent.length).map((line) => indent + paint(line));
}

function cellsOf(
  { key, level, values = [] }: ComparedField,
  found: Comparison['found'],
  room: number,
  view: View,
): string[][] {
  const { palette } = view;
  const texts = values.map((value) => inline(value, key).trim());
  const isPlain = values.every(isSimple);
  const isSame = isPlain && !found.includes(undefined) && new Set(texts).size === 1;
  const usual = isSame ? palette.dim : (line: string): string => line;
  const paint = key === 'grade' && level === 0 ? palette.grade : usual;
  return values.map((value, index) => {
    if (found[index] === undefined) return [];
    const items = isPlain ? undefined : itemTexts(value);
    if (items !== undefined)
      return items.flatMap((item) => bulleted(wrap(breakable(item, room - GAP), room - GAP), view));
    if (!isSimple(value)) return dataLines(value, room, view, 1);
    const text = texts[index] ?? EMPTY;
    return wrap(breakable(text, room), room).map(text === EMPTY ? palette.dim : paint);
  });
}

function breakable(text: string, room: number): string {
  const part = new RegExp(`.{1,${room}}$|.{1,${room - 1}}[-/]|.{1,${room}}`, 'g');
  return text.replace(/[!-~]+/g, (word) => word.match(part)?.join(' ') ?? word);
}
