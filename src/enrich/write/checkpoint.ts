import { AppError } from '../../errors.ts';
import type { Status } from '../match/resolve-row.ts';
import type { InputRow } from '../read/row.ts';
import type { RowCodec } from './row-codec.ts';
import type { RowFile } from './row-file.ts';

/** The result that an earlier run has for a row. */
export interface FinishedRow {
  readonly text: string;
  readonly status: Status;
  /** Offset of the text in the output; undefined where it is not written there yet. */
  readonly offset: number | undefined;
}

/** The rows of earlier runs, in the order of the input. */
export interface FinishedRowReader {
  /**
   * The result for the next row of the input; undefined from the first new row on.
   * @param own the row's own part in the output
   * @throws {AppError} `bad_input` where the output was made from another input
   */
  take(row: InputRow, own: string): FinishedRow | undefined;
  /** Ends the input. @throws {AppError} `bad_input` where the output has more rows */
  end(): void;
}

export interface ResumeOptions {
  /** The file that is written. Empty, or cut anywhere. */
  readonly file: RowFile;
  readonly codec: RowCodec;
  /** Name of the output in messages. */
  readonly name: string;
  /** A finished output whose failed rows are requested again, into `file`. */
  readonly previous?: RowFile | undefined;
  /** Request the failed rows of `previous` again. */
  readonly retryErrors: boolean;
}

/** No earlier run. */
export const noFinishedRows: FinishedRowReader = {
  take: () => undefined,
  end: () => {},
};

/**
 * Opens the rows of an output for a run that continues it, and writes the header where there is none. What follows the
 * last whole row is cut off as soon as the rows before it are known to belong to this input.
 * @throws {AppError} `bad_input` where the header is another
 */
export function openCheckpoint(options: ResumeOptions): FinishedRowReader {
  const { file, codec, name, previous, retryErrors } = options;
  const old = previous === undefined ? undefined : recordsOf(previous, codec, name);
  const done = recordsOf(file, codec, name) ?? withHeader(file, codec);
  let inFile = true;

  /** The first row that the file does not hold whole: its part there must be its beginning. */
  const cutTail = (own: string): void => {
    const { offset, bytes } = done.tail;
    if (!isPrefix(trimZeros(bytes), Buffer.from(own))) throw mismatch(name, 'its last line');
    file.cut(offset);
    inFile = false;
  };

  const compare = (
    record: OutputRecord,
    own: string,
    row: InputRow,
    offset: number | undefined,
  ): FinishedRow => {
    const text = record.text.slice(own.length);
    const status = record.text.startsWith(own) ? codec.statusOf(text) : undefined;
    if (status === undefined) throw mismatch(name, lineName(row));
    return { text, status, offset };
  };

  return {
    take(row, own) {
      const oldRow = old?.next();
      const finished = inFile ? done.next() : undefined;
      if (finished !== undefined)
        return compare(finished, own, row, finished.offset + Buffer.byteLength(own));
      if (inFile) cutTail(own);
      if (oldRow === undefined) return undefined;
      const result = compare(oldRow, own, row, undefined);
      return retryErrors && result.status === 'error' ? undefined : result;
    },
    end() {
      const more =
        old?.next() !== undefined ||
        (inFile && (done.next() !== undefined || trimZeros(done.tail.bytes).length > 0));
      if (more) throw mismatch(name, 'the end: it has more rows');
      if (inFile) cutTail('');
    },
  };
}

/** The records after the header; undefined where there is no whole header yet. */
function recordsOf(file: RowFile, { header, quotes }: RowCodec, name: string): OutputRecords | undefined {
  const records = new OutputRecords(file, quotes);
  if (header === '') return records;
  const first = records.next();
  if (first?.text === header) return records;
  const begins = first === undefined && isPrefix(trimZeros(records.tail.bytes), Buffer.from(header));
  if (!begins) throw mismatch(name, 'its header');
  return undefined;
}

function withHeader(file: RowFile, { header, quotes }: RowCodec): OutputRecords {
  file.cut(0);
  file.append(header);
  const records = new OutputRecords(file, quotes);
  records.next();
  return records;
}

const lineName = (row: InputRow): string => `line ${row.line} of the input`;

/** Whether one can be the beginning of the other. */
function isPrefix(torn: Buffer, whole: Buffer): boolean {
  const length = Math.min(torn.length, whole.length);
  return torn.subarray(0, length).equals(whole.subarray(0, length));
}

/** After a power cut a file may end in zeros that were never written. */
function trimZeros(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
}

/** The output belongs to another run. */
export class CheckpointMismatch extends AppError {
  constructor(message: string, hint = 'give the input and the options of the first run') {
    super('bad_input', message, { hint });
  }

  /** The same error, with the command that starts again. */
  withRestartHint(command: string): CheckpointMismatch {
    return new CheckpointMismatch(this.message, `${this.hint}, or start again: ${command}`);
  }
}

/** @param place where the two differ */
function mismatch(name: string, place: string): CheckpointMismatch {
  return new CheckpointMismatch(
    `${name} was not made from this input with these options: they differ at ${place}`,
  );
}

/** A whole record of an output, with its line break. */
export interface OutputRecord {
  readonly text: string;
  readonly offset: number;
}

/** Returns the function that reads the rest of a record from an offset outside of its quotes. */
export function recordAt(
  file: Pick<RowFile, 'readBytes'>,
  { quotes }: RowCodec,
): (offset: number) => string | undefined {
  return (offset) => new OutputRecords(file, quotes, offset).next()?.text;
}

const CHUNK = 65_536;
const LINE_FEED = 0x0a;
const QUOTE = 0x22;

/**
 * The whole records of an output file in order. A record ends at a line feed outside of quotes; quotes count by their
 * parity, so that a cut at any place is distinguished from an end.
 */
export class OutputRecords {
  readonly #file: Pick<RowFile, 'readBytes'>;
  readonly #quotes: boolean;
  #records: OutputRecord[] = [];
  #next = 0;
  /** Bytes after the last whole record so far, in pieces. */
  #open: Buffer[] = [];
  /** Offset behind them. */
  #read = 0;
  /** Offset of the first of them. */
  #offset = 0;
  #quoted = false;
  #atEnd = false;

  /**
   * @param quotes false where a record is a line, as in NDJSON
   * @param from offset of the first record
   */
  constructor(file: Pick<RowFile, 'readBytes'>, quotes: boolean, from = 0) {
    this.#file = file;
    this.#quotes = quotes;
    this.#offset = from;
    this.#read = from;
  }

  next(): OutputRecord | undefined {
    while (this.#next >= this.#records.length && !this.#atEnd) this.#readMore();
    const record = this.#records[this.#next];
    this.#next += 1;
    return record;
  }

  /** The bytes after the last whole record: a row that was not written to its end. For when there is no next. */
  get tail(): { readonly offset: number; readonly bytes: Buffer } {
    return { offset: this.#offset, bytes: Buffer.concat(this.#open) };
  }

  #readMore(): void {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const length = this.#file.readBytes(chunk, this.#read);
    this.#read += length;
    this.#atEnd = length === 0;
    this.#records = [];
    this.#next = 0;
    let start = 0;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE && this.#quotes) this.#quoted = !this.#quoted;
      if (byte !== LINE_FEED || this.#quoted) continue;
      const record = Buffer.concat([...this.#open, chunk.subarray(start, at + 1)]);
      this.#records.push({ text: record.toString('utf8'), offset: this.#offset });
      this.#offset += record.length;
      this.#open = [];
      start = at + 1;
    }
    this.#open.push(chunk.subarray(start, length));
  }
}
