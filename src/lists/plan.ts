import type { App } from '../app/app.ts';
import { LEVELS } from '../client/tools.ts';
import type { Level } from '../client/types.ts';
import { usage } from '../errors.ts';
import { again } from '../hint.ts';
import { DELIMITERS, type Delimiter } from '../util/csv.ts';
import { isFilled, type JsonObject } from '../util/json.ts';
import { cleanLine } from '../util/text.ts';
import { separationOf } from './earlier-results.ts';
import { type ColumnOptions, type Columns, resolveColumns } from './match/columns.ts';
import { FIELDS } from './match/headers.ts';
import { isEncoding } from './read/decode.ts';
import type { Input } from './read/input.ts';
import { flatColumns, type InputList, type List, openStreamedList, readList } from './read/list.ts';
import type { Question, ResolveOptions } from './resolve.ts';
import { type AddedColumn, ResultColumns } from './result.ts';
import { DEFAULT_PREFIX, INPUT_FORMATS, type InputFormat, type InputRow } from './row.ts';
import { rowKeyOf } from './row-key.ts';

/** How a list is read, matched, and written. An answers file remembers it for the review. */
export interface ListFlags extends Partial<Record<ColumnFlag, string>> {
  readonly city?: string;
  readonly fields?: Level;
  readonly add?: readonly string[];
  readonly loose?: boolean;
  readonly prefix?: string;
  readonly inputFormat?: InputFormat;
  readonly sheet?: string;
  readonly headerLine?: number;
  readonly encoding?: string;
  readonly delimiter?: Delimiter;
  readonly rawCsv?: boolean;
}

export interface Plan {
  readonly name: string;
  readonly flags: ListFlags;
  readonly list: Layout;
  readonly columns: Columns;
  readonly result: ResultColumns;
  /** The options on which a row's requests depend. */
  readonly matching: Pick<ResolveOptions, 'fields' | 'loose'>;
  question(row: InputRow): Question;
}

interface Layout extends Omit<List, 'rows' | 'first'> {
  /** The columns of a table, with dotted nested keys for objects. */
  tableColumns(): readonly string[];
}

interface ReadPlan<Rows> {
  readonly plan: Plan;
  readonly rows: Rows;
}

/** @param isKnown whether it was read before, so that nothing is said about how @throws {AppError} `bad_input`, `usage` */
export async function readPlan(
  app: App,
  input: Input,
  flags: ListFlags,
  isKnown = false,
): Promise<ReadPlan<readonly InputRow[]>> {
  const { rows, ...list } = await readList(input, readingOf(flags));
  if (!isKnown) await noteReading(app, input.name, list, flags);
  return makePlan(app, input.name, list, rows, flags);
}

export async function streamPlan(
  app: App,
  input: Input,
  flags: ListFlags,
): Promise<ReadPlan<AsyncIterable<InputRow>>> {
  const { rows, first, ...list } = await openStreamedList(input, readingOf(flags));
  await noteReading(app, input.name, list, flags);
  const { plan, separate } = await makePlan(app, input.name, list, first === undefined ? [] : [first], flags);
  async function* own(): AsyncGenerator<InputRow> {
    for await (const row of rows) yield separate(row);
  }
  return { plan, rows: own() };
}

async function noteReading(
  app: App,
  name: string,
  { sheets, detectedEncoding }: Pick<Partial<InputList>, 'sheets' | 'detectedEncoding'>,
  flags: ListFlags,
): Promise<void> {
  if (detectedEncoding !== undefined)
    await app.notes.warn(
      `${name} is not UTF-8; reading it as ${detectedEncoding} (--encoding changes that)`,
      true,
    );
  const { sheet = '', sheets: all = [] } = sheets ?? {};
  if (all.length > 1 && flags.sheet === undefined && app.globals.dryRun !== true)
    await app.notes.note(`reading the sheet '${cleanLine(sheet)}' of ${name}; --sheet names another one`);
}

/** Warns of cells that are empty in an output, and not in the list. */
export async function warnOfFormulas(app: App, { name, list: { sheets } }: Plan): Promise<void> {
  if (sheets?.formulas === undefined) return;
  const { count, cells } = sheets.formulas;
  const what = count === 1 ? 'a formula without a stored value' : `${count} formulas without a stored value`;
  const places = `${cells.join(', ')}${count > cells.length ? ', …' : ''}`;
  await app.notes.warn(
    `${name} has ${what} (${places}), read as empty: open it in Excel or LibreOffice, and save it`,
    true,
  );
}

const readingOf = (flags: ListFlags) => ({
  format: flags.inputFormat,
  delimiter: flags.delimiter,
  encoding: flags.encoding,
  headerLine: flags.headerLine,
  sheet: flags.sheet,
  named: [flags.nameColumn, flags.cityColumn, flags.idColumn],
});

