import { statSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { checkTarget, type Naming } from '../../app/output-file.ts';
import { type AppError, failure, usage } from '../../errors.ts';
import { again, restaurant, slot } from '../../hint.ts';
import { unguardFormula } from '../../output/csv.ts';
import { cellAt, toCell } from '../../output/records.ts';
import { writeChunksAtomic } from '../../storage/user-files.ts';
import { type Delimiter, encodeRecord, splitRecord } from '../../util/csv.ts';
import { isObject, type JsonObject, memberRange, toJson, tryParseJson } from '../../util/json.ts';
import { type ColumnOptions, type Columns, resolveColumns } from '../match/columns.ts';
import type { RowResult } from '../match/match.ts';
import { formatOf, type Input, openInput } from '../read/input.ts';
import { type List, openList } from '../read/list.ts';
import { NoHeader } from '../read/table.ts';
import type { InputRow } from '../row.ts';
import { positionsIn } from '../run/fed-back.ts';
import { type Fingerprint, openFingerprint } from '../write/list-state.ts';
import {
  type AddedColumn,
  nestedKey,
  openRowCodec,
  RESULT_FIELDS,
  type RowCodec,
  type RowCodecOptions,
} from '../write/row-codec.ts';

/** Values of a result as they are stored: texts of cells, or JSON values, by field name. */
export type Values = Readonly<Record<string, unknown>>;

export type ListRow = InputRow & {
  /** From 1, in the order of the file. */
  readonly number: number;
  readonly values: Values;
};

export interface ListFlags extends Pick<ColumnOptions, 'nameColumn' | 'cityColumn' | 'city'> {
  readonly prefix: string;
  /** The knowledge of the run that has written the file. */
  readonly written?: Written;
}

export interface Written extends Pick<RowCodecOptions, 'format' | 'added'> {
  readonly delimiter: Delimiter;
  readonly columns: Columns;
}

const OPERAND: Naming = { example: 'out.csv', command: (file) => again({}, { operands: [file] }) };

/** The output of `enrich`, whose results can be replaced. Everything else in the file stays as it is. */
export class FinishedList {
  readonly path: string;
  readonly name: string;
  readonly prefix: string;
  /** The options of the run that wrote the file, if this machine knows them. */
  readonly options: Fingerprint;
  readonly #app: App;
  readonly #source: Source;
  readonly #codec: RowCodec;
  readonly #guarded: boolean;
  #columns: Columns | undefined;
  /** Number of rows that the last reading has found. */
  count = 0;

  private constructor(app: App, source: Source) {
    this.#app = app;
    this.name = source.name;
    this.path = source.path;
    this.prefix = source.flags.prefix;
    this.options = source.options;
    this.#source = source;
    this.#columns = source.flags.written?.columns;
    this.#guarded = app.globals.rawCsv !== true;
    const { delimiter, lineEnd, added } = source;
    const format = delimiter === '\t' ? 'tsv' : 'csv';
    this.#codec = openRowCodec({
      format: delimiter === undefined ? 'ndjson' : format,
      delimiter: delimiter ?? ',',
      bom: false,
      columns: [],
      lineEnd,
      prefix: this.prefix,
      added: added.map((each) => ({ ...each, name: addedField(each) })),
      details: true,
      guard: this.#guarded,
    });
  }

  /** @throws {AppError} `bad_input` if the file is not the output of `enrich` */
  static async open(app: App, name: string, flags: ListFlags): Promise<FinishedList> {
    if (name === '-') {
      throw usage('the rows are changed in their file, so stdin cannot be used', {
        command: again({}, { operands: ['out.csv'] }),
      });
    }
    openInput(name, app.context).close();
    const { path } = checkTarget(app, name, true, OPERAND);
    return new FinishedList(app, await openSource(app, { name, path, flags }));
  }

  get isNdjson(): boolean {
    return this.#source.delimiter === undefined;
  }

  async *rows(signal = this.#app.context.signal): AsyncGenerator<ListRow> {
    const { context } = this.#app;
    const input = openInput(this.path, { ...context, signal });
    const { positions, delimiter } = this.#source;
    try {
      const list = await openRows(input, this.#source, delimiter);
      let number = 0;
      this.count = 0;
      for await (const row of list.rows) {
        number += 1;
        this.count = number;
        if (number % 256 === 0) signal.throwIfAborted();
        const values =
          row.kind === 'object'
            ? nestedValues(row.value, this.prefix)
            : Object.fromEntries([...positions].map(([name, at]) => [name, row.cells[at] ?? '']));
        yield { number, values, ...row };
      }
    } finally {
      input.close();
    }
  }

  value(values: Values, field: string): unknown {
    const value = values[field];
    return typeof value === 'string' && this.#guarded && !this.isNdjson && field !== 'details'
      ? unguardFormula(value)
      : value;
  }

  text(values: Values, field: string): string {
    const value = this.value(values, field);
    if (Array.isArray(value)) return value.join('; ');
    return value === undefined || value === null ? '' : String(value);
  }

  get detailFields(): readonly string[] {
    return ['details', ...this.#codec.names.slice(RESULT_FIELDS.length)];
  }

  columnOf(field: string): string {
    const at = this.#source.positions.get(field);
    if (at !== undefined) return this.#source.header[at] ?? '';
    return isResultField(field) ? this.prefix + field : field;
  }

  valuesOf(result: RowResult): Values {
    return this.#codec.record(result);
  }

  replace({ text }: Pick<ListRow, 'text'>, changes: Values): string {
    const { delimiter, positions } = this.#source;
    if (delimiter === undefined) {
      const [start, end] = memberRange(text, nestedKey(this.prefix)) ?? [0, 0];
      return text.slice(0, start) + withMembers(text.slice(start, end), changes) + text.slice(end);
    }
    const cells = splitRecord(text, delimiter);
    for (const [field, value] of Object.entries(changes)) {
      const at = positions.get(field);
      const cell = String(toCell(value) ?? '');
      if (at !== undefined) cells[at] = cell === '' ? '' : encodeRecord([cell], delimiter);
    }
    return cells.join(delimiter);
  }

  ownFields(row: ListRow): (readonly [column: string, value: unknown])[] {
    if (row.kind === 'object') {
      const key = nestedKey(this.prefix);
      return Object.entries(row.value).filter(([name]) => name !== key);
    }
    return this.#source.own.map((at) => [this.#source.header[at] ?? '', row.cells[at] ?? ''] as const);
  }

  /** Returns the value in a column of the list itself; for NDJSON, at a dotted path. */
  ownValue(row: ListRow, column: string | undefined): unknown {
    if (column === undefined) return undefined;
    if (row.kind === 'object') return cellAt(row.value, column);
    return this.ownFields(row).find(([name]) => name === column)?.[1];
  }

  /** @throws {AppError} `usage` if the file has no columns to search by */
  get columns(): Columns {
    const { header, own, flags } = this.#source;
    this.#columns ??= resolveColumns(
      own.map((at) => header[at] ?? ''),
      {
        nameColumn: flags.nameColumn ?? this.options['name-column'],
        cityColumn: flags.cityColumn ?? this.options['city-column'],
        latColumn: this.options['lat-column'],
        lngColumn: this.options['lng-column'],
        city: flags.city ?? this.options.city,
        defaultCity: this.#app.settings.get('city'),
        nested: this.isNdjson,
      },
    );
    return this.#columns;
  }

  ownRow(row: ListRow): InputRow {
    if (row.kind === 'object') return row;
    return { ...row, cells: this.#source.own.map((at) => row.cells[at] ?? '') };
  }

  /** @param check called after the last row; if it throws, the file is not changed */
  async rewrite(textOf: (row: ListRow) => string, check: () => void): Promise<void> {
    const fingerprint = openFingerprint(this.#app.paths.stateDir, this.path);
    const stored = fingerprint.read();
    await writeChunksAtomic(this.path, this.#pieces(textOf, check), statSync(this.path).mode & 0o777);
    if (stored !== undefined) fingerprint.write(stored);
  }

  async *#pieces(textOf: (row: ListRow) => string, check: () => void): AsyncGenerator<string> {
    const { bom, headerText, lineEnd, delimiter } = this.#source;
    if (delimiter !== undefined) yield `${bom ? '\ufeff' : ''}${headerText}${lineEnd}`;
    // Not interrupted by a signal, after which the decisions so far are written.
    for await (const row of this.rows(new AbortController().signal))
      yield textOf(row) + (row.kind === 'cells' ? row.end : lineEnd);
    check();
  }
}

export function detailsOf({ values }: Pick<ListRow, 'values'>): JsonObject | undefined {
  const { details } = values;
  const value = typeof details === 'string' ? tryParseJson(details) : details;
  return isObject(value) ? value : undefined;
}

interface ListFile {
  readonly name: string;
  readonly path: string;
  readonly flags: ListFlags;
}

const openRows = (
  input: Input,
  { name, path, flags: { written } }: ListFile,
  delimiter = written?.delimiter,
): Promise<List> =>
  openList(
    { ...input, name },
    { format: written?.format ?? formatOf(path), delimiter, headerLine: 1 },
    ({ line, what }) => {
      throw failure('bad_input', `${name}: line ${line} ${what}`, {
        text: 'correct the file, or write it again with enrich',
      });
    },
  );

type Source = Awaited<ReturnType<typeof openSource>>;

async function openSource(app: App, file: ListFile) {
  const { name, path, flags } = file;
  const { prefix, written } = flags;
  const options = openFingerprint(app.paths.stateDir, path).read()?.options ?? {};
  const added = written?.added ?? addedColumns(options.add);
  const input = openInput(path, app.context);
  try {
    const { rows, ...list } = await openRows(input, file).catch((error: unknown) => {
      throw error instanceof NoHeader ? notAnOutput(name, prefix) : error;
    });
    await rows.return(undefined);
    const names = added.map((each) => [addedField(each), each.name] as const);
    const positions = positionsIn(list.header, prefix, names);
    const isOutput =
      list.format === 'ndjson'
        ? list.first === undefined || isObject(list.first.value[nestedKey(prefix)])
        : positions.has('status');
    if (!isOutput) throw notAnOutput(name, prefix);
    const taken = new Set(positions.values());
    const own = list.header.flatMap((_, at) => (taken.has(at) ? [] : [at]));
    return { ...list, ...file, options, added, positions, own };
  } finally {
    input.close();
  }
}

const notAnOutput = (name: string, prefix: string): AppError =>
  failure('bad_input', `${name} has no column ${prefix}status, so it is not the output of enrich`, [
    { text: 'start with', command: restaurant('enrich', slot('file'), '-o', 'out.csv') },
    { text: 'or name the prefix of its columns', command: again({ '--prefix': slot('text') }) },
  ]);

function nestedValues(value: JsonObject, prefix: string): Values {
  const found = value[nestedKey(prefix)];
  return isObject(found) ? found : {};
}

function withMembers(json: string, members: Values): string {
  return Object.entries(members).reduce((text, [name, value]) => {
    const range = memberRange(text, name);
    if (range !== undefined) return text.slice(0, range[0]) + toJson(value, false) + text.slice(range[1]);
    const open = text.trimEnd().slice(0, -1).trimEnd();
    return `${open}${open === '{' ? '' : ','}${toJson(name, false)}:${toJson(value, false)}}`;
  }, json);
}

const isResultField = (name: string): boolean => RESULT_FIELDS.some((field) => field === name);

/** The field of an added column, which may have the name of a field of the result: `--add grade=…`. */
const addedField = ({ name }: AddedColumn): string => (isResultField(name) ? `added ${name}` : name);

const addedColumns = (text = ''): AddedColumn[] =>
  text.split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    return at === -1 ? [] : [{ name: line.slice(0, at), path: line.slice(at + 1) }];
  });
