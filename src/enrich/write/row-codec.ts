import { AppError } from '../../errors.ts';
import { again } from '../../hint.ts';
import { guardFormula } from '../../output/csv.ts';
import { cellAt, valueAt } from '../../output/records.ts';
import { encodeRecord } from '../../util/csv.ts';
import { toJson, tryParseJson } from '../../util/json.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { cleanCell, cleanLine } from '../../util/text.ts';
import { type RowResult, STATUSES, type Status } from '../match/match.ts';
import { flatCells } from '../read/list.ts';
import type { InputRow, ListFormat, ObjectRow } from '../read/row.ts';

/** Fields of a result, in the order of their columns. Column names consist of the prefix and a field name. */
const RESULT_FIELDS = [
  'status',
  'match',
  'candidates',
  'id',
  'name',
  'address',
  'city',
  'neighborhood',
  'lat',
  'lng',
  'cuisine_tags',
  'grade',
  'coverage_level',
  'details',
  'error',
  'similarity',
] as const;
type ResultField = (typeof RESULT_FIELDS)[number];
/** Fields of the result itself. The others are fields of its restaurant. */
const OWN_FIELDS: readonly ResultField[] = [
  'status',
  'match',
  'candidates',
  'id',
  'details',
  'error',
  'similarity',
];

/** A column with a value from the details. */
export interface AddedColumn {
  readonly name: string;
  readonly path: string;
}

export interface RowCodecOptions {
  readonly format: ListFormat;
  readonly delimiter: string;
  /** Whether to write a byte order mark, as in the input. */
  readonly bom: boolean;
  readonly columns: readonly string[];
  readonly prefix: string;
  readonly added: readonly AddedColumn[];
  readonly details: boolean;
  /** Whether to neutralize formulas in text from the service. */
  readonly guard: boolean;
}

/**
 * Formats and parses rows of the output. A row consists of the input, which depends only on the input, and the result,
 * which depends only on the responses. So a finished row can be compared with the input, and its result can be reused.
 */
export interface RowCodec {
  /** The first line with its line break; empty for NDJSON. */
  readonly header: string;
  /** Whether a line break may be inside a record, in quotes. */
  readonly quotes: boolean;
  /** @throws {AppError} `bad_input` for a row that does not fit the header */
  input(row: InputRow): string;
  result(result: RowResult): string;
  /** Parses the status in the text of a result; undefined for any other text. */
  statusOf(text: string): Status | undefined;
}

/** @throws {AppError} `usage` if a new column has the name of an existing one */
export function openRowCodec(options: RowCodecOptions): RowCodec {
  return options.format === 'ndjson' ? ndjsonCodec(options) : delimitedCodec(options);
}

export function resultFields({ added, details }: Pick<RowCodecOptions, 'added' | 'details'>): {
  fields: readonly ResultField[];
  names: readonly string[];
} {
  const fields = RESULT_FIELDS.filter((field) => details || field !== 'details');
  return { fields, names: [...fields, ...added.map(({ name }) => name)] };
}

type Source = readonly [holder: unknown, path: string];

function sourcesOf(
  { restaurant = {}, details, ...result }: RowResult,
  fields: readonly ResultField[],
  added: readonly AddedColumn[],
): readonly Source[] {
  const own = { details, id: restaurant.service_id, ...result };
  return [
    ...fields.map((field): Source => [OWN_FIELDS.includes(field) ? own : restaurant, field]),
    ...added.map(({ path }): Source => [details, path]),
  ];
}

function delimitedCodec(options: RowCodecOptions): RowCodec {
  const { format, delimiter, bom, columns, prefix, added, guard } = options;
  const { fields } = resultFields(options);
  const names = [...fields.map((field) => prefix + field), ...added.map(({ name }) => name)];
  assertNoCollision(columns, names);
  const known = new Set(columns);
  const detailsAt = fields.indexOf('details');

  const cellOf = ([holder, path]: Source): string => {
    const cell = cellAt(holder, path) ?? '';
    if (typeof cell !== 'string') return String(cell);
    const text = format === 'tsv' ? cleanLine(cell) : cleanCell(cell);
    return guard ? guardFormula(text) : text;
  };

  return {
    header: `${bom ? '\ufeff' : ''}${encodeRecord([...columns, ...names], delimiter)}\n`,
    quotes: true,
    input: (row) =>
      encodeRecord(row.kind === 'cells' ? row.cells : objectCells(row, columns, known), delimiter) +
      delimiter,
    result(result) {
      const { details = null } = result;
      const cells = sourcesOf(result, fields, added).map((source, index) => {
        if (index !== detailsAt) return cellOf(source);
        // JSON is harmless in a spreadsheet, and must stay parseable.
        return details === null ? '' : toJson(details, false);
      });
      return `${encodeRecord(cells, delimiter)}\n`;
    },
    statusOf: (text) => asStatus(text.slice(0, Math.max(0, text.indexOf(delimiter)))),
  };
}