const NO_COLUMNS: Columns = { otherCity: undefined, texts: () => ({}), formulaIn: () => undefined };

/** @param rows all of them, or the first. @returns what of them is not the result of an earlier run */
async function makePlan(
  app: App,
  name: string,
  list: Omit<List, 'rows' | 'first'>,
  rows: readonly InputRow[],
  flags: ListFlags,
): Promise<ReadPlan<readonly InputRow[]> & { separate(row: InputRow): InputRow }> {
  const { prefix = DEFAULT_PREFIX, add = [], fields, loose = false } = flags;
  const added = add.map(parseAdded);
  const result = new ResultColumns({ prefix, added, hasDetails: fields !== undefined && added.length === 0 });
  const separation = separationOf(list, rows, { prefix, added, idColumn: flags.idColumn });
  const { header = list.header, headerText = list.headerText, separate } = separation;
  const { ignored, earlierIdColumn, hasOwnIds } = separation;
  const own = separate === undefined ? rows : rows.map(separate);
  const options: ColumnOptions = {
    ...flags,
    defaultCity: app.settings.get('city'),
    ignored,
    earlierIdColumn,
    hasOwnIds,
    nested: list.format === 'ndjson',
    likelyHeader: list.likelyHeader,
    sheets: list.sheets,
  };
  const isEmpty = list.format === 'ndjson' && header.length === 0;
  const columns = isEmpty ? NO_COLUMNS : resolveColumns(header, options);
  let flat: readonly string[] | undefined;
  const flatOnce = () => (flat ??= flatColumns(name, own));
  const plan: Plan = {
    name,
    // The review must not depend on the city that is set then.
    flags: columns.otherCity === undefined ? flags : { ...flags, city: columns.otherCity },
    list: {
      ...list,
      header,
      headerText,
      tableColumns: () => (list.format === 'ndjson' ? flatOnce() : header),
    },
    columns,
    result,
    // Added columns need a lookup.
    matching: { fields: fields ?? (added.length > 0 ? 'basic' : undefined), loose },
    question: (row) => questionOf(columns, row),
  };
  return { plan, rows: own, separate: separate ?? ((row) => row) };
}

export const questionOf = (columns: Columns, row: InputRow): Question => ({
  key: rowKeyOf(columns.texts(row)),
  earlier: row.earlier,
  formula: columns.formulaIn(row),
});

function parseAdded(text: string): AddedColumn {
  const at = text.indexOf('=');
  const [name, path] = [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1).trim()];
  if (at > 0 && name !== '' && path !== '') return { name, path };
  throw usage(`--add '${text}': expected <column>=<dotted.path>`, {
    command: again({ '--fields': 'standard', '--add': 'phone=phone' }),
  });
}

/** @throws {AppError} `usage` */
export function checkFlags({ encoding, add = [] }: ListFlags): void {
  add.forEach(parseAdded);
  if (encoding === undefined || isEncoding(encoding)) return;
  throw usage(`--encoding '${encoding}': unknown encoding`, {
    command: again({ '--encoding': 'windows-1252' }),
  });
}

type Check = (value: unknown) => boolean;
type ColumnFlag = `${(typeof FIELDS)[number]}Column`;
const isText: Check = (value) => typeof value === 'string';
const among =
  (values: readonly string[]): Check =>
  (value) =>
    values.some((each) => each === value);

/** The flags that an answers file remembers, and what it may say about them. */
const REMEMBERED: Readonly<Record<keyof ListFlags, Check>> = {
  city: isFilled,
  ...(Object.fromEntries(FIELDS.map((field) => [`${field}Column`, isFilled as Check])) as Record<
    ColumnFlag,
    Check
  >),
  fields: among(LEVELS),
  add: (value) => Array.isArray(value) && value.every((each) => isText(each) && String(each).includes('=')),
  loose: (value) => value === true,
  prefix: isText,
  inputFormat: among(INPUT_FORMATS),
  sheet: isText,
  headerLine: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  encoding: (value) => isText(value) && isEncoding(String(value)),
  delimiter: among(DELIMITERS),
  rawCsv: (value) => value === true,
};

/** The flags of a run as an answers file keeps them, or the usable ones of those that it has kept. */
export function rememberedFlags(flags: ListFlags | JsonObject): ListFlags & JsonObject {
  const kept: JsonObject = Object.fromEntries(
    Object.entries(REMEMBERED).flatMap(([name, isValid]) => {
      const value = (flags as JsonObject)[name];
      const isDefault = Array.isArray(value) && value.length === 0;
      return value !== undefined && !isDefault && isValid(value) ? [[name, value]] : [];
    }),
  );
  return kept as ListFlags & JsonObject;
}
