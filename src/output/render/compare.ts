import { cleanLine, label, width, wrap } from '../../util/text.ts';
import { link, mapUrl } from '../link.ts';
import { EMPTY, glyphs, type View } from '../presentation.ts';
import { isRecord } from '../records.ts';
import {
  type Classified,
  type FieldRole,
  fieldsOf,
  inOrder,
  isEmptyValue,
  type LookupItem,
  NO_DATA,
  placeOf,
  RECORD,
} from './card.ts';
import { dataLines, inline, isIdKey, isSimple, joinHorizontal, smallTable, words } from './data.ts';

const MAX_ITEMS = 4;
const MIN_CELL_WIDTH = 18;
const MAX_CELL_WIDTH = 44;
const MAX_LABEL_WIDTH = 16;
const GAP = 2;

/** Widths of the comparison, and which restaurants have no data. */
interface Frame {
  readonly cell: number;
  readonly title: number;
  readonly failed: readonly boolean[];
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
  const widest = rows.reduce((most, row) => Math.max(most, row.level * GAP + width(row.title)), 0);
  const title = Math.min(widest, MAX_LABEL_WIDTH);
  const cell = Math.min(MAX_CELL_WIDTH, Math.floor((view.width - title) / items.length) - GAP);
  if (cell < MIN_CELL_WIDTH || found.every((one) => one === undefined)) return undefined;
  const frame: Frame = { cell, title, failed: found.map((one) => one === undefined) };
  return [
    ...joinCells(
      [],
      items.map((item, index) => headLines(item, found[index], cell, view)),
      frame,
    ),
    ...rows.flatMap((row) => [
      ...(row.apart === true || row.kind === 'summary' ? [''] : []),
      ...rowLines(row, frame, view),
      ...(row.kind === 'summary' ? [''] : []),
    ]),
  ].filter((line, index, all) => line !== '' || all[index - 1] !== '');
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

function rowLines(
  { title, key = '', level, values, text: shared, kind }: Row,
  frame: Frame,
  view: View,
): string[] {
  const { palette } = view;
  const indent = ' '.repeat(level * GAP);
  const isHeading = values === undefined && shared === undefined;
  const titleLines = wrap(title, Math.max(1, (isHeading ? view.width : frame.title) - indent.length));
  const head = titleLines.map(
    (line) => indent + (isHeading && level === 0 ? palette.heading : palette.key)(line),
  );
  if (shared !== undefined) {
    const lines = wrap(shared, view.width - frame.title - GAP);
    return joinHorizontal(
      [
        { lines: head, width: frame.title },
        { lines, width: 0 },
      ],
      GAP,
    );
  }
  if (values === undefined) return head;
  const texts = values.map((value) =>
    isSimple(value ?? null) ? inline(value ?? null, key).trim() : undefined,
  );
  const lists = values.filter((value): value is unknown[] => Array.isArray(value));
  const isNested = texts.includes(undefined);
  const asTable =
    isNested && lists.every((list) => list.length === 0 || smallTable(list, frame.cell, view) !== undefined);
  const same = !frame.failed.includes(true) && texts.every((text) => text !== undefined && text === texts[0]);
  const cells = values.map((value, index) => {
    if (frame.failed[index] === true) return [];
    const text = texts[index];
    const isItemList = isNested && Array.isArray(value) && value.length > 0;
    if (text === undefined || isItemList) return nestedLines(value, frame.cell, view, asTable);
    if (text === EMPTY) return [palette.dim(EMPTY)];
    const paint = kind === 'grade' ? palette.grade : same ? palette.dim : (line: string) => line;
    return wrap(breakable(text, frame.cell), frame.cell).map((line) => (line === '' ? '' : paint(line)));
  });
  return joinCells(head, cells, frame);
}

/** Renders a list as a small table or as a paragraph per item; all cells of a row use the same form. */
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
  const columns = [
    { lines: title, width: frame.title },
    ...cells.map((lines) => ({ lines, width: frame.cell })),
  ];
  return joinHorizontal(columns, GAP);
}

