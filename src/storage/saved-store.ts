import { constants, fstatSync, fsyncSync, ftruncateSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Level } from '../client/types.ts';
import { AppError, attempt, failure } from '../errors.ts';
import { system } from '../hint.ts';
import type { Change } from '../util/changes.ts';
import { checkDepth, decodeUtf8, isObject, type JsonObject, tryParseJson } from '../util/json.ts';
import { writeFileAtomic } from './atomic.ts';
import { closing, fileError, ioError, ioReason, isNotRegularFile, perform, writeAll } from './files.ts';
import { withLock } from './lock.ts';
import { OwnFolder } from './own-folder.ts';

/** Times are ISO 8601, UTC. */
export interface SavedRestaurant {
  readonly id: string;
  /** Endpoint of the service, or `demo`. */
  readonly service: string;
  readonly saved_at: string;
  readonly note?: string;
  /** As it was found when it was saved. */
  readonly summary?: JsonObject;
  /** As it was when it was last looked up, at the level `fields`. */
  readonly details?: JsonObject;
  readonly fields?: Level;
  readonly checked_at?: string;
}

export interface Revision {
  readonly restaurants: readonly SavedRestaurant[];
  readonly changes?: readonly Change[];
}

interface Content {
  readonly restaurants: readonly SavedRestaurant[];
  /** Lines that may not be in the record of changes yet. */
  readonly pending?: PendingLines;
}

const NAME = 'saved.json';
const VERSION = 1;
const MAX_BYTES = 128 * 1024 * 1024;
const LOG_NAME = 'changes.ndjson';
const MAX_LOG_BYTES = 256 * 1024 * 1024;
const TEMP = /^\.restaurant-[0-9a-f]{16}\.tmp$/;

/**
 * The restaurants that the user saved, and the record of their changes. The file names the lines to append to the record
 * before they are appended, so that a run that is killed neither loses a change nor records it twice. A damaged file is
 * never changed.
 */
export class SavedStore {
  readonly path: string;
  readonly #folder: OwnFolder;

  constructor(dataDir: string) {
    this.path = join(dataDir, NAME);
    this.#folder = new OwnFolder(dataDir);
  }

  /** @throws {AppError} `io_error` */
  read(): readonly SavedRestaurant[] {
    return this.#read().restaurants;
  }

  /** Returns every recorded change, the oldest first. @throws {AppError} `io_error` */
  changes(): Change[] {
    const { pending } = this.#read();
    return perform('read', this.#logPath, () => recordedChanges(this.#folder, pending));
  }

  /** Changes the list under a lock. @throws {AppError} `io_error`; `in_use`; errors of `revise` */
  async update(revise: (restaurants: readonly SavedRestaurant[]) => Revision): Promise<Revision> {
    this.#folder.create();
    return withLock(this.path, () => {
      // Under the lock, nobody else uses a temporary file.
      this.#folder.sweep(TEMP);
      this.#folder.sweepTemps();
      const { restaurants, pending } = this.#read();
      if (pending !== undefined) this.#append(pending);
      const revision = revise(restaurants);
      this.#commit(revision);
      return revision;
    });
  }

  #commit({ restaurants, changes = [] }: Revision): void {
    if (changes.length === 0) {
      this.#write({ restaurants });
      return;
    }
    // The file forgets earlier lines only after they are in the record.
    const pending = { at: this.#inLog(endOf), lines: linesOf(changes) };
    this.#write({ restaurants, pending });
    this.#append(pending);
    // Everything is recorded, so if this fails, the next run repeats it.
    attempt(() => this.#write({ restaurants }));
  }

  #read(): Content {
    try {
      const content = this.#folder.read(NAME, MAX_BYTES);
      if (content === undefined) return { restaurants: [] };
      return parse(this.path, content.bytes);
    } catch (error) {
      if (isNotRegularFile(error)) throw unusable(this.path, ioReason(error));
      throw ioError('read', this.path, error);
    }
  }

  #write(content: Content): void {
    checkDepth(content);
    const text = `${JSON.stringify({ version: VERSION, ...content }, undefined, 1)}\n`;
    if (Buffer.byteLength(text) > MAX_BYTES)
      throw ioError('write', this.path, fileError('ETOOLARGE', 'too large'));
    writeFileAtomic(this.path, text);
  }

