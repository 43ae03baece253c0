// What the worker that reads workbooks and Parquet files gets, and what it answers.
import { columnName } from '../../util/sheet.ts';
import { MAX_BYTES, MAX_CELLS, MAX_ROWS, UnreadableFile } from './limits.ts';

export interface TypedRow {
  /** Its number in the file, from 1. */
  readonly row: number;
  /** Up to the last one that has text. */
  readonly cells: string[];
  /** A letter for each cell; undefined if all are text. */
  readonly kinds?: string | undefined;
  /** A column right of all headers that has a value, from 1. */
  readonly beyond?: number | undefined;
}

export interface TypedTask {
  readonly kind: 'xlsx' | 'parquet';
  readonly bytes: Uint8Array;
  /** The name of the sheet; undefined for the first visible one that has a header. */
  readonly sheet: string | undefined;
  readonly headerLine: number | undefined;
  readonly named: readonly (string | undefined)[];
}

/** The sheet that was read, and all of them. */
export interface Sheets {
  readonly sheet?: string;
  readonly sheets: readonly string[];
  readonly formulas?: Formulas | undefined;
}

/** Formulas whose values the file does not store: how many, and the first cells. */
export interface Formulas {
  readonly count: number;
  readonly cells: readonly string[];
}

export type TypedMessage =
  | { readonly rows: readonly TypedRow[] }
  | { readonly end: Sheets }
  | { readonly noSheet: readonly string[] }
  | { readonly problem: string };

/** There is no sheet of the wanted name. */
export class NoSheet extends Error {
  readonly sheets: readonly string[];

  constructor(sheets: readonly string[]) {
    super('no such sheet');
    this.sheets = sheets;
  }
}

const MAX_NAMED = 5;
const BATCH_ROWS = 1000;
const BATCH_CHARACTERS = 1_000_000;

/** Sends rows in batches, up to what fits into memory. */
export class RowSink {
  readonly #send: (rows: readonly TypedRow[]) => void;
  #batch: TypedRow[] = [];
  #batchSize = 0;
  #rows = 0;
  #cells = 0;
  #characters = 0;
  readonly #formulas = { count: 0, cells: [] as string[] };

  constructor(send: (rows: readonly TypedRow[]) => void) {
    this.#send = send;
  }

  get formulas(): Formulas | undefined {
    return this.#formulas.count === 0 ? undefined : this.#formulas;
  }

  /** @throws {UnreadableFile} if there are too many rows, cells, or characters */
  add(row: TypedRow): void {
    const size = row.cells.reduce((sum, cell) => sum + cell.length, 0);
    this.#batch.push(row);
    this.#addFormulas(row);
    this.#batchSize += size;
    this.#rows += 1;
    this.#cells += row.cells.length;
    this.#characters += size;
    if (this.#rows > MAX_ROWS + 1) throw new UnreadableFile('it has more than 1,000,000 rows');
    if (this.#cells > MAX_CELLS) throw new UnreadableFile('it has more than 20,000,000 cells');
    if (this.#characters > MAX_BYTES) throw new UnreadableFile('its texts are longer than 256 MiB');
    if (this.#batch.length >= BATCH_ROWS || this.#batchSize > BATCH_CHARACTERS) this.flush();
  }

  #addFormulas({ row, kinds = '' }: TypedRow): void {
    for (let at = kinds.indexOf('f'); at !== -1; at = kinds.indexOf('f', at + 1)) {
      this.#formulas.count += 1;
      if (this.#formulas.count <= MAX_NAMED) this.#formulas.cells.push(`${columnName(at + 1)}${row}`);
    }
  }

  flush(): void {
    this.#send(this.#batch);
    this.#batch = [];
    this.#batchSize = 0;
  }
}
