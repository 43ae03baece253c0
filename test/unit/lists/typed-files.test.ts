import { describe, expect, it } from 'vitest';
import type { Input } from '../../../src/lists/read/input.ts';
import { type ListOptions, readList } from '../../../src/lists/read/list.ts';
import { type CellRow, valuesOf } from '../../../src/lists/row.ts';
import { parquetBytes } from '../../../src/output/parquet.ts';
import { textRow, workbookParts, zip } from '../../helpers/workbook.ts';

const inputOf = (bytes: Uint8Array): Input => ({
  name: 'list',
  format: undefined,
  signal: new AbortController().signal,
  chunks: async function* () {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
  },
  close() {},
});

const read = (bytes: Uint8Array, options: Partial<ListOptions> = {}) =>
  readList(inputOf(bytes), { format: undefined, delimiter: undefined, ...options });

const COVER = textRow('Kundenliste 2026') + textRow('Siehe Blatt Kunden');
const LIST = textRow('Betrieb', 'Ort') + textRow('Nopa', 'SF');

describe('a workbook', () => {
  it.each<[string, Record<string, string>, Partial<ListOptions>, string]>([
    [
      'the first visible sheet with a header',
      { hidden: LIST, Deckblatt: COVER, Kunden: LIST, Alt: LIST },
      {},
      'Kunden',
    ],
    ['a header that options name', { A: COVER, B: textRow('Wer', 'Wo') }, { named: ['Wer', 'Wo'] }, 'B'],
    [
      'else the first one with several columns',
      { A: COVER, B: textRow('x', 'y'), C: textRow('a', 'b') },
      {},
      'B',
    ],
    ['else the first visible one', { hidden: LIST, A: COVER, B: COVER }, {}, 'A'],
    ['the one that --sheet names', { A: LIST, 'Alt 1': LIST }, { sheet: 'ALT 1' }, 'Alt 1'],
    ['the header line of --header-line', { A: LIST, B: `${COVER}${LIST}` }, { headerLine: 3 }, 'B'],
  ])('has %s', async (_name, sheets, options, sheet) => {
    const list = await read(zip(workbookParts(sheets)), options);
    expect(list.sheets).toMatchObject({ sheet, sheets: Object.keys(sheets) });
  });

  it('has cells of several kinds, and formulas without a stored value', async () => {
    const styles =
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts>' +
      '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="164"/><xf numFmtId="21"/></cellXfs></styleSheet>';
    const row =
      '<row><c t="inlineStr"><is><t>Nopa</t></is></c><c><f>A1</f></c><c><v>1.5</v></c><c s="1"><v>45962.5</v></c>' +
      '<c s="2"><v>45962.75</v></c><c s="3"><v>4109</v></c><c t="b"><v>1</v></c><c s="4"><v>0.25</v></c><c><v>12345678901234567</v></c></row>';
    const sheet = textRow('name', 'city', 'c', 'd', 'e', 'f', 'g', 'h', 'i') + row;
    const list = await read(zip(workbookParts({ One: sheet }, { styles })));
    const [first] = list.rows as CellRow[];
    expect([list.isSheet, first?.kinds]).toEqual([true, 'tfnddtbtn']);
    expect(list.sheets?.formulas).toEqual({ count: 1, cells: ['B2'] });
    expect(first && valuesOf(first)).toEqual([
      'Nopa',
      '',
      1.5,
      new Date('2025-11-01'),
      new Date('2025-11-01T18:00:00Z'),
      '04109',
      true,
      '06:00:00',
      12_345_678_901_234_600,
    ]);
  });
});

describe('a Parquet file', () => {
  const bytesOf = async () => {
    const chunks: Uint8Array[] = [];
    const columns = [
      { name: 'name', kind: 'text' },
      { name: 'Ort', kind: 'text' },
      { name: 'covers', kind: 'number' },
      { name: 'open', kind: 'boolean' },
    ] as const;
    const rows = [
      ['Nopa', 'SF', 40.5, true],
      ['Löwen', null, null, false],
    ];
    for await (const chunk of parquetBytes({ columns, rows })) chunks.push(chunk);
    return Buffer.concat(chunks);
  };

  it('is read with the kinds of its columns', async () => {
    const list = await read(await bytesOf());
    expect(list.header).toEqual(['name', 'Ort', 'covers', 'open']);
    const rows = list.rows as readonly CellRow[];
    expect(rows.map((row) => [row.line, row.cells, row.kinds, valuesOf(row)])).toEqual([
      [2, ['Nopa', 'SF', '40.5', 'true'], 'ttnb', ['Nopa', 'SF', 40.5, true]],
      [3, ['Löwen', '', '', 'false'], 'tttb', ['Löwen', '', '', false]],
    ]);
  });

  it('has no sheets that --sheet could name', async () => {
    await expect(read(await bytesOf(), { sheet: 'One' })).rejects.toThrow(
      "list has no sheet 'One'; it has none",
    );
  });

  it('is refused if it is damaged, wherever it is cut or changed', async () => {
    const bytes = await bytesOf();
    const damage = [
      bytes.subarray(0, 20),
      bytes.subarray(0, -3),
      Buffer.from(bytes).fill(255, bytes.length - 60, bytes.length - 8),
    ];
    for (const each of damage)
      await expect(read(each)).rejects.toMatchObject({
        code: 'bad_input',
        message: expect.stringMatching(/^list cannot be read: it is damaged/),
      });
  });
});
