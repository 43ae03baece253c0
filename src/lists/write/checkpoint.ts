import { AppError } from '../../errors.ts';
import { AFTER_QUOTE, type CellState } from '../../util/csv.ts';
import type { Status } from '../match/match.ts';
import type { InputRow } from '../row.ts';
import type { RowCodec, RowText } from './row-codec.ts';
import { RowFile } from './row-file.ts';

export interface FinishedRow {
  readonly text: string;
  readonly status: Status;
  /** False if the row is still only in the output of an earlier run, which a retry replaces. */
  readonly isWritten: boolean;
}

export class CheckpointMismatch extends AppError {
  constructor(message: string) {
    super('bad_input', message, {
      hint: { text: 'use the input and the options of the first run' },
    });
  }
}

interface CheckpointOptions {
  /** The output, which may be empty or cut off anywhere. Undefined to change nothing. */
  readonly file?: Pick<RowFile, 'readBytes' | 'append' | 'cut'>;
  readonly codec: RowCodec;
  readonly name: string;
  /** A finished output, whose failed rows are requested again with `retryErrors`. */
  readonly previous?: ReadableFile | undefined;
  readonly retryErrors?: boolean;
}

export type FinishedRowReader = Pick<FinishedRows, 'take' | 'end'>;

export const noFinishedRows: FinishedRowReader = { take: () => undefined, end: () => {} };

/**
 * The rows of earlier runs, in the order of the input. Data after the last complete row is cut off once the rows before
 * it have been verified to belong to this input.
 */
export class FinishedRows {
  readonly #options: CheckpointOptions;
  readonly #previous: OutputRecords | undefined;
  /** The records of the output; undefined after the last one. */
  #records: OutputRecords | undefined;

  /** Writes a missing header. @throws {CheckpointMismatch} if the header differs */
  constructor(options: CheckpointOptions) {
    const { file, codec, previous } = options;
    this.#options = options;
    this.#previous = previous && this.#open(previous);
    this.#records = file && this.#open(file);
    if (this.#records !== undefined) return;
    file?.cut(0);
    file?.append(codec.header);
  }

  /**
   * Returns the result for the next row of the input; undefined for all rows after the last finished one.
   * @param own the text of the input row in the output
   * @throws {CheckpointMismatch} if the output belongs to another input
   */
  take(row: InputRow, own: RowText): FinishedRow | undefined {
    const previous = this.#previous?.next();
    const record = this.#records?.next();
    if (record !== undefined) return this.#finishedRow(record, row, own, true);
    this.#cutTail(own.start);
    if (previous === undefined) return undefined;
    const result = this.#finishedRow(previous, row, own, false);
    return this.#options.retryErrors === true && result.status === 'error' ? undefined : result;
  }

  /** Ends the input. @throws {CheckpointMismatch} if the output has more rows */
  end(): void {
    const isLonger = this.#previous?.next() !== undefined || this.#records?.next() !== undefined;
    if (isLonger || trimZeros(this.#records?.tail.bytes).length > 0) throw this.#mismatch('it has more rows');
    this.#cutTail('');
  }

  #open(file: ReadableFile): OutputRecords | undefined {
    const { codec } = this.#options;
    const records = new OutputRecords(file, codec);
    if (codec.header === '') return records;
    const line = records.next();
    if (line === undefined && isPrefix(records.tail.bytes, codec.header)) return undefined;
    if (line !== codec.header) throw this.#mismatch('the header differs');
    return records;
  }

  /** Cuts off the first incomplete row, after verifying that it is the beginning of the expected row. */
  #cutTail(start: string): void {
    if (this.#records === undefined) return;
    const { offset, bytes } = this.#records.tail;
    if (!isPrefix(bytes, start)) throw this.#mismatch('the last line differs');
    this.#options.file?.cut(offset);
    this.#records = undefined;
  }

  #finishedRow(record: string, row: InputRow, { start, end }: RowText, isWritten: boolean): FinishedRow {
    const text = record.slice(start.length, -end.length);
    const status = record === start + text + end ? this.#options.codec.statusOf(text) : undefined;
    if (status === undefined) throw this.#mismatch(`line ${row.line} of the input differs`);
    return { text, status, isWritten };
  }

  #mismatch(difference: string): CheckpointMismatch {
    return new CheckpointMismatch(
      `${this.#options.name} does not match this input with these options: ${difference}`,
    );
  }
}

