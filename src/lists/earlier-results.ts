import { unguardFormula } from '../output/csv.ts';
import { splitRecord } from '../util/csv.ts';
import { isObject, memberRange } from '../util/json.ts';
import { STATUSES } from './match/match.ts';
import type { List } from './read/list.ts';
import { memberName, RESULT_FIELDS, type ResultOptions } from './result.ts';
import { type CellRow, DEFAULT_PREFIX, type EarlierResult, type InputRow, type ObjectRow } from './row.ts';

/** How a list changes if the results of an earlier run are set apart. */
interface Separation extends Partial<Pick<List, 'header' | 'headerText'>> {
  separate?(row: InputRow): InputRow;
  /** Columns of results that stay in the list, because the new ones have another prefix. They decide nothing. */
  readonly ignored?: readonly string[];
  /** The column of their ids, if there are any. */
  readonly earlierIdColumn?: string;
  /** Whether there is only that column, so that its ids are a part of the list. */
  readonly hasOwnIds?: boolean;
}

interface Options extends Pick<ResultOptions, 'prefix' | 'added'> {
  readonly idColumn?: string | undefined;
}

type ResultLayout = Pick<List, 'format' | 'header' | 'headerText' | 'delimiter'>;

/**
 * Takes the results of an earlier run out of a list, which new ones replace. A column `restaurant_id` alone is replaced,
 * too, if it has the ids to look up. @param rows to find out whether objects have results
 */
export function separationOf(list: ResultLayout, rows: readonly InputRow[], options: Options): Separation {
  const other = options.prefix === DEFAULT_PREFIX ? {} : otherColumns(list, rows);
  const own = list.format === 'ndjson' ? separateMember(list, rows, options) : separateColumns(list, options);
  return { ...other, ...own };
}

function otherColumns({ format, header }: ResultLayout, rows: readonly InputRow[]): Separation {
  if (format === 'ndjson')
    return hasResults(rows, memberName(DEFAULT_PREFIX)) ? { ignored: [memberName(DEFAULT_PREFIX)] } : {};
  return hasColumns(header, DEFAULT_PREFIX)
    ? { ignored: [...positionsIn(header, DEFAULT_PREFIX).keys()].map((field) => DEFAULT_PREFIX + field) }
    : {};
}

const hasColumns = (header: readonly string[], prefix: string): boolean =>
  ['status', 'id'].every((field) => header.includes(prefix + field));

function separateColumns(
  { header, headerText, delimiter = ',' }: ResultLayout,
  options: Options,
): Separation {
  const { prefix, added } = options;
  const isView = hasColumns(header, prefix);
  if (!isView && !isIdColumn(header, options)) return {};
  const earlierIdColumn = `${prefix}id`;
  const names = added.map(({ name }) => [`added ${name}`, name] as const);
  const positions = isView
    ? positionsIn(header, prefix, names)
    : new Map([['id', header.indexOf(earlierIdColumn)]]);
  const taken = new Set(positions.values());
  const keep = <T>(cells: readonly T[]) => cells.filter((_, index) => !taken.has(index));
  const keepText = (text: string) => keep(splitRecord(text, delimiter)).join(delimiter);
  const ownRow = (row: CellRow): InputRow => ({
    ...row,
    cells: keep(row.cells),
    text: keepText(row.text),
    ...(row.kinds !== undefined && { kinds: keep([...row.kinds]).join('') }),
    earlier: resultIn(row.cells, positions),
  });
  return {
    header: keep(header),
    headerText: keepText(headerText),
    separate: (row) => (row.kind === 'cells' ? ownRow(row) : row),
    earlierIdColumn,
    hasOwnIds: !isView,
  };
}

function separateMember(
  { header }: ResultLayout,
  rows: readonly InputRow[],
  { prefix }: Options,
): Separation {
  const key = memberName(prefix);
  if (!hasResults(rows, key)) return {};
  return {
    header: header.filter((column) => column !== key && !column.startsWith(`${key}.`)),
    separate: (row) => (row.kind === 'object' ? withoutResult(row, key) : row),
    ignored: [key],
    earlierIdColumn: `${key}.id`,
  };
}

const hasResults = (rows: readonly InputRow[], key: string): boolean =>
  rows.some((row) => row.kind === 'object' && isResult(row.value[key]));

const isResult = (value: unknown): boolean =>
  isObject(value) && STATUSES.some((status) => status === value.status) && 'id' in value;

/** Whether the column of the ids has the name of a new column. */
function isIdColumn(header: readonly string[], { prefix, idColumn = 'restaurant_id' }: Options): boolean {
  return `${prefix}id` === idColumn && header.includes(idColumn) && !header.includes('service_id');
}

/** Positions of the columns of results, by field. @param others further fields with their columns */
const positionsIn = (
  header: readonly string[],
  prefix: string,
  others: readonly (readonly [field: string, column: string])[] = [],
): ReadonlyMap<string, number> =>
  new Map(
    [...RESULT_FIELDS.map((field) => [field, prefix + field] as const), ...others]
      .map(([field, column]) => [field, header.lastIndexOf(column)] as const)
      .filter(([, at]) => at !== -1),
  );

const resultIn = (cells: readonly string[], positions: ReadonlyMap<string, number>): EarlierResult =>
  Object.fromEntries(
    [...positions].map(([field, at]) => {
      const cell = cells[at] ?? '';
      return [field, field === 'details' ? cell : unguardFormula(cell)];
    }),
  );

function withoutResult(row: ObjectRow, key: string): ObjectRow {
  const { [key]: earlier, ...value } = row.value;
  if (!isResult(earlier)) return row;
  return { ...row, earlier: earlier as EarlierResult, value, text: cutMember(row.text, key) };
}

/** Cuts a member out of the text of an object, whose other members stay as they are. */
function cutMember(json: string, key: string): string {
  const range = memberRange(json, key) ?? { key: 0, end: 0 };
  const before = json.slice(0, range.key).trimEnd();
  const after = json.slice(range.end).trimStart();
  return after.startsWith(',') ? before + after.slice(1).trimStart() : before.replace(/,$/, '') + after;
}
