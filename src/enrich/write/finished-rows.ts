import { RecordEnds } from '../../util/csv.ts';
import type { RowFile } from './row-file.ts';

export interface FinishedRow {
  /** With its line break. */
  readonly text: string;
  readonly offset: number;
}

const CHUNK = 65_536;

/** The whole records of an output file, one after the other. */
export class FinishedRows {
  readonly #file: Pick<RowFile, 'readBytes'>;
  readonly #ends: RecordEnds;
  #rows: FinishedRow[] = [];
  /** Bytes behind the last whole record so far. */
  #open: Buffer = Buffer.alloc(0);
  /** Offset of the first of them. */
  #offset = 0;
  #atEnd = false;

  /** @param quotes whether a line break may stand inside a record, in quotes */
  constructor(file: Pick<RowFile, 'readBytes'>, quotes: boolean) {
    this.#file = file;
    this.#ends = new RecordEnds(quotes);
  }

  /** The next whole record. */
  next(): FinishedRow | undefined {
    while (this.#rows.length === 0 && !this.#atEnd) this.#readMore();
    return this.#rows.shift();
  }

  /** What follows the last whole record: a row that was not written to its end. For when there is no next. */
  get tail(): { readonly offset: number; readonly bytes: Buffer } {
    return { offset: this.#offset, bytes: this.#open };
  }

  #readMore(): void {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const length = this.#file.readBytes(chunk, this.#offset + this.#open.length);
    this.#atEnd = length === 0;
    const bytes = chunk.subarray(0, length);
    let start = 0;
    for (const end of this.#ends.in(bytes)) {
      const record = Buffer.concat([this.#open, bytes.subarray(start, end)]);
      this.#rows.push({ text: record.toString('utf8'), offset: this.#offset });
      this.#offset += record.length;
      this.#open = Buffer.alloc(0);
      start = end;
    }
    this.#open = Buffer.concat([this.#open, bytes.subarray(start)]);
  }
}
