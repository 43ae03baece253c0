import type { CsvRecord } from '../../util/csv.ts';
import type { CellRow, OnProblem } from '../row.ts';

/** Number of records in which the header is looked for. */
export const FIRST_RECORDS = 10;

/** The rows of a list below its header. */
export interface Table {
  readonly header: CsvRecord;
  /** A later line that looks more like the header. */
  readonly likelyHeader: number | undefined;
  readonly rows: AsyncGenerator<CsvRecord>;
}

export interface HeaderOptions {
  /** The line of the header, from 1. Undefined: detected. */
  readonly headerLine?: number | undefined;
  readonly isKnown: (column: string) => boolean;
}

/**
 * Finds the header. Titles above it, lines with a single cell, are skipped if a header that is known follows.
 * @returns undefined if there are no records
 */
export async function openTable(
  records: AsyncGenerator<CsvRecord>,
  { headerLine, isKnown }: HeaderOptions,
): Promise<Table | undefined> {
  const first: CsvRecord[] = [];
  for (let next = await records.next(); next.done !== true; next = await records.next()) {
    if (next.value.line < (headerLine ?? 0)) continue;
    first.push(next.value);
    if (headerLine !== undefined || first.length === FIRST_RECORDS || first[0]?.cells.some(isKnown)) break;
  }
  const known = first.findIndex(({ cells }) => cells.some(isKnown) && isFilled(cells));
  const hasTitles = known > 0 && !first.slice(0, known).some(({ cells }) => isFilled(cells));
  const header = first[hasTitles ? known : 0];
  if (header === undefined) return undefined;
  return {
    header,
    likelyHeader: known > 0 && !hasTitles ? first[known]?.line : undefined,
    rows: prepend(first.slice(hasTitles ? known + 1 : 1), records),
  };
}

/** Whether a record has several cells with text, which a title does not. */
export const isFilled = (cells: readonly string[]): boolean =>
  cells.filter((cell) => cell.trim() !== '').length > 1;

export async function* prepend<T>(first: readonly T[], rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

export async function* paddedRows(
  records: AsyncGenerator<CsvRecord>,
  list: {
    readonly width: number;
    readonly delimiter: string;
    readonly lineEnd: string;
    /** Describes a row with more cells than the header. */
    readonly whatIfWider?: (count: number) => string;
  },
  onProblem: OnProblem,
): AsyncGenerator<CellRow> {
  const { width, delimiter, lineEnd } = list;
  const { whatIfWider = (count) => `has ${count} fields, the header has ${width}` } = list;
  for await (const { cells, line, row: number, text, end } of records) {
    let row = text;
    // Some programs end every row with a delimiter.
    while (cells.length > width && cells.at(-1) === '') {
      cells.pop();
      row = row.slice(0, row.lastIndexOf(delimiter));
    }
    if (cells.length > width) {
      onProblem({ line, row: number, what: whatIfWider(cells.length) });
      continue;
    }
    while (cells.length < width) {
      cells.push('');
      row += delimiter;
    }
    // Rows of the output end in the same character, also if those of the list do not.
    const isSame = end !== '' && end.at(-1) === lineEnd.at(-1);
    yield { kind: 'cells', line, row: number, cells, text: row, end: isSame ? end : lineEnd };
  }
}
