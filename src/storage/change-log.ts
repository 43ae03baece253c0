import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, readSync } from 'node:fs';
import type { Change } from '../util/changes.ts';
import { tryParseJson } from '../util/json.ts';
import { isObject } from '../util/object.ts';
import { writeAll } from './files.ts';
import type { OwnFolder } from './own-folder.ts';

/** Lines to append, and the size of the file before: so a write that was cut off can be repeated. */
export interface PendingLines {
  readonly at: number;
  readonly lines: string;
}

const NAME = 'changes.ndjson';
const MAX_BYTES = 256 * 1024 * 1024;
const LINE_BREAK = 10;
const { O_CREAT, O_RDWR } = constants;

/** An append-only file, one change per line. The caller holds a lock while it writes. Methods throw the system's error. */
export class ChangeLog {
  readonly #folder: OwnFolder;

  constructor(folder: OwnFolder) {
    this.#folder = folder;
  }

  /** A line that was cut off is left out. */
  read(pending?: PendingLines): Change[] {
    const bytes = this.#folder.read(NAME, MAX_BYTES)?.bytes ?? Buffer.alloc(0);
    const whole = bytes.toString('utf8', 0, pending?.at ?? bytes.lastIndexOf(LINE_BREAK) + 1);
    return (whole + (pending?.lines ?? '')).split('\n').flatMap(parseLine);
  }

  plan(changes: readonly Change[]): PendingLines {
    const lines = changes.map(({ when, id, name, field, before, after }) =>
      JSON.stringify({ when, id, name, field, before, after }),
    );
    return { at: this.#use(endOf), lines: `${lines.join('\n')}\n` };
  }

  /** Has the same result however often it is repeated, whether or not an earlier attempt wrote some of the lines. */
  append({ at, lines }: PendingLines): void {
    this.#use((file) => {
      const end = Math.min(at, fstatSync(file).size);
      ftruncateSync(file, end);
      writeAll(file, Buffer.from(lines), end);
      fsyncSync(file);
    });
  }

  #use<T>(work: (file: number) => T): T {
    const file = this.#folder.open(NAME, O_RDWR | O_CREAT);
    try {
      return work(file);
    } finally {
      closeSync(file);
    }
  }
}

function parseLine(line: string): Change[] {
  const value = tryParseJson(line);
  if (!isObject(value)) return [];
  const { when, id, name, field, before = null, after = null } = value;
  if (!isText(when) || !isText(id) || !isText(name) || !isText(field)) return [];
  return [{ when, id, name, field, before, after }];
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns the size without a last line that was cut off. */
function endOf(file: number): number {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(1);
  if (size === 0 || (readSync(file, bytes, 0, 1, size - 1) === 1 && bytes[0] === LINE_BREAK)) return size;
  const all = Buffer.alloc(size);
  const length = readSync(file, all, 0, size, 0);
  const start = all.lastIndexOf(LINE_BREAK, length - 1) + 1;
  if (parseLine(all.toString('utf8', start, length)).length === 0) return start;
  writeAll(file, Buffer.from('\n'), length);
  return length + 1;
}
