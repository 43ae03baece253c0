import { AppError } from '../../errors.ts';
import type { Status } from '../match/facts.ts';
import type { InputRow } from '../read/row.ts';
import { type FinishedRow, FinishedRows } from './finished-rows.ts';
import type { RowCodec } from './row-codec.ts';
import type { RowFile } from './row-file.ts';

/** What earlier runs found for a row. */
export interface Earlier {
  readonly rest: string;
  readonly status: Status;
  /** Where it stands in the output; undefined where it must be written there yet. */
  readonly offset: number | undefined;
}

/** The rows of earlier runs, in the order of the input. */
export interface FinishedRowReader {
  /**
   * What is known of the next row of the input; undefined from the first that is new.
   * @param own what the row looks like in the output
   * @throws {AppError} `bad_input` where the output was made of another input
   */
  take(row: InputRow, own: string): Earlier | undefined;
  /** Says that the input has no more rows. @throws {AppError} `bad_input` where the output has */
  end(): void;
  /** The error where a row of an earlier run was not made with these options. */
  differsAt(row: InputRow): AppError;
}

export interface ResumeOptions {
  /** The file that is written. Empty, or cut anywhere. */
  readonly file: RowFile;
  readonly form: RowCodec;
  /** How the output is called in messages. */
  readonly name: string;
  /** A finished output, whose failed rows are asked again, into `file`. */
  readonly previous?: RowFile | undefined;
  /** Ask the failed rows of `before` again. */
  readonly retryErrors: boolean;
}

/** Nothing came before. */
export const noFinishedRows: FinishedRowReader = {
  take: () => undefined,
  end: () => {},
  differsAt: (row) => changed('the output', lineName(row)),
};

/**
 * Takes up an output where it was left, and writes its header where there is none. What follows its last whole row is cut
 * as soon as the rows in front of it are known to belong to this input.
 * @throws {AppError} `bad_input` where the header is another
 */
export function resume({ file, form, name, previous, retryErrors }: ResumeOptions): FinishedRowReader {
  const old = previous === undefined ? undefined : rowsOf(previous, form, name);
  const done = rowsOf(file, form, name) ?? begun(file, form);
  let inFile = true;

  /** The first row that the file does not hold whole: what there is of it must be its beginning. */
  const cutTail = (own: string): void => {
    const { offset, bytes } = done.tail;
    if (!beginsAlike(withoutZeros(bytes), Buffer.from(own))) throw changed(name, 'its last line');
    file.cut(offset);
    inFile = false;
  };

  return {
    take(row, own) {
      const held = old?.next();
      const finished = inFile ? done.next() : undefined;
      if (finished !== undefined) {
        const { rest, status } = compared(finished, own, row, form, name);
        return { rest, status, offset: finished.offset + Buffer.byteLength(own) };
      }
      if (inFile) cutTail(own);
      if (held === undefined) return undefined;
      const { rest, status } = compared(held, own, row, form, name);
      return retryErrors && status === 'error' ? undefined : { rest, status, offset: undefined };
    },
    end() {
      if (old?.next() !== undefined || (inFile && done.next() !== undefined)) {
        throw changed(name, 'the end: it has more rows');
      }
      if (inFile && withoutZeros(done.tail.bytes).length > 0)
        throw changed(name, 'the end: it has more rows');
      if (inFile) cutTail('');
    },
    differsAt: (row) => changed(name, lineName(row)),
  };
}

/** The rows behind the header; undefined where there is no whole header yet. */
function rowsOf(file: RowFile, form: RowCodec, name: string): FinishedRows | undefined {
  const rows = new FinishedRows(file, form.quotes);
  if (form.header === '') return rows;
  const first = rows.next();
  if (first?.text === form.header) return rows;
  const begins = first === undefined && beginsAlike(withoutZeros(rows.tail.bytes), Buffer.from(form.header));
  if (!begins) throw changed(name, 'its header');
  return undefined;
}

function begun(file: RowFile, form: RowCodec): FinishedRows {
  file.cut(0);
  file.append(form.header);
  const rows = new FinishedRows(file, form.quotes);
  rows.next();
  return rows;
}

function compared(
  { text }: FinishedRow,
  own: string,
  row: InputRow,
  form: RowCodec,
  name: string,
): { rest: string; status: Status } {
  const rest = text.slice(own.length);
  const status = text.startsWith(own) ? form.statusOf(rest) : undefined;
  if (status === undefined) throw changed(name, lineName(row));
  return { rest, status };
}

function lineName(row: InputRow): string {
  return `line ${row.line} of the input`;
}

/** Whether one may be the beginning of the other. */
function beginsAlike(torn: Buffer, whole: Buffer): boolean {
  const length = Math.min(torn.length, whole.length);
  return torn.subarray(0, length).equals(whole.subarray(0, length));
}

/** After a power cut a file may end in zeros that were never written. */
function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}

/** The output belongs to another run. */
export class CheckpointMismatch extends AppError {
  constructor(message: string, hint = 'give the input and the options of the first run') {
    super('bad_input', message, { hint });
  }

  /** The same error, with the command that begins anew. */
  withRestartHint(command: string): CheckpointMismatch {
    return new CheckpointMismatch(this.message, `${this.hint}, or begin anew: ${command}`);
  }
}

/** @param place where the two differ */
function changed(name: string, place: string): CheckpointMismatch {
  return new CheckpointMismatch(
    `${name} was not made from this input with these options: they differ at ${place}`,
  );
}
