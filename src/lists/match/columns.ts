import { type AppError, usage } from '../../errors.ts';
import { again, type Hint, slot } from '../../hint.ts';
import { toCell, valueAt } from '../../output/records.ts';
import { mapValues } from '../../util/json.ts';
import { nearest } from '../../util/nearest.ts';
import { cleanLine } from '../../util/text.ts';
import type { InputRow, Sheets } from '../row.ts';
import { FIELDS, type Field, HEADERS, plain } from './headers.ts';

export interface ColumnOptions extends Readonly<Partial<Record<`${Field}Column`, string | undefined>>> {
  readonly city?: string | undefined;
  readonly defaultCity?: string | undefined;
  /** Columns may be dotted paths into objects. */
  readonly nested?: boolean;
  readonly ignored?: readonly string[];
  readonly earlierIdColumn?: string | undefined;
  /** Whether the ids of that column are a part of the list. */
  readonly hasOwnIds?: boolean | undefined;
  readonly likelyHeader?: number | undefined;
  readonly sheets?: Sheets | undefined;
}

/** The texts of a row that take part in matching, trimmed, in NFC; undefined for a missing column. */
type RowTexts = Readonly<Partial<Record<Field, string | undefined>>>;

export interface Columns extends Readonly<Partial<Record<Field, string | undefined>>> {
  /** For rows without one. */
  readonly otherCity: string | undefined;
  texts(row: InputRow): RowTexts;
  /** The name or the city of a row, if it is a formula whose value the workbook does not store. */
  formulaIn(row: InputRow): 'name' | 'city' | undefined;
}

export function resolveColumns(header: readonly string[], options: ColumnOptions): Columns {
  const { earlierIdColumn, hasOwnIds = false, ignored = [], likelyHeader, nested = false } = options;
  const recognized = header.filter((column) => !ignored.includes(column));
  const columns: Partial<Record<Field, string | undefined>> = {};
  const wrong: WrongColumn[] = [];
  for (const field of FIELDS) {
    const option = options[`${field}Column`];
    const wanted = field === 'id' && option === earlierIdColumn ? undefined : option;
    columns[field] =
      wanted === undefined ? recognizedColumn(recognized, field) : namedColumn(header, wanted, nested);
    if (wanted !== undefined && columns[field] === undefined) wrong.push({ field, wanted });
  }
  const otherCity = options.city ?? (columns.city === undefined ? options.defaultCity : undefined);
  const hasIds = columns.id !== undefined || earlierIdColumn !== undefined;
  const isNeeded: Readonly<Partial<Record<Field, boolean>>> = {
    name: !hasIds,
    city: !hasIds && otherCity === undefined,
    // Latitude and longitude are only used together.
    lat: options.lngColumn !== undefined,
    lng: options.latColumn !== undefined,
  };
  const missing = FIELDS.filter(
    (field) => isNeeded[field] && columns[field] === undefined && options[`${field}Column`] === undefined,
  );
  if (wrong.length + missing.length > 0)
    throw noColumns({ header, wrong, missing, likelyHeader, sheets: options.sheets });
  // Found once, because rows are many.
  const positions = mapValues(columns, (column = '') => header.indexOf(column));
  const textOf = (row: InputRow, field: Field): string | undefined => {
    const column = columns[field];
    if (column === undefined) return undefined;
    // If a header is repeated, the first column is used.
    if (row.kind === 'cells') return sendable(row.cells[positions[field] ?? -1] ?? '');
    const value = valueAt(row.value, column);
    return typeof value === 'object' ? '' : sendable(String(toCell(value) ?? ''));
  };
  const filledCity = otherCity === undefined ? undefined : sendable(otherCity);
  const isFormula = (row: InputRow, field: Field): boolean =>
    row.kind === 'cells' && columns[field] !== undefined && row.kinds?.[positions[field] ?? -1] === 'f';
  const texts = (row: InputRow): RowTexts => {
    const city = textOf(row, 'city');
    const fill = isFormula(row, 'city') ? undefined : filledCity;
    const found: Partial<Record<Field, string | undefined>> = {};
    for (const field of FIELDS) found[field] = textOf(row, field);
    found.city = city || (fill ?? city);
    if (hasOwnIds) found.id = sendable(String(row.earlier?.id ?? ''));
    return found;
  };
  const formulaIn = (row: InputRow) => (['name', 'city'] as const).find((field) => isFormula(row, field));
  return { ...columns, otherCity, texts, formulaIn };
}

const sendable = (text: string): string => text.trim().normalize('NFC');

const findColumn = (header: readonly string[], name: string): string | undefined =>
  header.find((column) => plain(column) === plain(name));

