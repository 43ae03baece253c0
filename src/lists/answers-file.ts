import { dirname } from 'node:path';
import { AppError, attempt, failure, usage } from '../errors.ts';
import type { Hint } from '../hint.ts';
import { flushFolder, randomName } from '../storage/files.ts';
import { type tryLock, withLock } from '../storage/lock.ts';
import { CUT_OFF, type Durability, Log, type LogLine, wasCutOff } from '../storage/log.ts';
import { checkDepth, isObject, type JsonObject, tryParseJson } from '../util/json.ts';
import {
  type AnswerLine,
  type Dated,
  decodeLine,
  encodeLine,
  HEADER_START,
  keysOf,
  LINE_VERSION,
  type LineContent,
  type LineOf,
} from './answer-lines.ts';
import { AnswersIndex, type IndexedLine, isLater, NO_SHAPE } from './answers-index.ts';

export interface AnswersOptions {
  /** Endpoint without user, password, and query; or `demo`. Undefined to read answers of any service. */
  readonly service: string | undefined;
  /** `write` holds the lock until `close`; `share` takes it in `locked` only; `read` needs none. */
  readonly access: 'read' | 'write' | 'share';
  readonly context: { now(): number };
  warn(message: string): void;
  /** Advice for a file of something else. */
  readonly hint?: Hint;
  /** Advice for a file that cannot be read, locked, or written. Default: `hint`. */
  readonly ioHint?: Hint;
}

export function withIoHint(error: unknown, { hint, ioHint = hint }: AnswersOptions): unknown {
  const isOurs = error instanceof AppError && error.code === 'io_error' && error.details.hint === undefined;
  return isOurs && ioHint !== undefined ? error.add({ hint: ioHint }) : error;
}

type Lock = ReturnType<typeof tryLock>;

const ABOUT =
  'What the service said, and what you decided or saved. Without this file, all of it is asked again.';
const MAX_SHOWN = 5;
const MAX_DAMAGED = 10_000;
/** In bytes. Of a larger first line, only its start is checked: the file may be that of another program. */
const MAX_HEADER = 4096;
const MAX_DECODED = 32;
const MAX_NEWEST = 256;
/** Longer lines are not kept: a file from a stranger may have many of them. In bytes. */
const MAX_DECODED_LENGTH = 65_536;

/** The lines of an answers file: a set, whose order does not matter. It is only appended to. */
export class AnswersFile {
  readonly path: string;
  /** Increases with every line that may change a decision. */
  revision = 0;
  readonly #options: AnswersOptions;
  #lock: Lock | undefined;
  #log: Log | undefined;
  /** Whether the end of the file was checked since the lock was taken. */
  #isChecked = false;
  #hasHeader = false;
  #isClosed = false;
  #service: string | undefined;
  #index = new AnswersIndex(0);
  #undos: LineOf<'undo'>[] = [];
  #undone = new Set<string>();
  /** Lines that were read last, by offset. */
  #decoded = new Map<number, AnswerLine>();
  /** Places that were found last, by key, unless they are all that the index has: most restaurants have one line. */
  #newest = new Map<string, readonly IndexedLine[]>();

  constructor(path: string, options: AnswersOptions, lock?: Lock) {
    this.path = path;
    this.#options = options;
    this.#lock = lock;
    try {
      this.#open();
    } catch (error) {
      attempt(() => this.#log?.close());
      throw error;
    }
  }

  get service(): string | undefined {
    return this.#service;
  }

  protected now(): number {
    return this.#options.context.now();
  }

  get size(): number {
    return this.#index.size;
  }

  /** With access `share`: waits for the lock, reads what others have added, and does the work. */
  async locked<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await withLock(this.path, async () => {
        if (this.#log === undefined || this.#log.isReplaced) this.#open();
        this.#isChecked = false;
        this.#readNew();
        return work();
      });
    } catch (error) {
      throw withIoHint(error, this.#options);
    }
  }

  close(): void {
    this.#isClosed = true;
    try {
      this.#log?.close();
    } finally {
      this.#log = undefined;
      this.#lock?.release();
      this.#lock = undefined;
    }
  }

  #open(): void {
    this.#log?.close();
    this.#log = Log.open(this.path, this.#options.access === 'read' ? 'read' : 'append');
    this.#isChecked = false;
    this.#hasHeader = false;
    this.#index = new AnswersIndex(Math.floor(Math.random() * 2 ** 32));
    this.#undos = [];
    this.#undone = new Set();
    this.#decoded = new Map();
    this.#newest = new Map();
    this.#checkFirstLine();
    this.#readNew();
  }

