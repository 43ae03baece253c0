import { label, wrap } from '../../util/text.ts';
import { maxWidth } from '../pairs.ts';
import { EMPTY, glyphs, type Presentation, type View } from '../presentation.ts';
import { isRecord, pick } from '../records.ts';
import {
  type Classified,
  cardLines,
  type FieldRole,
  failureLines,
  fieldsOf,
  inOrder,
  isEmptyValue,
  type LookupItem,
  nameLines,
  READING_WIDTH,
  RECORD,
} from './card.ts';
import { dataLines, inline, isSimple, itemText, joinHorizontal } from './data.ts';

/**
 * Renders restaurants without a final line break: one as a card, two to four side by side if they fit, otherwise cards
 * below each other, in the order requested. With `columns`, only those fields. No value is cut.
 */
export function renderLookup(
  items: readonly LookupItem[],
  columns: readonly string[] | undefined,
  view: View,
): string {
  const comparison = comparisonLines(items, columns, view);
  if (comparison !== undefined) return comparison.join('\n');
  const rule = view.palette.dim(glyphs(view).rule.repeat(Math.min(view.width, READING_WIDTH)));
  return items.map((item) => cardLines(item, columns, view).join('\n')).join(`\n\n${rule}\n\n`);
}

/**
 * Presents lookups. `json` is the document: the output itself or, for a list, an array of `{restaurant_id, output}` and
 * `{restaurant_id, error}`. Failed lookups are not records; the table shows them in their place.
 */
export function lookupPresentation(items: readonly LookupItem[], json: unknown): Presentation {
  const list = Array.isArray(json);
  return {
    json,
    records: list ? items.flatMap(rowOf) : items.flatMap((item) => ('failure' in item ? [] : [item.output])),
    ...(list ? {} : { rows: items.flatMap(rowOf) }),
    keyValue: true,
    selectColumns: (columns) => (list ? json.map((entry) => trimEntry(entry, columns)) : pick(json, columns)),
    table: (view, columns) => renderLookup(items, columns, view),
  };
}

/** Returns a row that starts with the requested id. */
function rowOf(item: LookupItem): Record<string, unknown>[] {
  return 'failure' in item ? [] : [{ restaurant_id: item.restaurantId, ...item.output }];
}

function trimEntry(entry: unknown, columns: readonly string[]): unknown {
  return isRecord(entry) && isRecord(entry.output)
    ? { ...entry, output: pick(entry.output, columns) }
    : entry;
}

/** Limits of a comparison: the number of restaurants, and the width of its columns. */
const MAX_ITEMS = 4;
const MIN_CELL_WIDTH = 18;
const MAX_CELL_WIDTH = 44;
const MAX_LABEL_WIDTH = 16;
const GAP = 2;
const MAX_ROW_LEVEL = 2;

/** A row of the comparison: a field with its values, or a heading. */
interface Row {
  readonly title: string;
  readonly key: string;
  readonly level: number;
  /** One value per restaurant, undefined for one without it. A heading has none. */
  readonly values?: readonly unknown[];
  readonly role?: FieldRole;
  /** Whether a blank line precedes the row. */
  readonly apart?: boolean;
}

/**
 * Renders two to four restaurants side by side: fields as rows, restaurants as columns, equal values dimmed. Returns
 * undefined for other numbers, and if the columns do not fit.
 */
export function comparisonLines(
  items: readonly LookupItem[],
  columns: readonly string[] | undefined,
  view: View,
): string[] | undefined {
  if (items.length < 2 || items.length > MAX_ITEMS) return undefined;
  const found = items.map((item) => ('failure' in item ? undefined : fieldsOf(item.output, columns)));
  const rows = rowsFor(found);
  const titleWidth = Math.min(
    maxWidth(rows.map(({ level, title }) => ' '.repeat(level * GAP) + title)),
    MAX_LABEL_WIDTH,
  );
  const room = Math.min(MAX_CELL_WIDTH, Math.floor((view.width - titleWidth) / items.length) - GAP);
  if (room < MIN_CELL_WIDTH || found.every((one) => one === undefined)) return undefined;

  const join = (title: readonly string[], cells: readonly (readonly string[])[]): string[] =>
    joinHorizontal(
      [{ lines: title, width: titleWidth }, ...cells.map((lines) => ({ lines, width: room }))],
      GAP,
    );
  const titleLines = ({ title, level, values }: Row): string[] => {
    const indent = ' '.repeat(level * GAP);
    const isSection = values === undefined && level === 0;
    const lines = wrap(title, (values === undefined ? view.width : titleWidth) - indent.length);
    return lines.map((line) => indent + (isSection ? view.palette.heading : view.palette.key)(line));
  };
  const heads = items.map((item, index) =>
    'failure' in item
      ? failureLines(item, room, view)
      : nameLines(item, found[index]?.known.name, room, view),
  );
  const lines = rows.flatMap((row) => [
    ...(row.apart === true ? [''] : []),
    ...(row.values === undefined
      ? titleLines(row)
      : join(titleLines(row), cellsOf(row.values, row, found, room, view))),
  ]);
  return [...join([], heads), ...lines];
}

