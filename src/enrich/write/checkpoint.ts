import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../../client/endpoint.ts';
import { AppError } from '../../errors.ts';
import { openJsonFile } from '../../storage/state.ts';
import type { Status } from '../match/match.ts';
import type { InputRow } from '../read/row.ts';
import type { Plan } from '../run/plan.ts';
import type { RowCodec } from './row-codec.ts';
import type { RowFile } from './row-file.ts';

/** The result of an earlier run for a row. */
export interface FinishedRow {
  readonly text: string;
  readonly status: Status;
  /** False if the row is still only in the output of an earlier run, which a retry replaces. */
  readonly isWritten: boolean;
}

/** The rows of earlier runs, in the order of the input. */
export interface FinishedRowReader {
  /**
   * Returns the result for the next row of the input; undefined for all rows after the last finished one.
   * @param own the text of the input row in the output
   * @throws {CheckpointMismatch} if the output belongs to another input
   */
  take(row: InputRow, own: string): FinishedRow | undefined;
  /** Ends the input. @throws {CheckpointMismatch} if the output has more rows */
  end(): void;
}

export const noFinishedRows: FinishedRowReader = { take: () => undefined, end: () => {} };

/** The output belongs to another run. */
export class CheckpointMismatch extends AppError {
  constructor(message: string) {
    super('bad_input', message, {
      hint: { text: 'use the input and the options of the first run' },
    });
  }
}

/**
 * Opens the rows of an output for a run that continues it, and writes a missing header. Data after the last complete row
 * is cut off once the rows before it have been verified to belong to this input.
 * @param options `file`: the output, which may be empty or cut off anywhere. `name`: its name in messages. `previous`: a
 * finished output, whose failed rows are requested again with `retryErrors`
 * @throws {CheckpointMismatch} if the header differs
 */
export function openCheckpoint(options: {
  readonly file: Pick<RowFile, 'readBytes' | 'append' | 'cut'>;
  readonly codec: RowCodec;
  readonly name: string;
  readonly previous?: ReadableFile | undefined;
  readonly retryErrors?: boolean;
}): FinishedRowReader {
  const { file, codec, name, previous, retryErrors } = options;
  const mismatch = (difference: string): CheckpointMismatch =>
    new CheckpointMismatch(`${name} does not match this input with these options: ${difference}`);

  /** Skips the header. @returns false if there is no complete header yet */
  function skipHeader(records: OutputRecords): boolean {
    if (codec.header === '') return true;
    const header = records.next();
    if (header === undefined && isPrefix(records.tail.bytes, codec.header)) return false;
    if (header !== codec.header) throw mismatch('the header differs');
    return true;
  }

  const old = previous && readOutput(previous, codec);
  const hasOld = old !== undefined && skipHeader(old);
  const done = readOutput(file, codec);
  let inFile = skipHeader(done);
  if (!inFile) {
    file.cut(0);
    file.append(codec.header);
  }

  /** Cuts off the first incomplete row, after verifying that it is the beginning of the expected row. */
  function cutTail(own: string): void {
    const { offset, bytes } = done.tail;
    if (!isPrefix(bytes, own)) throw mismatch('the last line differs');
    file.cut(offset);
    inFile = false;
  }

  function finishedRow(record: string, own: string, row: InputRow): FinishedRow {
    const text = record.slice(own.length);
    const status = record.startsWith(own) ? codec.statusOf(text) : undefined;
    if (status === undefined) throw mismatch(`line ${row.line} of the input differs`);
    return { text, status, isWritten: inFile };
  }

  return {
    take(row, own) {
      const oldRow = hasOld ? old.next() : undefined;
      const finished = inFile ? done.next() : undefined;
      if (finished !== undefined) return finishedRow(finished, own, row);
      if (inFile) cutTail(own);
      if (oldRow === undefined) return undefined;
      const result = finishedRow(oldRow, own, row);
      return retryErrors === true && result.status === 'error' ? undefined : result;
    },
    end() {
      const hasMore =
        (hasOld && old.next() !== undefined) ||
        (inFile && (done.next() !== undefined || trimZeros(done.tail.bytes).length > 0));
      if (hasMore) throw mismatch('it has more rows');
      if (inFile) cutTail('');
    },
  };
}