  #readNew(): void {
    const damaged: number[] = [];
    const count = this.#undos.length;
    for (const line of this.#log?.lines() ?? []) {
      if (line.text === '' || this.#readLine(line)) continue;
      damaged.push(line.number);
      if (damaged.length > MAX_DAMAGED)
        throw usage(`${this.path} has more than ${MAX_DAMAGED} damaged lines`, this.#options.hint);
    }
    if (this.#undos.length > count) this.#undone = findUndone(this.#undos, this.#index);
    if (damaged.length === 0) return;
    const shown = damaged.slice(0, MAX_SHOWN).join(', ');
    const more = damaged.length > MAX_SHOWN ? ` and ${damaged.length - MAX_SHOWN} more` : '';
    this.#options.warn(
      `${this.path}: skipped damaged line${damaged.length === 1 ? '' : 's'} ${shown}${more}`,
    );
  }

  /** A first line that was cut off is accepted. Any other text means that the file belongs to something else. */
  #checkFirstLine(): void {
    const [text = '', ...more] = this.#log?.read(0, MAX_HEADER).split('\n', 2) ?? [];
    if (!isFirstLine(text, more.length > 0))
      throw usage(`${this.path} is not an answers file`, this.#options.hint);
  }

  /** @returns false if the line is damaged */
  #readLine({ text, offset, length, isEnded }: LogLine): boolean {
    const value = text === undefined ? undefined : tryParseJson(text);
    if (value === undefined) return !isEnded || (text !== undefined && wasCutOff(text));
    if (isHeader(value)) {
      this.#checkHeader(value);
      return true;
    }
    const line = decodeLine(value);
    if (line === 'other') return true;
    if (line === undefined || !isShallow(line)) return false;
    if ('undo' in line) this.#undos.push(line);
    if ('undo' in line || 'decide' in line) this.revision += 1;
    const keys = keysOf(line);
    this.#index.add({ id: line.id, at: line.at, offset, length }, keys);
    if ('undo' in line) this.#newest = new Map();
    else for (const { key } of keys) this.#newest.delete(key);
    return true;
  }

  /** A second header, as concatenated files have it, is ignored. */
  #checkHeader({ service, version }: JsonObject): void {
    if (this.#hasHeader) return;
    this.#hasHeader = true;
    const { hint, access } = this.#options;
    this.#service = typeof service === 'string' ? service : undefined;
    if (this.#options.service !== undefined && service !== this.#options.service) {
      const other = typeof service === 'string' ? service : 'another service';
      throw usage(`${this.path} has answers of ${other}, not of ${this.#options.service}`, hint);
    }
    if (access !== 'read' && typeof version === 'number' && version > LINE_VERSION)
      throw usage(`cannot add to ${this.path}: a newer version of this program wrote it`, hint);
  }

  /** The lines with a key that count, and possibly others; the newest first. */
  protected *all(key: string): Generator<AnswerLine> {
    yield* this.#read(this.#index.find(key));
  }