const recognizedColumn = (header: readonly string[], field: Field): string | undefined =>
  HEADERS[field].map((name) => findColumn(header, name)).find((column) => column !== undefined);

function namedColumn(header: readonly string[], name: string, nested: boolean): string | undefined {
  if (header.includes(name)) return name;
  const isPath = nested && header.includes(name.split('.', 1)[0] ?? '');
  return findColumn(header, name) ?? (isPath ? name : undefined);
}

const PLACES: readonly Field[] = ['id', 'name', 'city', 'address', 'lat', 'lng'];

/** Describes the columns that are read: `name Betrieb, city Ort, address Straße; no coordinates`. */
export function columnsText(columns: Columns): string {
  const found = PLACES.flatMap((field) => {
    const [label, column] = [labelOf(field), cleanLine(columns[field] ?? '').trim()];
    if (columns[field] === undefined) return [];
    return label === column ? [label] : [`${label} ${column}`];
  });
  const { otherCity } = columns;
  const isFixed = columns.city === undefined && otherCity !== undefined;
  const fixed = isFixed ? [`city always ${cleanLine(otherCity)}`] : [];
  const hasPoint = columns.lat !== undefined && columns.lng !== undefined;
  const lacking = [
    ...(columns.address === undefined ? ['address'] : []),
    ...(hasPoint ? [] : ['coordinates']),
  ];
  const none = lacking.length === 0 ? '' : `; no ${lacking.join(', no ')}`;
  return `${[...found, ...fixed].join(', ')}${none}`;
}

const flagOf = (field: Field) => `--${field}-column` as const;

const LABELS: Readonly<Partial<Record<Field, string>>> = { lat: 'latitude', lng: 'longitude' };
const labelOf = (field: Field): string => LABELS[field] ?? field;

interface WrongColumn {
  readonly field: Field;
  readonly wanted: string;
}

interface ColumnProblem {
  readonly header: readonly string[];
  readonly wrong: readonly WrongColumn[];
  readonly missing: readonly Field[];
  readonly likelyHeader: number | undefined;
  readonly sheets: Sheets | undefined;
}

function noColumns(problem: ColumnProblem): AppError {
  const { header, wrong, missing, sheets } = problem;
  const subject = wrong.length > 0 ? 'it' : 'the list';
  const others = otherSheets(sheets);
  const named = wrong.map(({ field, wanted }) => `${flagOf(field)} '${wanted}'`).join(', ');
  const names = missing.map((field) => `'${HEADERS[field][0]}'`).join(' or ');
  const message = [
    ...(wrong.length > 0 ? [`${named}: the list has no such column`] : []),
    ...(missing.length > 0
      ? [`no column for the ${missing.map(labelOf).join(' and the ')}: none is called ${names}`]
      : []),
    `${sheets?.sheet === undefined ? subject : `its sheet '${sheets.sheet}'`} has ${listed(header)}`,
    ...(others.length > 0 ? [`other sheets: ${listed(others)}`] : []),
  ].join('; ');
  return usage(message, columnHints(problem));
}

const otherSheets = (sheets: Sheets | undefined): string[] =>
  (sheets?.sheets ?? []).filter((each) => each !== sheets?.sheet);

function columnHints({ header, wrong, missing, likelyHeader, sheets }: ColumnProblem): Hint {
  if (likelyHeader !== undefined) {
    const command = again({ '--header-line': String(likelyHeader) });
    return { text: `line ${likelyHeader} looks like the header`, command };
  }
  const nearTo = (wanted: string): string | undefined => nearest(wanted, header, 1)[0];
  const options = Object.fromEntries([
    ...wrong.map(({ field, wanted }) => [flagOf(field), nearTo(wanted) ?? slot('column')] as const),
    ...missing.map((field) => [flagOf(field), slot('column')] as const),
  ]);
  const isMeant = missing.length === 0 && wrong.every(({ wanted }) => nearTo(wanted) !== undefined);
  const command = again(options);
  if (isMeant) return { text: 'did you mean', command };
  const isCity = wrong.length === 0 && missing.length === 1 && missing[0] === 'city';
  const [other] = otherSheets(sheets);
  return [
    { command },
    ...(other === undefined ? [] : [{ text: 'or another sheet', command: again({ '--sheet': other }) }]),
    ...(isCity ? [{ text: 'or for all rows', command: again({ '--city': slot('city') }) }] : []),
  ];
}

function listed(header: readonly string[]): string {
  const shown = header.slice(0, 20).map((column) => `'${column}'`);
  return shown.length === 0 ? 'no columns' : shown.join(', ') + (header.length > 20 ? ', …' : '');
}
