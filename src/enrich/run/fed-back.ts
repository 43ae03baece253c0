import { unguardFormula } from '../../output/csv.ts';
import { splitRecord } from '../../util/csv.ts';
import { memberRange } from '../../util/json.ts';
import { isObject } from '../../util/object.ts';
import { STATUSES } from '../match/match.ts';
import type { CheckedList } from '../read/list.ts';
import type { CellRow, EarlierResult, InputRow, ObjectRow } from '../row.ts';
import { nestedKey, RESULT_FIELDS, type RowCodecOptions } from '../write/row-codec.ts';

type Source = Pick<CheckedList, 'header' | 'flatHeader' | 'headerText' | 'rows'>;

/** A list with the results of an earlier run apart. */
interface FedBack extends Source {
  /** Columns of those results that stay in the list, because the new ones have another prefix. They are not searched by. */
  readonly ignored: readonly string[];
  /** The column of their ids, if there are any. */
  readonly earlierIdColumn: string | undefined;
}

interface Options extends Pick<RowCodecOptions, 'prefix' | 'added'> {
  readonly idColumn?: string | undefined;
}

const DEFAULT_PREFIX = 'restaurant_';

/**
 * Takes the results of an earlier run out of a list, which replaces them: the rows that were decided keep theirs. A column
 * `restaurant_id` alone is replaced, too, if it has the ids to look up.
 */
export function separateResults(list: CheckedList, options: Options): FedBack {
  const { prefix } = options;
  const prefixes = [...new Set([prefix, DEFAULT_PREFIX])];
  const found =
    list.format === 'ndjson'
      ? prefixes.find((each) => isResult(list.first?.value[nestedKey(each)]))
      : prefixes.find((each) => ['status', 'id'].every((field) => list.header.includes(each + field)));
  if (found !== undefined)
    return list.format === 'ndjson'
      ? fromMembers(list, nestedKey(found), found === prefix)
      : fromColumns(list, found, found === prefix ? options : undefined);
  const isAlone = list.format !== 'ndjson' && isIdColumn(list.header, options);
  return isAlone
    ? withoutColumns(list, new Map([['id', list.header.indexOf(`${prefix}id`)]]), `${prefix}id`)
    : asReceived(list);
}

const asReceived = (list: Source): FedBack => ({
  header: list.header,
  flatHeader: list.flatHeader,
  headerText: list.headerText,
  rows: () => list.rows(),
  ignored: [],
  earlierIdColumn: undefined,
});

const isResult = (value: unknown): boolean =>
  isObject(value) && STATUSES.some((status) => status === value.status) && 'id' in value;

/** Whether the column of the ids has the name of a new column. */
function isIdColumn(header: readonly string[], { prefix, idColumn = 'restaurant_id' }: Options): boolean {
  return `${prefix}id` === idColumn && header.includes(idColumn) && !header.includes('service_id');
}

/** @param replace undefined if the columns stay */
function fromColumns(list: CheckedList, prefix: string, replace: Options | undefined): FedBack {
  const columns = [
    ...RESULT_FIELDS.map((field) => [field, prefix + field] as const),
    ...(replace?.added ?? []).map(({ name }) => [`added ${name}`, name] as const),
  ].filter(([, column]) => list.header.includes(column));
  const positions = new Map(columns.map(([field, column]) => [field, list.header.lastIndexOf(column)]));
  if (replace !== undefined) return withoutColumns(list, positions, `${prefix}id`);
  async function* rows(): AsyncGenerator<InputRow> {
    for await (const row of list.rows())
      yield row.kind === 'cells' ? { ...row, earlier: resultIn(row.cells, positions) } : row;
  }
  return {
    ...asReceived(list),
    rows,
    ignored: columns.map(([, column]) => column),
    earlierIdColumn: `${prefix}id`,
  };
}

const resultIn = (cells: readonly string[], positions: ReadonlyMap<string, number>): EarlierResult =>
  Object.fromEntries(
    [...positions].map(([field, at]) => {
      const cell = cells[at] ?? '';
      return [field, field === 'details' ? cell : unguardFormula(cell)];
    }),
  );

function withoutColumns(
  list: CheckedList,
  positions: ReadonlyMap<string, number>,
  earlierIdColumn: string,
): FedBack {
  const taken = new Set(positions.values());
  const delimiter = list.delimiter ?? ',';
  const keep = (cells: readonly string[]) => cells.filter((_, index) => !taken.has(index));
  const keepText = (text: string) => keep(splitRecord(text, delimiter)).join(delimiter);
  const ownRow = (row: CellRow): InputRow => ({
    ...row,
    cells: keep(row.cells),
    text: keepText(row.text),
    earlier: resultIn(row.cells, positions),
  });
  async function* rows(): AsyncGenerator<InputRow> {
    for await (const row of list.rows()) yield row.kind === 'cells' ? ownRow(row) : row;
  }
  return {
    ...asReceived(list),
    header: keep(list.header),
    headerText: keepText(list.headerText),
    rows,
    earlierIdColumn,
  };
}

function fromMembers(list: CheckedList, key: string, isReplaced: boolean): FedBack {
  async function* rows(): AsyncGenerator<InputRow> {
    for await (const row of list.rows()) yield row.kind === 'object' ? withResult(row, key, isReplaced) : row;
  }
  const isOwn = (column: string) => !isReplaced || (column !== key && !column.startsWith(`${key}.`));
  return {
    ...asReceived(list),
    header: list.header.filter(isOwn),
    flatHeader: list.flatHeader.filter(isOwn),
    rows,
    ignored: [key],
    earlierIdColumn: `${key}.id`,
  };
}

function withResult(row: ObjectRow, key: string, isReplaced: boolean): ObjectRow {
  const { [key]: earlier, ...value } = row.value;
  if (!isResult(earlier)) return row;
  return {
    ...row,
    earlier: earlier as EarlierResult,
    ...(isReplaced && { value, text: withoutMember(row.text, key) }),
  };
}

/** Cuts a member out of the text of an object, whose other members stay as they are. */
function withoutMember(json: string, key: string): string {
  const [start, end] = memberRange(json, key) ?? [0, 0];
  const before = json
    .slice(0, start)
    .replace(/"(?:[^"\\]|\\.)*"\s*:$/, '')
    .trimEnd();
  const after = json.slice(end).trimStart();
  return after.startsWith(',') ? before + after.slice(1).trimStart() : before.replace(/,$/, '') + after;
}
