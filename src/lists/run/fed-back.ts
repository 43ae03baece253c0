import { unguardFormula } from '../../output/csv.ts';
import { splitRecord } from '../../util/csv.ts';
import { isObject, memberRange } from '../../util/json.ts';
import { STATUSES } from '../match/match.ts';
import type { CheckedList } from '../read/list.ts';
import type { CellRow, EarlierResult, InputRow, ObjectRow } from '../row.ts';
import { nestedKey, RESULT_FIELDS, type RowCodecOptions } from '../write/row-codec.ts';

/** How a list changes if the results of an earlier run are set apart. */
interface FedBack extends Partial<Pick<CheckedList, 'header' | 'flatHeader' | 'headerText'>> {
  separate?(row: InputRow): InputRow;
  /** Columns of those results that stay in the list, because the new ones have another prefix. They are not searched by. */
  readonly ignored?: readonly string[];
  /** The column of their ids, if there are any. */
  readonly earlierIdColumn?: string;
}

interface Options extends Pick<RowCodecOptions, 'prefix' | 'added'> {
  readonly idColumn?: string | undefined;
}

const prefixesOf = ({ prefix }: Options): string[] => [...new Set([prefix, 'restaurant_'])];

/**
 * Takes the results of an earlier run out of a list, which replaces them: the rows that were decided keep theirs. A column
 * `restaurant_id` alone is replaced, too, if it has the ids to look up.
 */
export const separateResults = (list: CheckedList, options: Options): FedBack =>
  list.format === 'ndjson' ? separateMember(list, options) : separateColumns(list, options);

function separateColumns({ header, headerText, delimiter = ',' }: CheckedList, options: Options): FedBack {
  const { prefix, added } = options;
  const found = prefixesOf(options).find((each) =>
    ['status', 'id'].every((field) => header.includes(each + field)),
  );
  if (found === undefined && !isIdColumn(header, options)) return {};
  if (found !== undefined && found !== prefix) {
    const positions = positionsIn(header, found);
    return {
      separate: (row) => (row.kind === 'cells' ? { ...row, earlier: resultIn(row.cells, positions) } : row),
      ignored: [...positions.keys()].map((field) => found + field),
      earlierIdColumn: `${found}id`,
    };
  }
  const earlierIdColumn = `${prefix}id`;
  const names = added.map(({ name }) => [`added ${name}`, name] as const);
  const positions =
    found === undefined
      ? new Map([['id', header.indexOf(earlierIdColumn)]])
      : positionsIn(header, prefix, names);
  const taken = new Set(positions.values());
  const keep = (cells: readonly string[]) => cells.filter((_, index) => !taken.has(index));
  const keepText = (text: string) => keep(splitRecord(text, delimiter)).join(delimiter);
  const ownRow = (row: CellRow): InputRow => ({
    ...row,
    cells: keep(row.cells),
    text: keepText(row.text),
    earlier: resultIn(row.cells, positions),
  });
  return {
    header: keep(header),
    headerText: keepText(headerText),
    separate: (row) => (row.kind === 'cells' ? ownRow(row) : row),
    earlierIdColumn,
  };
}

function separateMember({ header, flatHeader, first }: CheckedList, options: Options): FedBack {
  const found = prefixesOf(options).find((each) => isResult(first?.value[nestedKey(each)]));
  if (found === undefined) return {};
  const key = nestedKey(found);
  const isReplaced = found === options.prefix;
  const isOwn = (column: string) => !isReplaced || (column !== key && !column.startsWith(`${key}.`));
  return {
    header: header.filter(isOwn),
    flatHeader: flatHeader.filter(isOwn),
    separate: (row) => (row.kind === 'object' ? withResult(row, key, isReplaced) : row),
    ignored: [key],
    earlierIdColumn: `${key}.id`,
  };
}

const isResult = (value: unknown): boolean =>
  isObject(value) && STATUSES.some((status) => status === value.status) && 'id' in value;

/** Whether the column of the ids has the name of a new column. */
function isIdColumn(header: readonly string[], { prefix, idColumn = 'restaurant_id' }: Options): boolean {
  return `${prefix}id` === idColumn && header.includes(idColumn) && !header.includes('service_id');
}

/** Positions of the columns of results, by field. @param others further fields with their columns */
export const positionsIn = (
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

function withResult(row: ObjectRow, key: string, isReplaced: boolean): ObjectRow {
  const { [key]: earlier, ...value } = row.value;
  if (!isResult(earlier)) return row;
  return {
    ...row,
    earlier: earlier as EarlierResult,
    ...(isReplaced && { value, text: cutMember(row.text, key) }),
  };
}

/** Cuts a member out of the text of an object, whose other members stay as they are. */
function cutMember(json: string, key: string): string {
  const [start, end] = memberRange(json, key) ?? [0, 0];
  const before = json
    .slice(0, start)
    .replace(/"(?:[^"\\]|\\.)*"\s*:$/, '')
    .trimEnd();
  const after = json.slice(end).trimStart();
  return after.startsWith(',') ? before + after.slice(1).trimStart() : before.replace(/,$/, '') + after;
}