  get #logPath(): string {
    return join(this.#folder.path, LOG_NAME);
  }

  #inLog<T>(work: (file: number) => T): T {
    return perform('write', this.#logPath, () =>
      closing(this.#folder.open(LOG_NAME, O_RDWR | O_CREAT), work),
    );
  }

  /** Has the same result however often it is repeated, whether or not an earlier attempt wrote some of the lines. */
  #append({ at, lines }: PendingLines): void {
    this.#inLog((file) => {
      const end = Math.min(at, fstatSync(file).size);
      ftruncateSync(file, end);
      writeAll(file, Buffer.from(lines), end);
      fsyncSync(file);
    });
  }
}

function parse(path: string, bytes: Buffer): Content {
  const value = tryParseJson(decodeUtf8(bytes) ?? '');
  if (value === undefined) throw unusable(path, bytes.length === 0 ? 'it is empty' : 'it is not JSON');
  const { version, restaurants, pending } = isObject(value) ? value : {};
  if (typeof version === 'number' && version > VERSION)
    throw new AppError('io_error', `cannot use ${path}: a newer version of this program wrote it`);
  if (version !== VERSION || !Array.isArray(restaurants) || !restaurants.every(isSaved))
    throw unusable(path, 'it is not a list of saved restaurants');
  if (pending === undefined) return { restaurants };
  if (!isPending(pending)) throw unusable(path, '"pending" is not valid');
  return { restaurants, pending };
}

function isSaved(value: unknown): value is SavedRestaurant {
  if (!isObject(value)) return false;
  const { id, service, saved_at, note, summary, details, fields, checked_at } = value;
  return (
    [id, service, saved_at].every((each) => typeof each === 'string') &&
    [note, fields, checked_at].every((each) => each === undefined || typeof each === 'string') &&
    [summary, details].every((each) => each === undefined || isObject(each))
  );
}

const isPending = (value: unknown): value is PendingLines =>
  isObject(value) &&
  Number.isSafeInteger(value.at) &&
  Number(value.at) >= 0 &&
  typeof value.lines === 'string';

/** The file is left as it is: nothing else has its content. */
function unusable(path: string, reason: string): AppError {
  return failure('io_error', `cannot use ${path}: ${reason}`, {
    text: 'correct it, or start over',
    command: system('mv', path, `${path}.bak`),
  });
}

/** Lines to append, and the size of the file before: so a write that was cut off can be repeated. */
interface PendingLines {
  readonly at: number;
  readonly lines: string;
}

const LINE_BREAK = 10;
const { O_CREAT, O_RDWR } = constants;

/** The record of changes has one per line, and is only appended to. A line that was cut off is left out. */
function recordedChanges(folder: OwnFolder, pending: PendingLines | undefined): Change[] {
  const bytes = folder.read(LOG_NAME, MAX_LOG_BYTES)?.bytes ?? Buffer.alloc(0);
  const recorded = bytes.toString('utf8', 0, pending?.at);
  return (recorded + (pending?.lines ?? '')).split('\n').flatMap(parseLine);
}

const linesOf = (changes: readonly Change[]): string =>
  changes
    .map(({ when, id, name, field, before, after }) =>
      JSON.stringify({ when, id, name, field, before, after }),
    )
    .map((line) => `${line}\n`)
    .join('');

function parseLine(line: string): Change[] {
  const value = tryParseJson(line);
  if (!isObject(value)) return [];
  const { when, id, name, field, before = null, after = null } = value;
  if (!isText(when) || !isText(id) || !isText(name) || !isText(field)) return [];
  return [{ when, id, name, field, before, after }];
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** After a line break, which an edit may have removed. */
function endOf(file: number): number {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(1);
  if (size === 0 || (readSync(file, bytes, 0, 1, size - 1) === 1 && bytes[0] === LINE_BREAK)) return size;
  writeAll(file, Buffer.from('\n'), size);
  return size + 1;
}
