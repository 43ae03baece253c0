// What the worker that reads workbooks and Parquet files gets, and what it answers.
import type { CsvRecord } from '../../util/csv.ts';
import type { CellKind, Sheets } from '../row.ts';

/** The text of a cell, and its kind if it is not text. */
export type Cell = readonly [text: string, kind?: CellKind];

/** A row as a file has it. Cells without a value may be missing. */
export interface FileRow {
  /** Its number in the file, from 1. */
  readonly row: number;
  readonly cells: readonly (Cell | undefined)[];
  /** The last column that has text, from 1. Of one right of the header, nothing else is kept. */
  filled?: number | undefined;
}

/** A record whose text was never part of a CSV. */
export interface TypedRow extends CsvRecord, Pick<FileRow, 'filled'> {
  /** A letter for each cell. */
  readonly kinds: string;
}

export interface TypedTask {
  readonly kind: 'xlsx' | 'parquet';
  readonly bytes: Uint8Array;
  /** The name of the sheet; undefined for the first visible one that has a header. */
  readonly sheet: string | undefined;
  readonly headerLine: number | undefined;
  readonly named: readonly (string | undefined)[];
}

export interface TypedFile extends Sheets {
  readonly rows: AsyncIterable<FileRow>;
}

export type TypedMessage =
  | { readonly rows: readonly TypedRow[] }
  | { readonly end: Sheets }
  | { readonly problem: string };
