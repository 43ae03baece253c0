import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { ensurePrivateFolder } from './atomic.ts';
import { isNotRegularFile, openRegularFile, writeAll } from './files.ts';
import { decodeRecords, encodeRecord, type LedgerRecord, RECORD_SIZE } from './record.ts';

/** What a log holds, each in the order in which it was appended. */
export interface History {
  /** Requests, claims and cancels. */
  readonly records: readonly LedgerRecord[];
  readonly holds: readonly LedgerRecord[];
}

/** Records in the order in which they were appended, by whichever process. */
export interface Log {
  /** @throws the system's error when the record cannot be kept. */
  append(record: LedgerRecord): void;
  /**
   * @param since older records may be left out, in milliseconds since the epoch.
   * @throws the system's error when the records cannot be read.
   */
  read(since: number): History;
  /** The holds alone: quicker than {@link read}, and little to keep. @throws as `read` */
  holds(since: number): readonly LedgerRecord[];
  /** Gives the open file back; the next record opens it again. */
  close(): void;
}

/** What was read of one file so far. */
interface Part {
  readonly generation: number;
  /** Inode and birth time: an inode is given out again. */
  readonly identity: string;
  readonly offset: number;
  readonly records: LedgerRecord[];
  readonly holds: LedgerRecord[];
}

/** A file with so many is followed by the next; it and its predecessor are kept. A daily limit above it is not exact. */
const MAX_RECORDS = 65_536;
export const MAX_FILE_BYTES = MAX_RECORDS * RECORD_SIZE;
const MAX_HOLDS = 1000;
const MAX_STEPS = 100;
/** How long a file that is open may have another in its place unnoticed, where its links do not tell. */
const LOOK_EVERY_MS = 1000;
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_RDONLY, O_WRONLY } = constants;
/** A link is not followed: whoever planted it chose what is written to. */
const APPEND = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW;

/** A log for this process alone. */
export function openMemoryLog(start: History): Log {
  let records = [...start.records];
  let holds = [...start.holds];
  return {
    append(record) {
      if (record.type === 'hold') holds = [...holds.slice(-MAX_HOLDS), record];
      else records.push(record);
      if (records.length > 2 * MAX_RECORDS) records = records.slice(MAX_RECORDS);
    },
    read: () => ({ records, holds }),
    holds: () => holds,
    close: () => {},
  };
}

/**
 * A log shared by processes without a lock: files `<name>.<generation>` that grow by O_APPEND and are never rewritten.
 * When one is full the next is created. Whoever appended looks afterwards whether there is a next one by now, and if so
 * appends there too; whoever appends to the next one reads the one before it afterwards. So of two processes at least
 * one sees the other's record, and readers count a record that stands in both files once, by its id.
 */
export function openFileLog(folder: string, name: string): Log {
  const pathOf = (generation: number) => join(folder, `${name}.${generation}`);
  const everything = openReader(pathOf, newest, () => true);
  const onlyHolds = openReader(pathOf, newest, ({ type }) => type === 'hold');
  /** The newest file, kept open: to find and open it costs more than to write to it. */
  let open: { readonly file: number; readonly generation: number; lookedAt: number } | undefined;

  function append(record: LedgerRecord): void {
    const bytes = encodeRecord(record);
    for (let step = 0; step < MAX_STEPS; step += 1) {
      open ??= openNewest();
      const { file, generation, lookedAt } = open;
      writeAll(file, bytes);
      const { size, nlink, ino } = fstatSync(file);
      const now = performance.now();
      // The next file is begun when this one is full, so until then there is none.
      if (size < MAX_FILE_BYTES && nlink > 0 && now - lookedAt < LOOK_EVERY_MS) return;
      open.lookedAt = now;
      const isThere = statSync(pathOf(generation), { throwIfNoEntry: false })?.ino === ino;
      const isLast = isThere && !existsSync(pathOf(generation + 1));
      if (isLast && size < MAX_FILE_BYTES) return;
      close();
      if (!isLast) continue;
      begin(generation + 1);
      return;
    }
  }

  function openNewest() {
    const generation = newest();
    return { file: openIn(folder, pathOf(generation)), generation, lookedAt: performance.now() };
  }

  function close(): void {
    const file = open?.file;
    open = undefined;
    if (file !== undefined) closeSync(file);
  }

  function begin(generation: number): void {
    closeSync(openRegularFile(pathOf(generation), APPEND));
    for (const old of generations()) if (old < generation - 1) rmSync(pathOf(old), { force: true });
  }

  function newest(): number {
    return Math.max(0, ...generations());
  }

  function generations(): number[] {
    try {
      return readdirSync(folder)
        .filter((file) => file.startsWith(`${name}.`) && /^\d{1,15}$/.test(file.slice(name.length + 1)))
        .map((file) => Number(file.slice(name.length + 1)));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  return {
    append,
    read: everything,
    holds: (since) => onlyHolds(since).holds,
    close,
  };
}

type Wanted = (record: LedgerRecord) => boolean;

/** Reads the last two files; of what was read before only what was added since. */
function openReader(pathOf: (generation: number) => string, newest: () => number, wanted: Wanted) {
  let parts: Part[] = [];
  return (since: number): History => {
    const last = newest();
    const before = new Map(parts.map((part) => [part.generation, part]));
    parts = [last - 1, last]
      .map((generation) =>
        readPart(
          pathOf(generation),
          generation,
          before.get(generation),
          (record) => record.at >= since && wanted(record),
        ),
      )
      .filter((part) => part !== undefined);
    const [first, second] = parts;
    if (first === undefined || second === undefined) return first ?? { records: [], holds: [] };
    return { records: first.records.concat(second.records), holds: first.holds.concat(second.holds) };
  };
}

/**
 * Opens a file to append to. Makes the folder, which may have been deleted while we run; what is no file and stands in its
 * place is set aside.
 */
function openIn(folder: string, path: string): number {
  ensurePrivateFolder(folder);
  try {
    return openRegularFile(path, APPEND);
  } catch (error) {
    if (!isNotRegularFile(error) && systemCode(error) !== 'ELOOP') throw error;
    renameSync(path, `${path}.damaged`);
    return openRegularFile(path, APPEND);
  }
}

/** Reads what was added since `before`; all of it when the file is another one now or was cut. */
function readPart(
  path: string,
  generation: number,
  before: Part | undefined,
  wanted: Wanted,
): Part | undefined {
  let file: number;
  try {
    file = openRegularFile(path, O_RDONLY | O_NOFOLLOW);
  } catch (error) {
    // What is no ledger is set aside by the next one who counts.
    if (['ENOENT', 'ELOOP'].includes(systemCode(error) ?? '') || isNotRegularFile(error)) return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(file, { bigint: true });
    const size = Number(stats.size);
    const identity = `${stats.ino} ${stats.birthtimeNs}`;
    const known = before?.identity === identity && before.offset <= size ? before : undefined;
    // A file is hardly over its size; of one that is, the end is what matters.
    const start = Math.max(known?.offset ?? 0, size - 2 * MAX_FILE_BYTES);
    const bytes = readRange(file, start, size);
    const { records, rest } = decodeRecords(bytes);
    const part = {
      generation,
      identity,
      offset: start + bytes.length - rest,
      records: known?.records ?? [],
      holds: known?.holds ?? [],
    };
    for (const record of records) {
      if (wanted(record)) (record.type === 'hold' ? part.holds : part.records).push(record);
    }
    return part;
  } finally {
    closeSync(file);
  }
}

function readRange(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - start));
  let length = 0;
  while (length < bytes.length) {
    const count = readSync(file, bytes, length, bytes.length - length, start + length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}
