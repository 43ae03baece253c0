import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readList } from '../../../src/lists/read/list.ts';
import { type CellRow, valuesOf } from '../../../src/lists/row.ts';
import { type TableColumn, typedCells } from '../../../src/output/table-file.ts';
import { xlsxBytes } from '../../../src/output/xlsx.ts';

const FILE = fileURLToPath(new URL('../../../docs/customers.xlsx', import.meta.url));
const COLUMNS: readonly TableColumn[] = [
  { name: 'Lokal', kind: 'text' },
  { name: 'Ort', kind: 'text' },
  { name: 'Kunde seit', kind: 'date' },
  { name: 'Umsatz', kind: 'number' },
];
/** Restaurants of the sample data: one as it is, one of two of a name, half a name, one with errors, and one that is not there. */
const ROWS = [
  ['Nopa', 'San Francisco', new Date('2019-03-01'), 1840.5],
  ['Golden Crane', 'San Francisco', new Date('2021-06-15'), 920],
  ['Taquería', 'San Francisco', new Date('2022-01-10'), 310.75],
  ['Copper Laddle GmbH', 'San Francisco', new Date('2024-09-30'), 1200],
  ['Zum Anker', 'San Francisco', new Date('2025-05-05'), 75],
];

it('docs/customers.xlsx is the list of the walkthrough; vitest -u writes it again', async () => {
  if (process.env.UPDATE_SESSIONS === 'true') {
    const chunks: Uint8Array[] = [];
    const rows = ROWS.map((cells) => typedCells(cells, COLUMNS));
    for await (const chunk of xlsxBytes({ columns: COLUMNS, rows })) chunks.push(chunk);
    writeFileSync(FILE, Buffer.concat(chunks));
  }
  const { signal } = new AbortController();
  const chunks = async function* () {
    yield readFileSync(FILE);
  };
  const input = { name: 'customers.xlsx', format: undefined, signal, chunks, close() {} };
  const list = await readList(input, { format: undefined, delimiter: undefined });
  expect(list.header).toEqual(COLUMNS.map(({ name }) => name));
  expect(list.rows.map((row) => valuesOf(row as CellRow))).toEqual(ROWS);
});
