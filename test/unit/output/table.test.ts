import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { palette } from '../../../src/output/style.ts';
import { allocateWidths, type Column, renderTable } from '../../../src/output/table.ts';
import { hostileText, viewOf } from '../../helpers/hostile.ts';

const COLUMNS: readonly Column[] = [
  { key: '#', title: '#', align: 'right', priority: Number.POSITIVE_INFINITY },
  { key: 'name', title: 'name', min: 10, priority: 3, paint: 'name' },
  { key: 'city', title: 'city', min: 8, priority: 2 },
  { key: 'note', title: 'note', min: 12, priority: 1, maxLines: 3 },
  { key: 'id', title: 'id', priority: 0 },
];
const ROWS = [
  ['1', 'Nopa', 'San Francisco', 'Wood-fired cooking that stays open late', 'a1'],
  ['2', '鮨さいとう 六本木', '東京', '', 'b2'],
  ['10', '👨‍👩‍👧 Chez\tFamille\u0007', 'Lyon', 'Quiet', 'c3'],
];

describe('renderTable', () => {
  it('drops the least important columns, then wraps, truncates, and lists the rows, as the width shrinks', () => {
    const tables = [120, 60, 32, 24].map((columns) => renderTable(COLUMNS, ROWS, viewOf(columns)));
    expect(`\n${tables.join('\n\n')}\n`).toMatchInlineSnapshot(`
      "
       #  NAME               CITY           NOTE                                     ID
       1  Nopa               San Francisco  Wood-fired cooking that stays open late  a1
       2  鮨さいとう 六本木  東京           -                                        b2
      10  👨‍👩‍👧 Chez Famille^G  Lyon           Quiet                                    c3

       #  NAME               CITY           NOTE
       1  Nopa               San Francisco  Wood-fired cooking
                                            that stays open late
       2  鮨さいとう 六本木  東京           -
      10  👨‍👩‍👧 Chez Famille^G  Lyon           Quiet

       #  NAME           CITY
       1  Nopa           San Francisco
       2  鮨さいとう…    東京
      10  👨‍👩‍👧 Chez Fami…  Lyon

      #     1
      Name  Nopa
      City  San Francisco
      Note  Wood-fired cooking
            that stays open
            late

      #     2
      Name  鮨さいとう 六本木
      City  東京

      #     10
      Name  👨‍👩‍👧 Chez Famille^G
      City  Lyon
      Note  Quiet
      "
    `);
  });

  it('marks cuts with three dots without Unicode', () => {
    expect(
      renderTable([{ key: 'a', title: 'a', max: 8, priority: 1 }], [['Chez Panisse']], viewOf(40, false)),
    ).toBe('A\nChez...');
  });

  it('cuts text that wraps over too many lines', () => {
    const column: Column = { key: 'a', title: 'a', priority: 1, maxLines: 3 };
    expect(renderTable([column], [['one two '.repeat(40)]], viewOf(30)).split('\n')).toHaveLength(4);
    expect(renderTable([{ ...column, maxLines: 99 }], [['one two '.repeat(40)]], viewOf(30))).not.toContain(
      '…',
    );
  });

  it('returns no text for no rows', () => {
    expect(renderTable(COLUMNS, [], viewOf(80))).toBe('');
  });

  it('colors the text and not the padding', () => {
    const colored = renderTable(COLUMNS, ROWS.slice(0, 1), { ...viewOf(32), palette: palette(1) });
    expect(colored).toBe(
      [
        '\u001b[2m#\u001b[22m  \u001b[2mNAME\u001b[22m  \u001b[2mCITY\u001b[22m       \u001b[2mNOTE\u001b[22m',
        '1  \u001b[1mNopa\u001b[22m  San Fran…  Wood-fired',
        '                    cooking that',
        '                    stays open…',
      ].join('\n'),
    );
  });

  it('draws thousands of rows with the same widths', () => {
    const rows = Array.from({ length: 1500 }, (_, index) => [
      String(index + 1),
      index === 1400 ? 'A longer name' : 'Nopa',
      'x',
      '',
      '',
    ]);
    const lines = renderTable(COLUMNS, rows, viewOf(80)).split('\n');
    expect(lines).toHaveLength(1501);
    expect(lines[1]).toBe('   1  Nopa           x     -     -');
    expect(lines[1500]).toBe('1500  Nopa           x     -     -');
  });

  it('writes one line per record if no column wraps', () => {
    const rows = fc.array(fc.tuple(hostileText, hostileText, hostileText), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 40, max: 200 }), (cells, columns) => {
        expect(renderTable(COLUMNS.slice(0, 3), cells, viewOf(columns)).split('\n')).toHaveLength(
          cells.length + 1,
        );
      }),
      { numRuns: 50 },
    );
  });
});

it('allocateWidths gives the space of a wide column that does not fit to those dropped before it', () => {
  const columns = [
    { priority: 3, min: 10 },
    { priority: 1, min: 8 },
    { priority: 2, min: 20 },
  ];
  expect(allocateWidths(columns, [10, 8, 30], 50)).toEqual([10, 8, 28]);
  expect(allocateWidths(columns, [10, 8, 30], 25)).toEqual([10, 8, 0]);
  expect(allocateWidths(columns, [10, 8, 30], 12)).toEqual([10, 0, 0]);
});
