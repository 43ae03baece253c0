import { statSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { checkTarget, type Naming } from '../../app/output-file.ts';
import { usage } from '../../errors.ts';
import { type Advice, again, type Command } from '../../hint.ts';
import { fileBytes } from '../../output/formats.ts';
import { pointOf } from '../../output/geo.ts';
import { type Scalar, toCell } from '../../output/records.ts';
import { ColumnKinds, type TableColumn, type TableFile, typedCells } from '../../output/table-file.ts';
import { writeChunksAtomic } from '../../storage/user-files.ts';
import { plural } from '../../util/format.ts';
import { isObject, type JsonObject, toJson, tryParseJson } from '../../util/json.ts';
import { flatCells } from '../read/list.ts';
import { type EnrichOptions, exportFormat } from '../run/plan.ts';
import { openExportSource } from '../write/list-state.ts';
import { FinishedList, type ListRow } from './finished-list.ts';

type ExportOptions = Pick<EnrichOptions, 'export' | 'prefix' | 'resume'>;

export interface Target {
  readonly name: string;
  readonly path: string;
}

interface Rows {
  readonly path: string;
  readonly identity?: { readonly dev: bigint; readonly ino: bigint } | undefined;
}

/**
 * Checks the files before the first request. A resumed run replaces those that were exported from its rows before.
 * @param rows the path of the rows, and the list, which must not be replaced
 * @throws {AppError} `usage`; see {@link checkTarget}
 */
export function checkExportTargets(app: App, options: ExportOptions, rows: Rows): Target[] {
  return options.export.map((name) => {
    const { path, entry } = checkTarget(app, name, true, namingOf(app, name, options.export));
    if (entry === 'nothing') return { name, path };
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    const isList = stats?.dev === rows.identity?.dev && stats?.ino === rows.identity?.ino;
    const isOurs = options.resume && openExportSource(app.paths.stateDir, path).read()?.list === rows.path;
    if (entry === 'file' && !isList && (app.globals.force || isOurs)) return { name, path };
    const replace: Advice = options.resume
      ? { text: 'or continue without --export', command: withoutExport(app, name) }
      : { text: 'or replace it', command: again({ '--force': true }) };
    throw usage(`${name} exists`, [{ text: 'name another file' }, ...(isList ? [] : [replace])]);
  });
}

/** Whether `-o` names the workbook; its value then is the list with the rows. */
const isOutput = ({ globals }: App, name: string): boolean => globals.output?.startsWith(`${name}.`) === true;

const withoutExport = (app: App, name: string): Command =>
  isOutput(app, name)
    ? again({ '--output': app.globals.output ?? '' })
    : again({}, { without: ['--export'] });

const namingOf = (app: App, name: string, all: readonly string[]): Naming => ({
  example: 'out.xlsx',
  command: (file) =>
    again(
      isOutput(app, name)
        ? { '--output': file }
        : { '--export': all.map((each) => (each === name ? file : each)) },
    ),
});

export async function exportFinished(app: App, file: string, options: ExportOptions): Promise<void> {
  const list = await FinishedList.open(app, file, { prefix: options.prefix });
  const targets = checkExportTargets(app, options, {
    path: list.path,
    identity: statSync(list.path, { bigint: true }),
  });
  await exportList(app, list, targets);
  await app.notes.note(`${plural(list.count, 'row')} in ${targets.map(({ name }) => name).join(' and ')}`);
}

export async function exportList(app: App, list: FinishedList, targets: readonly Target[]): Promise<void> {
  for (const { name, path } of targets) {
    const format = exportFormat(name) ?? 'xlsx';
    const isText = format === 'geojson';
    const chunks = isText ? geoJsonOf(list) : fileBytes(format, await tableOf(list, format === 'xlsx'));
    await writeChunksAtomic(path, chunks, 0o644);
    openExportSource(app.paths.stateDir, path).write({ list: list.path });
  }
}

/** Fields of a result that are numbers, also if they are texts in a CSV. */
const NUMBERS = ['candidates', 'lat', 'lng', 'similarity', 'distance_m'];

const numbersOf = ({ prefix }: FinishedList): string[] => NUMBERS.map((field) => prefix + field);

/**
 * Reads a list as a table with typed columns: once for the columns and their kinds, and once for the rows.
 * @param readsText whether texts can be numbers
 */
async function tableOf(list: FinishedList, readsText: boolean): Promise<TableFile> {
  const names = new ColumnNames();
  const kinds = new ColumnKinds(readsText && !list.isNdjson);
  for await (const row of list.rows()) kinds.add(names.cells(recordOf(list, row)));
  const columns = kinds.columns(names.all, numbersOf(list));
  return { columns, rows: typedRows(list, names, columns) };
}

async function* typedRows(
  list: FinishedList,
  names: ColumnNames,
  columns: readonly TableColumn[],
): AsyncGenerator<readonly Scalar[]> {
  for await (const row of list.rows()) yield typedCells(names.cells(recordOf(list, row)), columns);
}

/** The columns of the list, then those of the result. */
const entriesOf = (list: FinishedList, row: ListRow): (readonly [column: string, value: unknown])[] => [
  ...list.ownFields(row),
  ...Object.keys(row.values).map((field) => [list.columnOf(field), list.value(row.values, field)] as const),
];

/** The flat columns of a row. Those of an object may differ from row to row. */
function recordOf(list: FinishedList, row: ListRow): readonly (readonly [string, Scalar])[] {
  const entries = entriesOf(list, row);
  if (row.kind === 'cells') return entries.map(([name, value]) => [name, toCell(value)] as const);
  const details = `${list.prefix}details`;
  const record = entries.map(([name, value]) =>
    name === details && isObject(value) ? ([name, toJson(value, false)] as const) : ([name, value] as const),
  );
  return [...flatCells({ ...row, value: Object.fromEntries(record) })];
}

/** Returns GeoJSON (RFC 7946) with the geometry of the list, or else the point of the restaurant. */
async function* geoJsonOf(list: FinishedList): AsyncGenerator<string> {
  const numbers = numbersOf(list);
  yield '{"type":"FeatureCollection","features":[';
  for await (const row of list.rows())
    yield `${row.number === 1 ? '' : ','}\n${toJson(featureOf(list, row, numbers), false)}`;
  yield '\n]}\n';
}

function featureOf(list: FinishedList, row: ListRow, numbers: readonly string[]): JsonObject {
  const received = row.kind === 'object' ? tryParseJson(row.text) : undefined;
  const isFeature = isObject(received) && received.type === 'Feature';
  const [lat, lng] = ['lat', 'lng'].map((field) => numberOf(list.value(row.values, field)));
  const point = pointOf({ lat, lng });
  const found = point === undefined ? null : { type: 'Point', coordinates: [point.lng, point.lat] };
  const names = new ColumnNames();
  const properties = entriesOf(list, row).map(([name, value]) => {
    const number = numbers.includes(name) ? numberOf(value) : value;
    return [names.unique(name), value === '' ? null : (number ?? null)] as const;
  });
  return {
    type: 'Feature',
    geometry: isFeature ? (received.geometry ?? found) : found,
    properties: Object.fromEntries(properties),
  };
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The columns of a table, in order of appearance. A name that a row repeats gets a number: `note`, `note_2`. */
class ColumnNames {
  readonly #positions = new Map<string, number>();
  readonly #counts = new Map<string, number>();

  get all(): string[] {
    return [...this.#positions.keys()];
  }

  cells(entries: readonly (readonly [string, Scalar])[]): Scalar[] {
    this.#counts.clear();
    const cells: Scalar[] = [];
    for (const [name, cell] of entries) {
      const key = this.unique(name);
      const position = this.#positions.get(key) ?? this.#positions.size;
      this.#positions.set(key, position);
      cells[position] = cell;
    }
    return Array.from({ length: this.#positions.size }, (_, index) => cells[index] ?? null);
  }

  unique(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const shown = name === '' ? 'column' : name;
    return count === 1 ? shown : `${shown}_${count}`;
  }
}