/** Returns whether an incomplete row is the beginning of a text, or begins with it. Ignores trailing zeros. */
function isPrefix(torn: Buffer, text: string): boolean {
  const [bytes, whole] = [trimZeros(torn), Buffer.from(text)];
  const length = Math.min(bytes.length, whole.length);
  return bytes.subarray(0, length).equals(whole.subarray(0, length));
}

/** Removes trailing zeros, which a file may contain after a power failure. */
function trimZeros(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
}

type ReadableFile = Pick<RowFile, 'readBytes'>;

/** The complete records of an output, in order. */
interface OutputRecords {
  /** Returns a record with its line break. */
  next(): string | undefined;
  /** The bytes after the last complete record: an incomplete row. Available once `next` returns nothing. */
  readonly tail: { readonly offset: number; readonly bytes: Buffer };
}

const CHUNK = 65_536;
const LINE_FEED = 0x0a;
const QUOTE = 0x22;

/**
 * Reads the records of an output file. A record ends at a line feed outside of quotes. Quotes are counted, so a record
 * that is cut off anywhere is not mistaken for a complete one.
 * @param codec `quotes`: false if each record is one line, as in NDJSON
 */
export function readOutput(file: ReadableFile, { quotes }: Pick<RowCodec, 'quotes'>): OutputRecords {
  const tail = { offset: 0, bytes: Buffer.alloc(0) };

  function* records(): Generator<string, undefined> {
    const open: Buffer[] = [];
    let isQuoted = false;
    for (let end = 0; ; ) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const length = file.readBytes(chunk, end);
      if (length === 0) break;
      end += length;
      let start = 0;
      for (let at = 0; at < length; at += 1) {
        const byte = chunk[at];
        if (byte === QUOTE && quotes) isQuoted = !isQuoted;
        if (byte !== LINE_FEED || isQuoted) continue;
        const record = Buffer.concat([...open.splice(0), chunk.subarray(start, at + 1)]);
        yield record.toString('utf8');
        tail.offset += record.length;
        start = at + 1;
      }
      open.push(chunk.subarray(start, length));
    }
    tail.bytes = Buffer.concat(open);
  }

  const reader = records();
  return { next: () => reader.next().value, tail };
}

/** Values that the results depend on but that the output does not contain. */
type Fingerprint = Readonly<Record<string, string | undefined>>;

/**
 * Opens the fingerprint of the run that started an output: its options and service. It is stored in the state folder,
 * because the output contains only rows. If it is missing, or belongs to another file of that name, every run may
 * resume. The key is not part of it, because a replaced key is a reason to resume.
 */
export function openRunFingerprint(
  stateDir: string | undefined,
  { path, name }: { readonly path: string; readonly name: string },
  { options: { city, defaultCity, fields, loose }, columns }: Pick<Plan, 'options' | 'columns'>,
  service: URL,
) {
  const file = stateDir === undefined ? undefined : join(stateDir, 'lists', `${hash('sha256', path)}.json`);
  const store = openJsonFile(file, ({ identity, options }) =>
    typeof identity === 'string' && typeof options === 'object' && options !== null
      ? { identity, options: options as Fingerprint }
      : undefined,
  );
  const current: Fingerprint = {
    // A sandbox has a new port each time.
    'base-url': isLoopback(service)
      ? 'http://127.0.0.1'
      : `${service.origin}${service.pathname}`.replace(/\/api\/mcp$/, ''),
    city: city ?? (columns.city === undefined ? defaultCity : undefined),
    fields,
    'name-column': columns.name,
    'city-column': columns.city,
    'id-column': columns.id,
    loose: loose ? 'yes' : undefined,
  };
  return {
    /** @throws {CheckpointMismatch} if the run that started the output had other options */
    check(): void {
      const stored = store.read();
      if (stored === undefined || stored.identity !== identityOf(path)) return;
      const other = Object.keys(current).find((each) => stored.options[each] !== current[each]);
      if (other === undefined) return;
      const [first, now] = [stored.options[other], current[other]].map((value) =>
        value === undefined ? `no --${other}` : `--${other} '${value}'`,
      );
      throw new CheckpointMismatch(`${name} was started with ${first}, and this run has ${now}`);
    },
    save(): void {
      const identity = identityOf(path);
      if (identity !== undefined) store.write({ identity, options: current });
    },
  };
}

/** Identifies the file, even if another one replaces it: inode numbers alone are reused. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
}
