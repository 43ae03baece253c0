import { setImmediate } from 'node:timers/promises';
import { fileBytes } from '../../output/formats.ts';
import { toCell, valueAt } from '../../output/records.ts';
import {
  ColumnKinds,
  type TableCell,
  type TableColumn,
  type TableFile,
  typedCells,
} from '../../output/table-file.ts';
import { isObject, type JsonObject, toJson, tryParseJson } from '../../util/json.ts';
import { pointOf } from '../../util/restaurant.ts';
import { flatCells } from '../read/list.ts';
import type { InputRow } from '../row.ts';
import { cellEntries, ownEntries, resultEntries, type ViewSource } from './source.ts';
import { detailsCell } from './text.ts';

const TURN = 256;

/** Writes a table with typed columns: a workbook, or Parquet. */
export async function* tableBytes(
  format: 'xlsx' | 'parquet',
  source: ViewSource,
): AsyncGenerator<Uint8Array> {
  yield* fileBytes(format, await tableOf(source, format === 'xlsx'));
}

/** @param readsText whether texts of a CSV can be numbers */
async function tableOf(source: ViewSource, readsText: boolean): Promise<TableFile> {
  const { plan, rows } = source;
  const names = new ColumnNames();
  const hasKinds = plan.list.format === 'ndjson' || plan.list.isSheet === true;
  const kinds = new ColumnKinds(readsText && !hasKinds);
  for (const [index, row] of rows.entries()) {
    if (index % TURN === 0) await setImmediate();
    kinds.add(names.cells(recordOf(source, row)));
  }
  if (rows.length === 0) names.cells(emptyRecord(source));
  const columns = kinds.columns(names.all, plan.result.numbers);
  return { columns, rows: typedRows(source, names, columns) };
}

const emptyRecord = ({ plan }: ViewSource): readonly TableEntry[] =>
  [...plan.list.header, ...plan.result.names].map((name) => [name, null] as const);

async function* typedRows(
  source: ViewSource,
  names: ColumnNames,
  columns: readonly TableColumn[],
): AsyncGenerator<readonly TableCell[]> {
  for (const row of source.rows) yield typedCells(names.cells(recordOf(source, row)), columns);
}

type TableEntry = readonly [column: string, cell: TableCell];

/** The flat columns of a row. Those of an object may differ from row to row. */
function recordOf({ plan, resultOf }: ViewSource, row: InputRow): readonly TableEntry[] {
  const own = row.kind === 'object' ? [...flatCells(row)] : cellEntries(plan, row);
  const found = resultEntries(plan, resultOf(row)).map(
    ([name, value], place) =>
      [name, plan.result.isDetails(place) ? detailsCell(value) : toCell(value)] as const,
  );
  return [...own, ...found];
}

/** Returns GeoJSON (RFC 7946) with the geometry of the list, or else the point of the restaurant. */
export async function* geoJsonText(source: ViewSource): AsyncGenerator<string> {
  yield '{"type":"FeatureCollection","features":[';
  for (const [index, row] of source.rows.entries()) {
    if (index % TURN === 0) await setImmediate();
    yield `${index === 0 ? '' : ','}\n${toJson(featureOf(source, row), false)}`;
  }
  yield '\n]}\n';
}

function featureOf({ plan, resultOf }: ViewSource, row: InputRow): JsonObject {
  const received = row.kind === 'object' ? tryParseJson(row.text) : undefined;
  const isFeature = isObject(received) && received.type === 'Feature';
  const found = resultOf(row);
  const point = pointOf({ lat: valueAt(found.restaurant, 'lat'), lng: valueAt(found.restaurant, 'lng') });
  const geometry = point === undefined ? null : { type: 'Point', coordinates: [point.lng, point.lat] };
  const names = new ColumnNames();
  const properties = [...ownEntries(plan, row), ...resultEntries(plan, found)].map(
    ([name, value]) => [names.unique(name), value === '' ? null : (value ?? null)] as const,
  );
  return {
    type: 'Feature',
    geometry: isFeature ? (received.geometry ?? geometry) : geometry,
    properties: Object.fromEntries(properties),
  };
}

/** The columns of a table, in order of appearance. A name that a row repeats gets a number: `note`, `note_2`. */
class ColumnNames {
  readonly #positions = new Map<string, number>();
  readonly #counts = new Map<string, number>();

  get all(): string[] {
    return [...this.#positions.keys()];
  }

  cells(entries: readonly TableEntry[]): TableCell[] {
    this.#counts.clear();
    const cells: TableCell[] = [];
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
