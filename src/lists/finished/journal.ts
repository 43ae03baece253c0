import { hash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { type AppError, failure, usage } from '../../errors.ts';
import { again, slot, system } from '../../hint.ts';
import { csvRow } from '../../output/csv.ts';
import { toCell } from '../../output/records.ts';
import { writeFileAtomic } from '../../storage/atomic.ts';
import { perform, readRegularFile, whenFree } from '../../storage/files.ts';
import { tryLock } from '../../storage/lock.ts';
import type { FieldChange } from '../../util/changes.ts';
import { plural } from '../../util/format.ts';
import { isObject, tryParseJson } from '../../util/json.ts';
import { OutputRecords } from '../write/checkpoint.ts';
import { NEVER_CHECKED, openCheckedTimes } from '../write/list-state.ts';
import { RowFile } from '../write/row-file.ts';
import { FinishedList, type ListFlags, type ListRow, type Values } from './finished-list.ts';

/** Changes of a run that was killed are written first. @throws {AppError} `in_use`, `bad_input`, `io_error` */
export async function changeList<T>(
  app: App,
  file: string,
  flags: ListFlags,
  work: (list: FinishedList, journal: Journal) => Promise<T>,
): Promise<T> {
  const list = await FinishedList.open(app, file, flags);
  const lock = tryLock(list.path);
  const journal = new Journal(list.path, app.context.now);
  try {
    const pending = journal.latest.size;
    if (pending > 0) {
      await commit(app, list, journal);
      await app.notes.note(`${plural(pending, 'row')} of an interrupted run added to ${list.name}`);
    }
    try {
      return await work(list, journal);
    } finally {
      await commit(app, list, journal);
    }
  } finally {
    journal.close();
    lock.release();
  }
}

async function commit(app: App, list: FinishedList, journal: Journal): Promise<void> {
  if (journal.entries.length === 0) return;
  const stored = openCheckedTimes(app.paths.stateDir, list.path);
  // Before the list is replaced, because the times belong to the present file.
  const times = stored.read() ?? NEVER_CHECKED;
  await journal.apply(list);
  recordChanges(journal.entries, app.globals.rawCsv !== true);
  const checked = journal.entries.flatMap(({ id, at }) => (id === undefined ? [] : [[id, at] as const]));
  const ids = { ...times.ids, ...Object.fromEntries(checked) };
  if (Object.keys(ids).length > 0) stored.write({ ...times, ids });
  journal.remove();
}

/** A decision about a row, or the result of a lookup, that is not in the file yet. */
interface JournalEntry {
  readonly row: number;
  /** Identifies the text of the row at that time. */
  readonly was: string;
  /** The new values; null to leave the row as it is. */
  readonly set: Values | null;
  /** Time of the response, in milliseconds since the epoch. */
  readonly at: number;
  readonly id?: string;
  readonly name?: string;
  readonly changes?: readonly FieldChange[];
  readonly changesFile?: string | undefined;
}

export const hashRow = (text: string): string => hash('sha256', text).slice(0, 16);

/** The latest time that a Date can have (ECMAScript, 21.4.1.1). */
const MAX_TIME = 8.64e15;
const LINES = { header: '', delimiter: undefined, terminator: '\n' };

/**
 * Changes of rows that are not in the file yet, in a file next to it. Each is written at once, because rewriting a long
 * list takes seconds. An incomplete last line, as a killed process leaves it, is dropped.
 */
export class Journal {
  readonly path: string;
  readonly entries: JournalEntry[] = [];
  readonly #now: () => number;
  #file: RowFile | undefined;

  constructor(listPath: string, now: () => number) {
    this.#now = now;
    this.path = `${listPath}.journal`;
    if (!existsSync(this.path)) return;
    this.#file = RowFile.openOwn(this.path);
    const records = new OutputRecords(this.#file, LINES);
    for (let line = records.next(); line !== undefined; line = records.next()) {
      const entry = tryParseJson(line);
      if (isEntry(entry)) this.entries.push(entry);
    }
    this.#file.cut(records.tail.offset);
  }

  add(row: ListRow, { set, ...lookup }: Omit<JournalEntry, 'row' | 'was' | 'at'>): void {
    const whole = { row: row.number, was: hashRow(row.text), set, at: this.#now(), ...lookup };
    this.#file ??= RowFile.create(this.path, 0o600);
    this.#file.append(`${JSON.stringify(whole)}\n`);
    this.entries.push(whole);
  }

  get latest(): ReadonlyMap<number, JournalEntry> {
    return new Map(this.entries.map((entry) => [entry.row, entry]));
  }

  /** Writes the entries into the list. Repeating it after a kill changes nothing. @throws {AppError} `bad_input` */
  async apply(list: FinishedList): Promise<void> {
    this.#file?.flush();
    const left = new Map([...this.latest].filter(([, { set }]) => set !== null));
    if (left.size === 0) return;
    const textOf = (row: ListRow): string => {
      const entry = left.get(row.number);
      left.delete(row.number);
      const text = list.replace(row, entry?.set ?? {});
      if (text !== row.text && entry?.was !== hashRow(row.text)) throw this.#otherFile(list, row.number);
      return text;
    };
    await list.rewrite(textOf, () => {
      const [missing] = left.keys();
      if (missing !== undefined) throw this.#otherFile(list, missing);
    });
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  remove(): void {
    this.close();
    this.entries.length = 0;
    whenFree(() => rmSync(this.path, { force: true }));
  }

  #otherFile(list: FinishedList, row: number): AppError {
    return failure(
      'bad_input',
      `row ${row} of ${list.name} has changed since the decision in ${this.path} was made`,
      [
        { text: 'restore the file' },
        {
          text: 'or put the decisions aside',
          command: system('mv', this.path, `${this.path}.old`),
        },
      ],
    );
  }
}

const isEntry = (value: unknown): value is JournalEntry =>
  isObject(value) &&
  typeof value.row === 'number' &&
  typeof value.was === 'string' &&
  (value.set === null || isObject(value.set)) &&
  typeof value.at === 'number' &&
  Math.abs(value.at) <= MAX_TIME &&
  ['id', 'name', 'changesFile'].every((key) => ['string', 'undefined'].includes(typeof value[key])) &&
  (value.changes === undefined || (Array.isArray(value.changes) && value.changes.every(isChange)));

const isChange = (value: unknown): boolean => isObject(value) && typeof value.field === 'string';

const MAX_BYTES = 512 * 1024 * 1024;
const HEADER = 'row,id,name,field,before,after,when\n';

export function openChangesFile(path: string, name: string): void {
  if (!existsSync(path)) {
    writeFileAtomic(path, HEADER, { mode: 0o644 });
    return;
  }
  if (read(path).startsWith(HEADER)) return;
  throw usage(`${name} exists and does not contain changes`, {
    text: 'name another file',
    command: again({ '--changes': slot('file') }),
  });
}

/**
 * Adds the changes to their files. Repeating it after a kill changes nothing. A journal may come from somebody else, so it
 * never creates a file, and adds only to files of changes.
 */
function recordChanges(entries: readonly JournalEntry[], guard: boolean): void {
  const files = new Set(entries.flatMap(({ changesFile }) => changesFile ?? []));
  for (const path of files) {
    const lines = entries
      .filter(({ changesFile }) => changesFile === path)
      .flatMap((entry) => linesOf(entry, guard))
      .join('');
    if (lines === '') continue;
    const text = existsSync(path) ? read(path) : '';
    if (!text.startsWith(HEADER)) throw noChangesFile(path);
    if (!text.endsWith(lines)) writeFileAtomic(path, text + lines, { mode: 0o644 });
  }
}

const noChangesFile = (path: string): AppError =>
  failure('bad_input', `${path} is missing, to which an interrupted run adds changes`, {
    text: 'create it',
    command: again({ '--refresh': true, '--changes': path }),
  });

const linesOf = ({ row, id = '', name = '', changes = [], at }: JournalEntry, guard: boolean): string[] =>
  changes.map(
    ({ field, before, after }) =>
      `${csvRow([row, id, name, field, toCell(before), toCell(after), new Date(at).toISOString()], guard)}\n`,
  );

const read = (path: string): string =>
  perform('read', path, () => readRegularFile(path, MAX_BYTES).bytes.toString('utf8'));
