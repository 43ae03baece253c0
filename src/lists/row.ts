export const LIST_FORMATS = ['csv', 'tsv', 'ndjson'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];
export const INPUT_FORMATS = [...LIST_FORMATS, 'geojson'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

export const DEFAULT_PREFIX = 'restaurant_';

/** The result that an earlier run gave to a row: texts of cells, or JSON values, by field name. */
export type EarlierResult = Readonly<Record<string, unknown>>;

/** The kind of a cell: text, a number, a day or time, a boolean, or a formula whose value is not stored. */
export type CellKind = 't' | 'n' | 'd' | 'b' | 'f';

/** The value of a cell. A day is a Date at midnight, UTC. */
type CellValue = string | number | boolean | Date;

/** A row of a CSV or TSV, with as many cells as the header. */
export interface CellRow {
  readonly kind: 'cells';
  /** Line of the input on which the row begins, from 1. */
  readonly line: number;
  /** Its row in a spreadsheet, from 1. */
  readonly row?: number;
  readonly cells: readonly string[];
  /** The kinds of the cells of a workbook or Parquet file, a letter for each, see {@link CellKind}. */
  readonly kinds?: string | undefined;
  /** The record as received, with the delimiters of missing cells, and without its line break. */
  readonly text: string;
  /** The line break, which also ends the row in the output. */
  readonly end: string;
  readonly earlier?: EarlierResult;
}

/** A line of NDJSON, or a Feature of GeoJSON. */
export interface ObjectRow {
  readonly kind: 'object';
  readonly line: number;
  /** The JSON text as received, without surrounding white space. */
  readonly text: string;
  /** The object; of a Feature, its properties with the coordinates. */
  readonly value: Record<string, unknown>;
  readonly earlier?: EarlierResult;
}

const READ: Readonly<Record<string, (text: string) => CellValue>> = {
  n: Number,
  d: (text) => new Date(text.includes('T') ? `${text}Z` : text),
  b: (text) => text.toLowerCase() === 'true',
};

/** The cells of a row as values: text, unless the file says that they are something else. */
export const valuesOf = ({ cells, kinds }: CellRow): readonly CellValue[] =>
  kinds === undefined ? cells : cells.map((cell, index) => READ[kinds[index] ?? 't']?.(cell) ?? cell);

export type InputRow = CellRow | ObjectRow;

export interface Problem {
  readonly line: number;
  readonly row?: number | undefined;
  /** Completes the sentence `line 7 <what>`. */
  readonly what: string;
  /** The likely encoding of bytes in another encoding, if known. */
  readonly encoding?: string | undefined;
}

/** Called with each problem that is found. Reading stops if it throws. */
export type OnProblem = (problem: Problem) => void;

/** Formats the place of a row: `9`, or `9 (row 7)` if cells before it have line breaks. */
export const placeText = ({ line, row = line }: Pick<Problem, 'line' | 'row'>): string =>
  row === line ? String(line) : `${line} (row ${row})`;

/** The sheet that was read, and all of them. */
export interface Sheets {
  readonly sheet?: string | undefined;
  readonly sheets: readonly string[];
  readonly formulas?: Formulas | undefined;
}

/** Formulas whose values the file does not store: how many, and the first cells. */
export interface Formulas {
  readonly count: number;
  readonly cells: readonly string[];
}
