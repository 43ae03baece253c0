import { AppError } from '../../errors.ts';
import { flatten, type Scalar } from '../../output/records.ts';
import { openUtf8 } from './decode-utf8.ts';
import type { Input } from './input.ts';
import { type Delimiter, openDelimited } from './read-delimited.ts';
import { readNdjson } from './read-ndjson.ts';
import type { InputRow, ListFormat, ObjectRow, OnProblem } from './row.ts';

export interface ListOptions {
  /** Undefined: as the name of the file says, else as the text looks. */
  readonly format: ListFormat | undefined;
  readonly delimiter: Delimiter | undefined;
  readonly onProblem: OnProblem;
}

/** A list as it is read, once. */
export interface List {
  readonly format: ListFormat;
  /** Of CSV and TSV. */
  readonly delimiter: Delimiter | undefined;
  readonly bom: boolean;
  /** Columns of CSV and TSV; for NDJSON the keys of the first row. */
  readonly header: readonly string[];
  readonly rows: AsyncGenerator<InputRow>;
}

/** Starts to read a list. @throws {AppError} `bad_input` where a CSV or TSV has no header row */
export async function openList(input: Input, options: ListOptions): Promise<List> {
  const { bom, chunks } = await openUtf8(input.chunks(), options.onProblem);
  const { first, all } = await peek(chunks);
  const format = options.format ?? input.format ?? looksLike(first);
  if (format === 'ndjson') {
    const rows = await peek<ObjectRow>(readNdjson(all, options.onProblem));
    const header = rows.first === undefined ? [] : Object.keys(rows.first.value);
    return { format, delimiter: undefined, bom, header, rows: rows.all };
  }
  const delimiter = options.delimiter ?? (format === 'tsv' ? '\t' : undefined);
  const list = await openDelimited(all, { delimiter, onProblem: options.onProblem });
  if (list === undefined) {
    throw new AppError('bad_input', `${input.name} has no header row`, {
      hint: 'the first line names the columns, such as name,city; restaurant help formats',
    });
  }
  return { format, bom, ...list };
}

/** An object opens NDJSON; anything else is a header line. */
function looksLike(first: Buffer | undefined): ListFormat {
  return /^\s*[{[]/.test(first?.toString('latin1') ?? '') ? 'ndjson' : 'csv';
}

/** The columns that an object fills in a CSV: nested keys dotted. @throws {AppError} `bad_input` for one too deep */
export function flatKeys(row: ObjectRow): string[] {
  return [...flatCells(row).keys()];
}

/** An object as cells of a CSV. @throws {AppError} `bad_input` for one too deep */
export function flatCells({ value, line }: ObjectRow): Map<string, Scalar> {
  try {
    return flatten(value);
  } catch (cause) {
    throw new AppError('bad_input', `line ${line} nests too deep for the columns of a CSV`, {
      cause,
      hint: 'keep the form: restaurant enrich list.ndjson -o out.ndjson',
    });
  }
}

async function peek<T>(items: AsyncIterable<T>): Promise<{ first: T | undefined; all: AsyncGenerator<T> }> {
  const source = items[Symbol.asyncIterator]();
  const head = await source.next();
  async function* all(): AsyncGenerator<T> {
    for (let next = head; next.done !== true; next = await source.next()) yield next.value;
  }
  return { first: head.done === true ? undefined : head.value, all: all() };
}