export const readFinishedRows = (
  { path, name }: { readonly path: string; readonly name: string },
  options: Pick<CheckpointOptions, 'codec' | 'retryErrors'>,
): FinishedRows => new FinishedRows({ ...options, name, previous: RowFile.openForReading(path) });

function isPrefix(torn: Buffer, text: string): boolean {
  const [bytes, whole] = [trimZeros(torn), Buffer.from(text)];
  const length = Math.min(bytes.length, whole.length);
  return bytes.subarray(0, length).equals(whole.subarray(0, length));
}

function trimZeros(bytes: Buffer = Buffer.alloc(0)): Buffer {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
}

type ReadableFile = Pick<RowFile, 'readBytes'>;

const CHUNK = 65_536;
const QUOTE = 0x22;
const MARK = '\ufeff';

/**
 * The complete records of an output, in order. A line break in quotes ends no record, so a record that is cut off anywhere
 * is not mistaken for a complete one.
 */
export class OutputRecords {
  readonly #file: ReadableFile;
  readonly #delimiter: number | undefined;
  readonly #terminator: number;
  #state: CellState = 'start';
  #chunk = Buffer.alloc(0);
  /** Number of bytes of the chunk to skip: the byte order mark. */
  #skip: number;
  /** The bytes before the chunk that belong to the same record. */
  #open: Buffer[] = [];
  #offset = 0;
  #end = 0;
  #isAtEnd = false;

  constructor(file: ReadableFile, codec: Pick<RowCodec, 'header' | 'delimiter' | 'terminator'>) {
    this.#file = file;
    this.#delimiter = codec.delimiter?.charCodeAt(0);
    this.#terminator = codec.terminator.charCodeAt(0);
    this.#skip = codec.header.startsWith(MARK) ? Buffer.byteLength(MARK) : 0;
    this.#readChunk();
  }

  next(): string | undefined {
    while (!this.#isAtEnd) {
      const length = this.#recordLength();
      if (length !== undefined) return this.#takeRecord(length);
      this.#open.push(this.#chunk);
      this.#readChunk();
    }
    return undefined;
  }

  /** The bytes after the last complete record: an incomplete row. Available once `next` returns nothing. */
  get tail(): { readonly offset: number; readonly bytes: Buffer } {
    return { offset: this.#offset, bytes: Buffer.concat(this.#open) };
  }

  #recordLength(): number | undefined {
    const start = this.#skip;
    this.#skip = 0;
    for (let at = start; at < this.#chunk.length; at += 1) {
      const byte = this.#chunk[at];
      if (byte === QUOTE && this.#delimiter !== undefined) {
        this.#state = AFTER_QUOTE[this.#state];
      } else if (this.#state !== 'quoted') {
        this.#state = byte === this.#delimiter || byte === this.#terminator ? 'start' : 'plain';
        if (byte === this.#terminator) return at + 1;
      }
    }
    return undefined;
  }

  #takeRecord(length: number): string {
    const record = Buffer.concat([...this.#open, this.#chunk.subarray(0, length)]);
    this.#open = [];
    this.#chunk = this.#chunk.subarray(length);
    this.#offset += record.length;
    return record.toString('utf8');
  }

  #readChunk(): void {
    const bytes = Buffer.allocUnsafe(CHUNK);
    const length = this.#file.readBytes(bytes, this.#end);
    this.#chunk = bytes.subarray(0, length);
    this.#end += length;
    this.#isAtEnd = length === 0;
  }
}