  /**
   * Of the lines with a key that count, the newest of each shape, the newest first: a restaurant that is refreshed every day
   * has hundreds of lines, and most have the same members. @param read undefined for a line with another key
   */
  protected *newestOfEach<T>(key: string, read: (line: AnswerLine) => T | undefined): Generator<T> {
    const known = this.#newest.get(key);
    const all = known ?? this.#index.find(key);
    const places: IndexedLine[] = [];
    const shapes = new Set<number>();
    for (const place of all) {
      if (shapes.has(place.shape) || this.#undone.has(place.id)) continue;
      const line = this.#decode(place);
      const value = line && read(line);
      if (value === undefined) continue;
      if (place.shape !== NO_SHAPE) shapes.add(place.shape);
      places.push(place);
      yield value;
    }
    if (known !== undefined || places.length === all.length) return;
    if (this.#newest.size >= MAX_NEWEST) this.#newest = new Map();
    this.#newest.set(key, places);
  }

  /** Every line that counts, in no order. */
  lines(): Generator<AnswerLine> {
    return this.#read(this.#index.all());
  }

  /** A line, even if it was taken back. */
  protected withId(id: string): AnswerLine | undefined {
    const place = this.#index.findId(id);
    return place && this.#decode(place);
  }

  *#read(places: Iterable<IndexedLine>): Generator<AnswerLine> {
    for (const place of places) {
      const line = this.#undone.has(place.id) ? undefined : this.#decode(place);
      if (line !== undefined) yield line;
    }
  }

  /** A row usually needs a line more than once: as the answer to its search, and as what it says about a restaurant. */
  #decode({ offset, length }: IndexedLine): AnswerLine | undefined {
    const known = this.#decoded.get(offset);
    if (known !== undefined) return known;
    const line = decodeLine(tryParseJson(this.#log?.read(offset, length) ?? ''));
    if (typeof line !== 'object') return undefined;
    if (this.#decoded.size >= MAX_DECODED) this.#decoded = new Map();
    if (length <= MAX_DECODED_LENGTH) this.#decoded.set(offset, line);
    return line;
  }

  /** Takes a line back; for an undo, its line counts again. @returns the id of the new line */
  undo(id: string): string {
    const undos = this.#undos.filter(({ undo }) => undo === id);
    return this.append({ undo: id }, 'now', this.#index.findId(id), ...undos);
  }

  /** @param before lines of the same key, which it must follow in time */
  protected append(
    content: LineContent,
    durability: Durability,
    ...before: readonly (Dated | undefined)[]
  ): string {
    const log = this.#writableLog();
    const id = randomName();
    const at = Math.max(this.now(), ...before.flatMap((line) => (line === undefined ? [] : line.at + 1)));
    log.append(encodeLine({ id, at, ...content }), durability);
    this.#readNew();
    return id;
  }

  /** @throws {AppError} `io_error`, also for an answer that arrives after the file was closed and its lock released */
  #writableLog(): Log {
    if (this.#isClosed) throw failure('io_error', `${this.path} is closed`);
    if (this.#log === undefined) {
      this.#log = Log.open(this.path, 'create');
      flushFolder(dirname(this.path));
    }
    const log = this.#log as Log;
    log.assertInPlace();
    if (!this.#isChecked) {
      log.endLastLine();
      this.#readNew();
      this.#isChecked = true;
    }
    if (!this.#hasHeader) {
      log.append(headerLine(this.#options.service ?? ''), 'soon');
      this.#readNew();
    }
    return log;
  }
}

const headerLine = (service: string): string =>
  JSON.stringify({ restaurant: 'answers', version: LINE_VERSION, service, about: ABOUT });

const isHeader = (value: unknown): value is JsonObject => isObject(value) && value.restaurant === 'answers';

function isFirstLine(text: string, isEnded: boolean): boolean {
  const value = tryParseJson(text);
  const whole = wasCutOff(text) ? text.slice(0, -CUT_OFF.length) : text;
  const isStart = HEADER_START.startsWith(whole.slice(0, HEADER_START.length));
  const isCut = value === undefined && isStart && (!isEnded || wasCutOff(text));
  return isCut || isHeader(value);
}

function isShallow(value: unknown): boolean {
  return attempt(() => checkDepth(value) ?? true) === true;
}

/** A file may have any line first. An undo counts unless a later one takes it back, so undos cannot form a circle. */
function findUndone(undos: readonly LineOf<'undo'>[], index: AnswersIndex): Set<string> {
  const undone = new Set<string>();
  // Each id is searched once: all lines may have the same.
  const ids = new Set(undos.map(({ undo }) => undo));
  const targets = new Map([...ids].map((id) => [id, index.findId(id)]));
  for (const line of [...undos].sort((a, b) => (isLater(a, b) ? -1 : 1))) {
    const target = undone.has(line.id) ? undefined : targets.get(line.undo);
    if (target !== undefined && isLater(line, target)) undone.add(line.undo);
  }
  return undone;
}