const MAX_ROW_LEVEL = 2;

/** The first rows, in this order. */
const LEADING_ROLES: readonly (readonly [kind: FieldRole, title: string])[] = [
  ['grade', 'Grade'],
  ['cuisine', 'Cuisine'],
  ['price', 'Price'],
  ['summary', 'Summary'],
];

/** A field of all restaurants; in `values`, undefined marks a restaurant without it. */
export interface Row {
  readonly title: string;
  /** The field's own name. */
  readonly key?: string;
  readonly level: number;
  /** Undefined for a heading. */
  readonly values?: readonly unknown[];
  /** A text for all restaurants together. */
  readonly text?: string;
  readonly kind?: FieldRole;
  /** Whether a blank line precedes the row. */
  readonly apart?: boolean;
}

/** Returns the fields of restaurants as rows; undefined marks a failed lookup. */
export function rowsFor(found: readonly (Classified | undefined)[]): Row[] {
  return [...firstRows(found), ...restRows(found)];
}

function firstRows(found: readonly (Classified | undefined)[]): Row[] {
  return LEADING_ROLES.flatMap(([kind, title]) => {
    const values = found.map((one) => one?.known[kind]?.value);
    return values.every((value) => value === undefined) ? [] : [{ title, level: 0, values, kind }];
  });
}

/** Returns all other fields: plain ones first, then nested ones, each under its own heading. */
function restRows(found: readonly (Classified | undefined)[]): Row[] {
  const records = found.map((one) => (one === undefined ? undefined : Object.fromEntries(one.rest)));
  const keys = [...new Set(found.flatMap((one) => one?.rest.map(([key]) => key) ?? []))];
  const shown = keys.filter((key) => !valuesOf(records, key).every((value) => isEmptyValue(value ?? null)));
  const order = inOrder(shown.map((key) => [key, undefined])).map(([key]) => key);
  const room = (key: string): number => (isGroup(records, key) ? 1 : isPlain(records, key) ? 0 : 2);
  const about = order.filter((key) => RECORD.includes(key));
  const others = order.filter((key) => !RECORD.includes(key)).sort((a, b) => room(a) - room(b));
  const rows = (list: readonly string[]): Row[] =>
    list.flatMap((key) => {
      const [row, ...inner] = rowsOf(key, records, 0);
      return row === undefined ? [] : [{ ...row, apart: room(key) > 0 }, ...inner];
    });
  // Another restaurant may have it among the first rows.
  const heads = found.flatMap((one) => Object.values(one?.known ?? {}).map(({ key }) => key));
  const none = keys.filter((key) => !shown.includes(key) && !heads.includes(key)).map(label);
  const last: Row[] = [
    ...(none.length === 0 ? [] : [{ title: NO_DATA, level: 0, text: none.join(', ') }]),
    ...rows(about),
  ];
  return [...rows(others), ...last.map((row, index) => ({ ...row, apart: index === 0 }))];
}

type Records = readonly (Record<string, unknown> | undefined)[];

const valuesOf = (records: Records, key: string): unknown[] =>
  records.map((record) => (record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined));

const isPlain = (records: Records, key: string): boolean =>
  valuesOf(records, key).every((value) => isSimple(value ?? null));

/** Returns whether a field has objects only, of which at least one is too large for a line. */
function isGroup(records: Records, key: string): boolean {
  const values = valuesOf(records, key).filter((value) => value !== undefined && value !== null);
  return values.length > 0 && values.every(isRecord) && !values.every(isSimple);
}

function rowsOf(key: string, records: Records, level: number): Row[] {
  const values = valuesOf(records, key);
  if (level >= MAX_ROW_LEVEL || !isGroup(records, key)) return [{ title: label(key), key, level, values }];
  const inner = values.map((value) => (isRecord(value) ? value : undefined));
  const keys = new Set(inner.flatMap((record) => Object.keys(record ?? {})));
  return [{ title: label(key), key, level }, ...[...keys].flatMap((each) => rowsOf(each, inner, level + 1))];
}