function objectCells(row: ObjectRow, columns: readonly string[], known: ReadonlySet<string>): string[] {
  const cells = flatCells(row);
  const extra = [...cells.keys()].find((key) => !known.has(key));
  if (extra !== undefined) {
    throw new AppError(
      'bad_input',
      `line ${row.line} has a key '${extra}' that the first row does not have`,
      {
        hint: {
          text: 'give the list as a file, so that all keys are known before the first row',
          command: again({}, { operands: ['list.ndjson'] }),
        },
      },
    );
  }
  return columns.map((column) => String(cells.get(column) ?? ''));
}

function ndjsonCodec({ columns, prefix, added, ...options }: RowCodecOptions): RowCodec {
  const { fields, names } = resultFields({ added, ...options });
  const key = nestedKey(prefix);
  const start = `${toJson(key, false)}:`;
  assertNoCollision(columns, [key]);
  assertNoCollision(
    fields,
    added.map(({ name }) => name),
  );
  const duplicate = repeated(columns);
  if (duplicate !== undefined) {
    throw new AppError('usage', `the list has two columns '${duplicate}', which ndjson cannot distinguish`, {
      hint: { text: 'write a CSV', command: again({ '--output': 'out.csv', '--format': 'csv' }) },
    });
  }
  const keys = columns.map((column) => toJson(column, false));
  const nestedIn = (text: string): JsonObject | undefined => {
    const nested = text.startsWith(start)
      ? tryParseJson(text.slice(start.length).trimEnd().slice(0, -1))
      : undefined;
    return isObject(nested) ? nested : undefined;
  };
  return {
    header: '',
    quotes: false,
    input(row) {
      if (row.kind === 'cells')
        return `{${keys.map((name, index) => `${name}:${toJson(row.cells[index] ?? '', false)},`).join('')}`;
      if (Object.hasOwn(row.value, key)) {
        throw new AppError('bad_input', `line ${row.line} already has a key '${key}'`, {
          hint: { text: 'give the new key another name', command: again({ '--prefix': 'found_' }) },
        });
      }
      const open = row.text.slice(0, -1).trimEnd();
      return open === '{' ? open : `${open},`;
    },
    result(result) {
      const members = sourcesOf(result, fields, added).map(
        ([holder, path], index) => [names[index] ?? path, valueAt(holder, path) ?? null] as const,
      );
      return `${start}${toJson(Object.fromEntries(members), false)}}\n`;
    },
    statusOf: (text) => asStatus(nestedIn(text)?.status),
  };
}

/** Returns the key of a result in NDJSON: the prefix without its underscore. */
export function nestedKey(prefix: string): string {
  const key = prefix.replace(/_{1,100}$/, '');
  if (key !== '') return key;
  throw new AppError('usage', `--prefix '${prefix}': NDJSON needs a name for the key`, {
    hint: { command: again({ '--prefix': 'restaurant_' }) },
  });
}

/** @throws {AppError} `usage` with the name of an added column that is in the input or is added twice */
function assertNoCollision(columns: readonly string[], appended: readonly string[]): void {
  const clash = appended.find((name) => columns.includes(name));
  if (clash !== undefined) {
    throw new AppError('usage', `the list already has a column '${clash}'`, {
      hint: { text: 'give the new columns another prefix', command: again({ '--prefix': 'found_' }) },
    });
  }
  const duplicate = repeated(appended);
  if (duplicate === undefined) return;
  throw new AppError('usage', `the column '${duplicate}' would be added twice`, {
    hint: { text: 'give each column a different name: --add <column>=<path>' },
  });
}

function repeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}

const asStatus = (value: unknown): Status | undefined => STATUSES.find((status) => status === value);
