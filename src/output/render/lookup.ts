import { cleanLine, label, wrap } from '../../util/text.ts';
import { link, mapUrl } from '../link.ts';
import { maxWidth } from '../pairs.ts';
import { EMPTY, glyphs, type Presentation, type View } from '../presentation.ts';
import { isRecord, pick } from '../records.ts';
import {
  type Classified,
  cardLines,
  type FieldRole,
  fieldsOf,
  inOrder,
  isEmptyValue,
  type LookupItem,
  NO_DATA,
  placeOf,
  READING_WIDTH,
  RECORD,
} from './card.ts';
import { dataLines, inline, isIdKey, isSimple, joinHorizontal, smallTable, words } from './data.ts';

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

/** Widths of the comparison, and which restaurants have no data. */
interface Frame {
  readonly cell: number;
  readonly title: number;
  readonly failed: readonly boolean[];
}

/** A line of the comparison: the values of one field, a text for all restaurants together, or a heading. */
interface Row {
  readonly title: string;
  readonly key?: string;
  readonly level: number;
  /** One value per restaurant, undefined for one without it. */
  readonly values?: readonly unknown[];
  readonly text?: string;
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
  const titles = rows.map((row) => ' '.repeat(row.level * GAP) + row.title);
  const title = Math.min(maxWidth(titles), MAX_LABEL_WIDTH);
  const cell = Math.min(MAX_CELL_WIDTH, Math.floor((view.width - title) / items.length) - GAP);
  if (cell < MIN_CELL_WIDTH || found.every((one) => one === undefined)) return undefined;
  const frame: Frame = { cell, title, failed: found.map((one) => one === undefined) };
  const names = items.map((item, index) => headLines(item, found[index], cell, view));
  const lines = rows.flatMap((row) => [
    ...(row.apart === true || row.role === 'summary' ? [''] : []),
    ...rowLines(row, frame, view),
    ...(row.role === 'summary' ? [''] : []),
  ]);
  return [...joinCells([], names, frame), ...lines].filter(
    (line, index, all) => line !== '' || all[index - 1] !== '',
  );
}

/** Renders the name, or the id and the reason of a failed lookup. */
function headLines(item: LookupItem, found: Classified | undefined, room: number, view: View): string[] {
  const { palette } = view;
  if ('failure' in item) {
    return [
      ...wrap(cleanLine(item.restaurantId), room).map(palette.name),
      ...wrap(`${item.failure.code}: ${cleanLine(item.failure.message)}`, room).map(palette.bad),
    ];
  }
  const { name } = found?.known ?? {};
  const url = mapUrl(placeOf(item.output));
  const text = name === undefined ? item.restaurantId : cleanLine(inline(name.value));
  return wrap(text, room).map((line) => link(palette.name(line), url, view));
}

function rowLines({ title, key = '', level, values, text, role }: Row, frame: Frame, view: View): string[] {
  const { palette } = view;
  const isHeading = values === undefined && text === undefined;
  const indent = ' '.repeat(level * GAP);
  const room = Math.max(1, (isHeading ? view.width : frame.title) - indent.length);
  const paintTitle = isHeading && level === 0 ? palette.heading : palette.key;
  const head = wrap(title, room).map((line) => indent + paintTitle(line));
  if (text !== undefined) return joinCells(head, [wrap(text, view.width - frame.title - GAP)], frame);
  if (values === undefined) return head;
  const texts = values.map((value) => (isSimple(value ?? null) ? inline(value, key).trim() : undefined));
  const isNested = texts.includes(undefined);
  const lists = values.filter((value): value is unknown[] => Array.isArray(value));
  // All cells of a row have the same form.
  const asTable =
    isNested && lists.every((list) => list.length === 0 || smallTable(list, frame.cell, view) !== undefined);
  const isSame = !isNested && !frame.failed.includes(true) && texts.every((each) => each === texts[0]);
  const paint = role === 'grade' ? palette.grade : isSame ? palette.dim : (line: string) => line;
  const cells = values.map((value, index) => {
    const shown = texts[index];
    if (frame.failed[index] === true) return [];
    const isItemList = isNested && Array.isArray(value) && value.length > 0;
    if (shown === undefined || isItemList) return nestedLines(value, frame.cell, view, asTable);
    if (shown === EMPTY) return [palette.dim(EMPTY)];
    return wrap(breakable(shown, frame.cell), frame.cell).map((line) => (line === '' ? '' : paint(line)));
  });
  return joinCells(head, cells, frame);
}

