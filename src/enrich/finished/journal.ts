import { hash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { system } from '../../hint.ts';
import { whenFree } from '../../storage/files.ts';
import type { FieldChange } from '../../util/changes.ts';
import { tryParseJson } from '../../util/json.ts';
import { isObject } from '../../util/object.ts';
import { OutputRecords } from '../write/checkpoint.ts';
import { RowFile } from '../write/row-file.ts';
import type { FinishedList, ListRow, Values } from './finished-list.ts';

/** A decision about a row, or the result of a lookup, that is not in the file yet. */
export interface JournalEntry {
  readonly row: number;
  /** Identifies the text of the row at that time. */
  readonly was: string;
  /** The new values; null to leave the row as it is. */
  readonly set: Values | null;
  /** Time of the response, in milliseconds since the epoch. */
  readonly at: number;
  /** The restaurant that was looked up again. */
  readonly id?: string;
  readonly name?: string;
  readonly changes?: readonly FieldChange[];
  /** The file that records the changes. */
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
  #file: RowFile | undefined;

  constructor(listPath: string) {
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

  add(row: ListRow, entry: Omit<JournalEntry, 'row' | 'was'>): void {
    const whole = { row: row.number, was: hashRow(row.text), ...entry };
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
    return new AppError(
      'bad_input',
      `row ${row} of ${list.name} has changed since the decision in ${this.path} was made`,
      {
        hint: [
          { text: 'restore the file' },
          {
            text: 'or put the decisions aside',
            command: system('mv', this.path, `${this.path}.old`),
          },
        ],
      },
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
