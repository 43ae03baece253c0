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
import { type CellRow, type InputRow, valuesOf } from '../row.ts';
import { ownEntries, resultEntries, rowParts, type ViewSource } from './source.ts';
import { detailsCell } from './text.ts';

export async function* tableBytes(
  format: 'xlsx' | 'parquet',
  source: ViewSource,
): AsyncGenerator<Uint8Array> {
  yield* fileBytes(format, await tableOf(source, format === 'xlsx'));
}

/** @param readsText whether texts of a CSV can be numbers */
async function tableOf(source: ViewSource, readsText: boolean): Promise<TableFile> {
  const { plan } = source;
  const hasKinds = plan.list.format === 'ndjson' || plan.list.isSheet === true;
  const kinds = new ColumnKinds(readsText && !hasKinds);
  for await (const rows of rowParts(source)) for (const row of rows) kinds.add(cellsOf(source, row));
  const names = uniqueNames([...plan.list.tableColumns(), ...plan.result.names]);
  const columns = kinds.columns(names, plan.result.numbers);
  return { columns, rows: typedRows(source, columns) };
}

async function* typedRows(
  source: ViewSource,
  columns: readonly TableColumn[],
): AsyncGenerator<readonly TableCell[]> {
  for await (const rows of rowParts(source))
    for (const row of rows) yield typedCells(cellsOf(source, row), columns);
}

function cellsOf({ plan, resultOf }: ViewSource, row: InputRow): TableCell[] {
  const { list, result } = plan;
  const flat = row.kind === 'object' ? flatCells(row) : undefined;
  const own =
    flat === undefined ? valuesOf(row as CellRow) : list.tableColumns().map((key) => flat.get(key) ?? null);
  const found = result
    .values(resultOf(row))
    .map((value, index) => (result.isDetails(index) ? detailsCell(value) : toCell(value)));
  return [...own, ...found];
}

/** Returns GeoJSON (RFC 7946) with the geometry of the list, or else the point of the restaurant. */
export async function* geoJsonText(source: ViewSource): AsyncGenerator<string> {
  yield '{"type":"FeatureCollection","features":[';
  let separator = '\n';
  for await (const rows of rowParts(source)) {
    yield separator + rows.map((row) => toJson(featureOf(source, row), false)).join(',\n');
    separator = ',\n';
  }
  yield '\n]}\n';
}

function featureOf({ plan, resultOf }: ViewSource, row: InputRow): JsonObject {
  const received = row.kind === 'object' ? tryParseJson(row.text) : undefined;
  const isFeature = isObject(received) && received.type === 'Feature';
  const found = resultOf(row);
  const point = pointOf({ lat: valueAt(found.restaurant, 'lat'), lng: valueAt(found.restaurant, 'lng') });
  const geometry = point === undefined ? null : { type: 'Point', coordinates: [point.lng, point.lat] };
  const entries = [...ownEntries(plan, row), ...resultEntries(plan, found)];
  const names = uniqueNames(entries.map(([name]) => name));
  const properties = entries.map(
    ([, value], index) => [names[index], value === '' ? null : (value ?? null)] as const,
  );
  return {
    type: 'Feature',
    geometry: isFeature ? (received.geometry ?? geometry) : geometry,
    properties: Object.fromEntries(properties),
  };
}

/** A name that is repeated gets a number: `note`, `note_2`. */
function uniqueNames(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  const taken = new Set<string>();
  return names.map((name) => {
    const shown = name === '' ? 'column' : name;
    let count = counts.get(shown) ?? 0;
    let unique: string;
    do {
      count += 1;
      unique = count === 1 ? shown : `${shown}_${count}`;
    } while (taken.has(unique));
    counts.set(shown, count);
    taken.add(unique);
    return unique;
  });
}
