// What the worker that reads workbooks and Parquet files gets, and what it answers.
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
export interface SheetNames {
  readonly sheet?: string;
  readonly sheets: readonly string[];
}

export type TypedMessage =
  | { readonly rows: readonly TypedRow[] }
  | { readonly end: SheetNames }
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

  constructor(send: (rows: readonly TypedRow[]) => void) {
    this.#send = send;
  }

  /** @throws {UnreadableFile} if there are too many rows, cells, or characters */
  add(row: TypedRow): void {
    const size = row.cells.reduce((sum, cell) => sum + cell.length, 0);
    this.#batch.push(row);
    this.#batchSize += size;
    this.#rows += 1;
    this.#cells += row.cells.length;
    this.#characters += size;
    if (this.#rows > MAX_ROWS + 1) throw new UnreadableFile('it has more than 1,000,000 rows');
    if (this.#cells > MAX_CELLS) throw new UnreadableFile('it has more than 20,000,000 cells');
    if (this.#characters > MAX_BYTES) throw new UnreadableFile('its texts are longer than 256 MiB');
    if (this.#batch.length >= BATCH_ROWS || this.#batchSize > BATCH_CHARACTERS) this.flush();
  }

  flush(): void {
    this.#send(this.#batch);
    this.#batch = [];
    this.#batchSize = 0;
  }
}