/** Renders a list as a small table or as a paragraph per item, other values as data. */
function nestedLines(value: unknown, room: number, view: View, asTable: boolean): string[] {
  const isFlat = (item: unknown): boolean =>
    isRecord(item) ? Object.values(item).every(isSimple) : isSimple(item);
  if (!Array.isArray(value) || !value.every(isFlat)) return dataLines(value, room, view, 1);
  const { bullet } = glyphs(view);
  const items = value.flatMap((item) =>
    wrap(breakable(inWords(item), room - GAP), room - GAP).map((line, index) =>
      index === 0 ? `${view.palette.dim(bullet)} ${line}` : ' '.repeat(GAP) + line,
    ),
  );
  return (asTable ? smallTable(value, room, view) : undefined) ?? items;
}

/** Renders an item as one line. Its name has no label, and next to a name its identifiers are left out. */
function inWords(item: unknown): string {
  if (!isRecord(item)) return inline(item);
  const { name, ...all } = item;
  const others = Object.fromEntries(Object.entries(all).filter(([key]) => !isIdKey(key)));
  if (typeof name !== 'string' || name === '' || Object.keys(others).length === 0) return words(item);
  return `${inline(name)}, ${words(others)}`;
}

/** Inserts spaces into long words (ids, links) where they may be broken. */
function breakable(text: string, room: number): string {
  return text.replace(/[!-~]+/g, (word) => {
    const parts: string[] = [];
    let rest = word;
    while (rest.length > room) {
      const sign = Math.max(rest.lastIndexOf('-', room - 1), rest.lastIndexOf('/', room - 1));
      const end = sign > 0 ? sign + 1 : room;
      parts.push(rest.slice(0, end));
      rest = rest.slice(end);
    }
    return [...parts, rest].join(' ');
  });
}

function joinCells(title: readonly string[], cells: readonly (readonly string[])[], frame: Frame): string[] {
  const columns = cells.map((lines) => ({ lines, width: frame.cell }));
  return joinHorizontal([{ lines: title, width: frame.title }, ...columns], GAP);
}

const LEADING_ROLES: readonly FieldRole[] = ['grade', 'cuisine', 'price', 'summary'];

type Records = readonly (Record<string, unknown> | undefined)[];

/**
 * Returns the fields of restaurants as rows: those with a role; plain ones, objects, and other nested values, each under
 * its own heading; those without data, and those about the record. Undefined marks a failed lookup.
 */
function rowsFor(found: readonly (Classified | undefined)[]): Row[] {
  const leading = LEADING_ROLES.map((role): Row => {
    return { title: label(role), level: 0, values: found.map((one) => one?.known[role]?.value), role };
  }).filter(({ values }) => values?.some((value) => value !== undefined));
  const records: Records = found.map((one) => one && Object.fromEntries(one.rest));
  const keys = [...new Set(records.flatMap((record) => Object.keys(record ?? {})))];
  const isEmpty = (key: string): boolean =>
    valuesOf(records, key).every((value) => isEmptyValue(value ?? null));
  const rank = (key: string): number => {
    const values = valuesOf(records, key);
    return isGroup(values) ? 1 : values.every((value) => isSimple(value ?? null)) ? 0 : 2;
  };
  const order = inOrder(keys.filter((key) => !isEmpty(key)).map((key) => [key, undefined])).map(
    ([key]) => key,
  );
  const rows = order
    .filter((key) => !RECORD.includes(key))
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((key) => {
      const [first, ...inner] = rowsOf(key, records, 0);
      return first === undefined ? [] : [{ ...first, apart: rank(key) > 0 }, ...inner];
    });
  // Another restaurant may have it among the first rows.
  const heads = found.flatMap((one) => Object.values(one?.known ?? {}).map(({ key }) => key));
  const none = keys.filter((key) => isEmpty(key) && !heads.includes(key)).map(label);
  const last: Row[] = [
    ...(none.length === 0 ? [] : [{ title: NO_DATA, level: 0, text: none.join(', ') }]),
    ...order.filter((key) => RECORD.includes(key)).flatMap((key) => rowsOf(key, records, 0)),
  ];
  return [...leading, ...rows, ...last.map((row, index) => ({ ...row, apart: index === 0 }))];
}

const valuesOf = (records: Records, key: string): unknown[] =>
  records.map((record) => (record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined));

/** Returns whether a field has objects only, of which at least one is too large for a line. */
function isGroup(values: readonly unknown[]): boolean {
  const present = values.filter((value) => value !== undefined && value !== null);
  return present.length > 0 && present.every(isRecord) && !present.every(isSimple);
}

/** Returns the row of a field, or a heading with the rows of the fields in it. */
function rowsOf(key: string, records: Records, level: number): Row[] {
  const values = valuesOf(records, key);
  if (level >= MAX_ROW_LEVEL || !isGroup(values)) return [{ title: label(key), key, level, values }];
  const inner = values.map((value) => (isRecord(value) ? value : undefined));
  const keys = new Set(inner.flatMap((record) => Object.keys(record ?? {})));
  return [{ title: label(key), key, level }, ...[...keys].flatMap((each) => rowsOf(each, inner, level + 1))];
}
