import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../../client/endpoint.ts';
import { AppError } from '../../errors.ts';
import { openJsonFile } from '../../storage/state.ts';
import { AFTER_QUOTE, type CellState } from '../../util/csv.ts';
import { type Columns, FIELDS } from '../match/columns.ts';
import type { Status } from '../match/match.ts';
import type { InputRow } from '../row.ts';
import type { AddedColumn, RowCodec, RowText } from './row-codec.ts';
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
  /** The output, which may be empty or cut off anywhere. */
  readonly file: Pick<RowFile, 'readBytes' | 'append' | 'cut'>;
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
  readonly #records: OutputRecords;
  #isInFile: boolean;

  /** Writes a missing header. @throws {CheckpointMismatch} if the header differs */
  constructor(options: CheckpointOptions) {
    const { file, codec, previous } = options;
    this.#options = options;
    const old = previous && new OutputRecords(previous, codec);
    this.#previous = old && this.#skipHeader(old) ? old : undefined;
    this.#records = new OutputRecords(file, codec);
    this.#isInFile = this.#skipHeader(this.#records);
    if (this.#isInFile) return;
    file.cut(0);
    file.append(codec.header);
  }

  /**
   * Returns the result for the next row of the input; undefined for all rows after the last finished one.
   * @param own the text of the input row in the output
   * @throws {CheckpointMismatch} if the output belongs to another input
   */
  take(row: InputRow, own: RowText): FinishedRow | undefined {
    const previous = this.#previous?.next();
    const record = this.#isInFile ? this.#records.next() : undefined;
    if (record !== undefined) return this.#finishedRow(record, row, own);
    if (this.#isInFile) this.#cutTail(own.start);
    if (previous === undefined) return undefined;
    const result = this.#finishedRow(previous, row, own);
    return this.#options.retryErrors === true && result.status === 'error' ? undefined : result;
  }

  /** Ends the input. @throws {CheckpointMismatch} if the output has more rows */
  end(): void {
    const hasMore =
      this.#previous?.next() !== undefined ||
      (this.#isInFile &&
        (this.#records.next() !== undefined || trimZeros(this.#records.tail.bytes).length > 0));
    if (hasMore) throw this.#mismatch('it has more rows');
    if (this.#isInFile) this.#cutTail('');
  }

  #skipHeader(records: OutputRecords): boolean {
    const { header } = this.#options.codec;
    if (header === '') return true;
    const line = records.next();
    if (line === undefined && isPrefix(records.tail.bytes, header)) return false;
    if (line !== header) throw this.#mismatch('the header differs');
    return true;
  }

  /** Cuts off the first incomplete row, after verifying that it is the beginning of the expected row. */
  #cutTail(start: string): void {
    const { offset, bytes } = this.#records.tail;
    if (!isPrefix(bytes, start)) throw this.#mismatch('the last line differs');
    this.#options.file.cut(offset);
    this.#isInFile = false;
  }

  #finishedRow(record: string, row: InputRow, { start, end }: RowText): FinishedRow {
    const text = record.slice(start.length, -end.length);
    const status = record === start + text + end ? this.#options.codec.statusOf(text) : undefined;
    if (status === undefined) throw this.#mismatch(`line ${row.line} of the input differs`);
    return { text, status, isWritten: this.#isInFile };
  }

  #mismatch(difference: string): CheckpointMismatch {
    return new CheckpointMismatch(
      `${this.#options.name} does not match this input with these options: ${difference}`,
    );
  }
}

/** Reads the rows of a finished or stopped run, and changes nothing. */
export function readFinishedRows(
  { path, name }: { readonly path: string; readonly name: string },
  options: Pick<CheckpointOptions, 'codec' | 'retryErrors'>,
): FinishedRows {
  const file = { readBytes: () => 0, append() {}, cut() {} };
  return new FinishedRows({ ...options, name, file, previous: RowFile.openForReading(path) });
}

function isPrefix(torn: Buffer, text: string): boolean {
  const [bytes, whole] = [trimZeros(torn), Buffer.from(text)];
  const length = Math.min(bytes.length, whole.length);
  return bytes.subarray(0, length).equals(whole.subarray(0, length));
}

function trimZeros(bytes: Buffer): Buffer {
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

/** Values that the results depend on but that the output does not contain. */
export type Fingerprint = Readonly<Record<string, string | undefined>>;

interface FingerprintSource {
  readonly options: {
    readonly city?: string | undefined;
    readonly defaultCity?: string | undefined;
    readonly fields?: string | undefined;
    readonly loose?: boolean;
    readonly added: readonly AddedColumn[];
  };
  readonly columns: Omit<Columns, 'query'>;
}

/**
 * Opens the fingerprint of the run that started an output: its options and service. It is stored in the state folder,
 * because the output contains only rows. If it is missing, or belongs to another file of that name, every run may
 * resume. The key is not part of it, because a replaced key is a reason to resume.
 */
export function openRunFingerprint(
  stateDir: string | undefined,
  { path, name }: { readonly path: string; readonly name: string },
  { options: { city, defaultCity, fields, loose, added }, columns }: FingerprintSource,
  service: URL,
) {
  const store = openStoredFingerprint(stateDir, path);
  const current: Fingerprint = {
    // A sandbox has a new port each time.
    'base-url': isLoopback(service)
      ? 'http://127.0.0.1'
      : `${service.origin}${service.pathname}`.replace(/\/api\/mcp$/, ''),
    city: city ?? (columns.city === undefined ? defaultCity : undefined),
    fields,
    ...Object.fromEntries(FIELDS.map((field) => [`${field}-column`, columns[field]])),
    loose: loose ? 'yes' : undefined,
    add: added.length === 0 ? undefined : added.map(({ name, path: from }) => `${name}=${from}`).join('\n'),
  };
  return {
    /** @throws {CheckpointMismatch} if the run that started the output had other options */
    check(): void {
      const stored = store.read();
      if (stored === undefined) return;
      const other = Object.keys(current).find((each) => stored[each] !== current[each]);
      if (other === undefined) return;
      const [first, now] = [stored[other], current[other]].map((value) =>
        value === undefined ? `no --${other}` : `--${other} '${value}'`,
      );
      throw new CheckpointMismatch(`${name} was started with ${first}, and this run has ${now}`);
    },
    save: () => store.write(current),
  };
}

/** The fingerprint of the run that started the output at `path`. */
export function openStoredFingerprint(stateDir: string | undefined, path: string) {
  const file = stateDir === undefined ? undefined : join(stateDir, 'lists', `${hash('sha256', path)}.json`);
  const store = openJsonFile(file, ({ identity, options }) =>
    typeof identity === 'string' && typeof options === 'object' && options !== null
      ? { identity, options: options as Fingerprint }
      : undefined,
  );
  return {
    /** Returns nothing if another file has replaced the output. */
    read(): Fingerprint | undefined {
      const stored = store.read();
      return stored?.identity === identityOf(path) ? stored?.options : undefined;
    },
    write(options: Fingerprint): void {
      const identity = identityOf(path);
      if (identity !== undefined) store.write({ identity, options });
    },
  };
}

/** Identifies the file, even if another one replaces it: inode numbers alone are reused. */
export function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
}
