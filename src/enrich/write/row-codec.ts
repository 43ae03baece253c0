import { AppError } from '../../errors.ts';
import { isRecord } from '../../output/records.ts';
import { decodeRecord, encodeRecord } from '../../util/csv.ts';
import { parseExactOrNone } from '../../util/exact-json.ts';
import { toJson } from '../../util/json.ts';
import { type RowResult, STATUSES, type Status } from '../match/facts.ts';
import { flatCells } from '../read/list.ts';
import type { InputRow, ListFormat, ObjectRow } from '../read/row.ts';
import {
  type AddedColumn,
  appendedCells,
  appendedColumns,
  assertNoCollision,
  DETAILS_PLACE,
  FACT_NAMES,
  ID_PLACE,
  nestedFacts,
  nestedKey,
} from './appended.ts';

/**
 * How a row is written: its own part, which follows from the input alone, then what was found, which follows from the
 * answers alone. So a finished row can be compared with the input, and what was found can be used again.
 */
export interface RowCodec {
  /** The first line with its line break; empty for NDJSON. */
  readonly header: string;
  /** Whether a line break may stand inside a record, in quotes. */
  readonly quotes: boolean;
  /** @throws {AppError} `bad_input` for a row that does not fit the header */
  input(row: InputRow): string;
  /** What was found, with the line break. */
  result(facts: RowResult): string;
  /** The status in a `rest`; undefined where it is none of ours. */
  statusOf(rest: string): Status | undefined;
  /** The details in a `rest`, with the id they belong to. */
  detailsOf(rest: string): { id: string; details: Record<string, unknown> } | undefined;
}

export interface RowCodecOptions {
  readonly format: ListFormat;
  readonly delimiter: string;
  /** Byte order mark in front, as the input has it. */
  readonly bom: boolean;
  /** Columns or keys of the input. */
  readonly columns: readonly string[];
  readonly prefix: string;
  readonly added: readonly AddedColumn[];
  /** Neutralise formulas in what the service says. */
  readonly guard: boolean;
}

/** @throws {AppError} `usage` where a new column has the name of another */
export function openRowCodec(options: RowCodecOptions): RowCodec {
  return options.format === 'ndjson' ? nested(options) : delimited(options);
}

function delimited({ format, delimiter, bom, columns, prefix, added, guard }: RowCodecOptions): RowCodec {
  const appended = appendedColumns(prefix, added);
  assertNoCollision(columns, appended);
  const known = new Set(columns);
  const cellOptions = { guard, oneLine: format === 'tsv' };
  return {
    header: `${bom ? '\ufeff' : ''}${encodeRecord([...columns, ...appended], delimiter)}\n`,
    quotes: true,
    input: (row) =>
      encodeRecord(row.kind === 'cells' ? row.cells : objectCells(row, columns, known), delimiter) +
      delimiter,
    result: (facts) => `${encodeRecord(appendedCells(facts, added, cellOptions), delimiter)}\n`,
    statusOf: (rest) => asStatus(rest.slice(0, Math.max(0, rest.indexOf(delimiter)))),
    detailsOf(rest) {
      const cells = decodeRecord(rest, delimiter);
      const json = cells[DETAILS_PLACE] ?? '';
      const details = json === '' ? undefined : parseExactOrNone(json);
      return isRecord(details) ? { id: cells[ID_PLACE] ?? '', details } : undefined;
    },
  };
}

/** The values of an object in the order of the columns. */
function objectCells(row: ObjectRow, columns: readonly string[], known: ReadonlySet<string>): string[] {
  const cells = flatCells(row);
  const stranger = [...cells.keys()].find((key) => !known.has(key));
  if (stranger !== undefined) {
    throw new AppError(
      'bad_input',
      `line ${row.line} has a key '${stranger}' that the first row does not have`,
      {
        hint: 'give the list as a file, so that all keys are known before the first row: restaurant enrich list.ndjson -o out.csv',
      },
    );
  }
  return columns.map((column) => String(cells.get(column) ?? ''));
}

const NESTED_STATUS = /^"(?:[^"\\]|\\.)*":\{"status":"([a-z_]+)"/;

function nested({ columns, prefix, added, format }: RowCodecOptions): RowCodec {
  const key = nestedKey(prefix);
  const start = `${toJson(key, false)}:`;
  assertNoCollision(columns, [key]);
  assertNoCollision(
    FACT_NAMES,
    added.map(({ name }) => name),
  );
  assertUnique(columns, format);
  const names = columns.map((column) => toJson(column, false));
  return {
    header: '',
    quotes: false,
    input(row) {
      if (row.kind === 'cells') {
        return `{${names.map((name, place) => `${name}:${toJson(row.cells[place] ?? '', false)},`).join('')}`;
      }
      if (Object.hasOwn(row.value, key)) throw clash(row, key);
      const open = row.text.slice(0, -1).trimEnd();
      return open === '{' ? open : `${open},`;
    },
    result: (facts) => `${start}${toJson(nestedFacts(facts, added), false)}}\n`,
    statusOf: (rest) => asStatus(NESTED_STATUS.exec(rest)?.[1]),
    detailsOf(rest) {
      const facts = parseExactOrNone(rest.slice(start.length).trimEnd().slice(0, -1));
      return isRecord(facts) && isRecord(facts.details)
        ? { id: String(facts.id), details: facts.details }
        : undefined;
    },
  };
}

function clash(row: ObjectRow, key: string): AppError {
  return new AppError('bad_input', `line ${row.line} has a key '${key}' already`, {
    hint: 'give the new key another name: restaurant enrich … --prefix found_',
  });
}

/** An object cannot hold two values of one name. */
function assertUnique(columns: readonly string[], format: ListFormat): void {
  const twin = columns.find((column, place) => columns.indexOf(column) !== place);
  if (twin === undefined) return;
  throw new AppError('usage', `the list has two columns '${twin}', which ${format} cannot keep apart`, {
    hint: 'write a CSV: restaurant enrich list.csv -o out.csv',
  });
}

function asStatus(text: string | undefined): Status | undefined {
  return STATUSES.find((status) => status === text);
}
