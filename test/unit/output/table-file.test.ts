import { describe, expect, it } from 'vitest';
import { readList } from '../../../src/lists/read/list.ts';
import { type CellRow, valuesOf } from '../../../src/lists/row.ts';
import { parquetBytes } from '../../../src/output/parquet.ts';
import { ColumnKinds, type TableCell, type TableFile, typedCells } from '../../../src/output/table-file.ts';
import { xlsxBytes } from '../../../src/output/xlsx.ts';

const NAMES = ['text', 'number', 'boolean', 'date', 'time', 'mixed', 'early'];
const TIME = new Date('2026-01-31T18:30:00Z');
const ROWS: readonly (readonly TableCell[])[] = [
  ['007', 1.5, true, new Date('2026-01-31'), TIME, 5, new Date('1900-02-28')],
  ['', -3, false, new Date('1999-12-31'), new Date('2026-02-01'), 'five', new Date('0900-02-28')],
  [null, null, null, null, null, new Date('2026-01-31'), null],
];

function tableOf(readsText: boolean): TableFile {
  const kinds = new ColumnKinds(readsText);
  for (const row of ROWS) kinds.add(row);
  const columns = kinds.columns(NAMES, []);
  return { columns, rows: ROWS.map((row) => typedCells(row, columns)) };
}

async function readAgain(chunks: AsyncIterable<Uint8Array>): Promise<readonly (readonly unknown[])[]> {
  const { signal } = new AbortController();
  const input = { name: 'list', format: undefined, signal, chunks: () => chunks, close() {} };
  const { rows } = await readList(input, { format: undefined, delimiter: undefined });
  return rows.map((row) => valuesOf(row as CellRow));
}

describe('the kinds of columns', () => {
  it('are those of their cells', () => {
    const kinds = (readsText: boolean) => tableOf(readsText).columns.map(({ kind }) => kind);
    expect(kinds(false)).toEqual(['text', 'number', 'boolean', 'date', 'time', 'mixed', 'date']);
    expect(kinds(true)[5]).toBe('text');
  });

  it('stay the same in a workbook that is read again', async () => {
    expect(await readAgain(xlsxBytes(tableOf(false)))).toEqual([
      ['007', 1.5, true, new Date('2026-01-31'), TIME, 5, '1900-02-28'],
      ['', -3, false, new Date('1999-12-31'), new Date('2026-02-01'), 'five', '0900-02-28'],
      ['', '', '', '', '', new Date('2026-01-31'), ''],
    ]);
  });

  it('stay the same in a Parquet file that is read again; a column of several kinds is text', async () => {
    expect(await readAgain(parquetBytes(tableOf(false)))).toEqual([
      ['007', 1.5, true, new Date('2026-01-31'), TIME, '5', new Date('1900-02-28')],
      ['', -3, false, new Date('1999-12-31'), new Date('2026-02-01'), 'five', new Date('0900-02-28')],
      ['', '', '', '', '', '2026-01-31', ''],
    ]);
  });

  it('cut a text that is too long for a cell of a workbook between characters', async () => {
    const rows = [['a'.repeat(32_765) + '😀'.repeat(2)]];
    const [[cell] = []] = await readAgain(xlsxBytes({ columns: [{ name: 'text', kind: 'text' }], rows }));
    expect(cell).toBe(`${'a'.repeat(32_765)}…`);
  });

  it('are styles of a workbook, which has a default one, and no times of a time zone', async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of xlsxBytes(tableOf(false))) chunks.push(chunk);
    const { fromBufferPromise } = await import('yauzl');
    const zip = await fromBufferPromise(Buffer.concat(chunks), { lazyEntries: true });
    const styles: Buffer[] = [];
    for await (const entry of zip.eachEntry()) {
      expect(entry.extraFieldLength).toBe(0);
      if (entry.fileName === 'xl/styles.xml')
        for await (const part of await zip.openReadStreamPromise(entry)) styles.push(part as Buffer);
    }
    expect(Buffer.concat(styles).toString()).toContain('<cellStyle name="Normal" xfId="0" builtinId="0"/>');
  });
});