/** Renders the values of a row; a failed lookup has an empty cell. */
function cellsOf(
  values: readonly unknown[],
  { key, role }: Row,
  found: readonly (Classified | undefined)[],
  room: number,
  view: View,
): string[][] {
  const { palette } = view;
  const texts = values.map((value) => inline(value, key).trim());
  const isPlain = values.every(isSimple);
  const isSame = isPlain && !found.includes(undefined) && new Set(texts).size === 1;
  const paint = role === 'grade' ? palette.grade : isSame ? palette.dim : (line: string) => line;
  return values.map((value, index) => {
    if (found[index] === undefined) return [];
    // All lists of a row have the same form.
    const items = !isPlain && Array.isArray(value) ? value.map(itemText) : [];
    if (items.length > 0 && !items.includes(undefined))
      return items.flatMap((item = '') => itemLines(item, room, view));
    if (!isSimple(value)) return dataLines(value, room, view, 1);
    const text = texts[index] ?? EMPTY;
    return wrap(breakable(text, room), room).map(text === EMPTY ? palette.dim : paint);
  });
}

function itemLines(item: string, room: number, view: View): string[] {
  const lines = wrap(breakable(item, room - GAP), room - GAP);
  const bullet = view.palette.dim(glyphs(view).bullet);
  return lines.map((line, index) => (index === 0 ? `${bullet} ${line}` : ' '.repeat(GAP) + line));
}

/** Inserts spaces into long words (ids, links), behind `-` or `/` if possible, so that each part fits. */
function breakable(text: string, room: number): string {
  const part = new RegExp(`.{1,${room}}$|.{1,${room - 1}}[-/]|.{1,${room}}`, 'g');
  return text.replace(/[!-~]+/g, (word) => word.match(part)?.join(' ') ?? word);
}

const LEADING_ROLES: readonly FieldRole[] = ['grade', 'cuisine', 'price', 'summary'];

type Records = readonly (Record<string, unknown> | undefined)[];

/**
 * Returns the fields of restaurants as rows: those with a role; plain ones; nested ones, each apart; and those about the
 * record. Undefined marks a failed lookup.
 */
function rowsFor(found: readonly (Classified | undefined)[]): Row[] {
  const leading = LEADING_ROLES.map((role): Row => {
    const values = found.map((one) => one?.known[role]?.value);
    return { title: label(role), key: role, level: 0, values, role, apart: role === 'summary' };
  }).filter(({ values }) => values?.some((value) => value !== undefined));
  const records: Records = found.map((one) => one && Object.fromEntries(one.rest));
  const keys = [...new Set(records.flatMap((record) => Object.keys(record ?? {})))].filter((key) =>
    valuesOf(records, key).some((value) => !isEmptyValue(value)),
  );
  const ordered = inOrder(keys.map((key) => [key, undefined])).map(([key]) => key);
  const isNested = (key: string): boolean => valuesOf(records, key).some((value) => !isSimple(value ?? null));
  const others = ordered.filter((key) => !RECORD.includes(key));
  const section = (rows: readonly Row[]): Row[] =>
    rows.map((row, index) => (index === 0 ? { ...row, apart: true } : row));
  const rowsOfAll = (some: readonly string[]): Row[] => some.flatMap((key) => rowsOf(key, records, 0));
  return [
    ...leading,
    ...section(rowsOfAll(others.filter((key) => !isNested(key)))),
    ...others.filter(isNested).flatMap((key) => section(rowsOf(key, records, 0))),
    ...section(rowsOfAll(ordered.filter((key) => RECORD.includes(key)))),
  ];
}

const valuesOf = (records: Records, key: string): unknown[] =>
  records.map((record) => (record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined));

/** Returns the row of a field or, if it has only objects, some of them large, a heading with the rows of their fields. */
function rowsOf(key: string, records: Records, level: number): Row[] {
  const values = valuesOf(records, key);
  const present = values.filter((value) => value !== undefined && value !== null);
  const isGroup = present.length > 0 && present.every(isRecord) && !present.every(isSimple);
  if (level >= MAX_ROW_LEVEL || !isGroup) return [{ title: label(key), key, level, values }];
  const inner = values.map((value) => (isRecord(value) ? value : undefined));
  const keys = new Set(inner.flatMap((record) => Object.keys(record ?? {})));
  return [{ title: label(key), key, level }, ...[...keys].flatMap((each) => rowsOf(each, inner, level + 1))];
}
