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

const LINE_FEED = 0x0a;
const QUOTE = 0x22;

/**
 * Finds the ends of records in bytes that arrive in pieces: a line feed outside of quotes. Quotes count by their parity,
 * so that a cut at any place is distinguished from an end.
 */
export class RecordEnds {
  #quoted = false;
  readonly #quotes: boolean;

  /** @param quotes false where a record is a line, as in NDJSON */
  constructor(quotes: boolean) {
    this.#quotes = quotes;
  }

  /** Offsets just behind each record that ends in these bytes. */
  *in(bytes: Uint8Array): Generator<number> {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE && this.#quotes) this.#quoted = !this.#quoted;
      else if (byte === LINE_FEED && !this.#quoted) yield at + 1;
    }
  }
}
