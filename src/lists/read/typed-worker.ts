import { parentPort } from 'node:worker_threads';
import { columnName } from '../../util/sheet.ts';
import type { Sheets } from '../row.ts';
import { excess, MAX_BYTES, UnreadableFile } from './limits.ts';
import { readParquet } from './parquet.ts';
import type { FileRow, TypedFile, TypedMessage, TypedRow, TypedTask } from './typed-rows.ts';
import { readWorkbook } from './xlsx/workbook.ts';

const READERS: Readonly<Record<TypedTask['kind'], (task: TypedTask) => Promise<TypedFile>>> = {
  xlsx: readWorkbook,
  parquet: readParquet,
};

/** Number of characters that are sent at once. */
const BATCH = 1_000_000;
const MAX_NAMED = 5;

const reply = (message: TypedMessage): void => parentPort?.postMessage(message);

/** Sends the rows in batches, up to what fits into memory. @throws {UnreadableFile} */
async function sendRows({ rows, ...sheets }: TypedFile): Promise<Sheets> {
  const formulas = { count: 0, cells: [] as string[] };
  const size = { rows: 0, cells: 0, characters: 0 };
  let batch: TypedRow[] = [];
  let sent = 0;
  for await (const each of rows) {
    const row = typedRow(each);
    batch.push(row);
    size.rows += 1;
    size.cells += row.cells.length;
    size.characters += row.cells.reduce((sum, cell) => sum + cell.length + 1, 0);
    if (size.characters > MAX_BYTES) throw new UnreadableFile('its texts are longer than 256 MiB');
    const excessive = excess(size.rows - 1, size.cells);
    if (excessive !== undefined) throw new UnreadableFile(`it has ${excessive}`);
    for (let at = row.kinds.indexOf('f'); at !== -1; at = row.kinds.indexOf('f', at + 1)) {
      formulas.count += 1;
      if (formulas.count <= MAX_NAMED) formulas.cells.push(`${columnName(at + 1)}${row.row}`);
    }
    if (size.characters - sent < BATCH) continue;
    reply({ rows: batch });
    batch = [];
    sent = size.characters;
  }
  reply({ rows: batch });
  return { ...sheets, ...(formulas.count > 0 && { formulas }) };
}

function typedRow({ row, cells, filled }: FileRow): TypedRow {
  const all = Array.from(cells, (cell) => cell ?? ['']);
  return {
    ...{ line: row, row, text: '', end: '\n', filled },
    cells: all.map(([text]) => text),
    kinds: all.map(([, kind = 't']) => kind).join(''),
  };
}

parentPort?.on('message', async (task: TypedTask) => {
  try {
    reply({ end: await sendRows(await READERS[task.kind](task)) });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    reply({ problem: error.message });
  }
});
