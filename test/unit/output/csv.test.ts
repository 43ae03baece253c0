import { describe, expect, it } from 'vitest';
import { csvRow, guardFormula, guardJson, tsvRow } from '../../../src/output/csv.ts';

describe('csvRow', () => {
  it('quotes only cells that need it', () => {
    expect(csvRow(['a b', 'a,b', 'say "hi"', 'x\ny', '', null, 1.5, true])).toBe(
      'a b,"a,b","say ""hi""","x\ny",,,1.5,true',
    );
  });

  it('never guards a number', () => {
    expect(csvRow([-122.43, '-122.43', '-x'], true)).toBe("-122.43,-122.43,'-x");
  });
});

describe('guardFormula', () => {
  it.each([
    ...['=1+1', '+cmd', '-cmd', '@SUM(A1)', '=HYPERLINK("x")', '-2+3', '+1+1', '--1', '-1-2', '+'],
    ...[' =1', '\u00a0=1', '\rx', '\nx', '\tx', '\u200b=1', '\u00ad=1', '＝1', '＋1+a', '－a', '＠a'],
  ])('neutralizes %j', (text) => {
    expect(guardFormula(text)).toBe(`'${text}`);
  });

  it.each([
    '+33 4 72 10 20 30',
    '+1 (415) 864-8643',
    '+1-415-864-8643',
    '+33 4 72 10; +33 4 73 11',
    '+44 20 7946 0018 ext. 5',
    '+33\u00a04\u201172',
    ...['-122.43', '4,5', '-1,5', 'a=b', "'=1", 'Café', ''],
  ])('leaves %j unchanged', (text) => {
    expect(guardFormula(text)).toBe(text);
  });

  it.each([
    ['x;=1+1;y', "x;'=1+1;y"],
    ['x\t@SUM(A1)', "x\t'@SUM(A1)"],
    ['x, +cmd', "x, '+cmd"],
    ['\n=1', "'\n'=1"],
    ['\r=1', "'\r'=1"],
    // A program that splits at semicolons reads the quoted cell of a CSV as lines.
    ["x\n=cmd|'/C calc'!A1;y", "x\n'=cmd|'/C calc'!A1;y"],
    ['x\r\n+1 415 864 8643\n-cmd', "x\r\n+1 415 864 8643\n'-cmd"],
    ['+33 4 72;=1', "'+33 4 72;'=1"],
    ['a; -5; b', 'a; -5; b'],
    ['Nopa, San Francisco; +1 415 864 8643', 'Nopa, San Francisco; +1 415 864 8643'],
  ])('guards each part of a list: %j becomes %j', (text, guarded) => {
    expect(guardFormula(text)).toBe(guarded);
  });
});

it.each([
  ['=1+1', '"\\u003d1+1"'],
  ['x;=cmd|A1;y', '"x;\\u003dcmd|A1;y"'],
  [['a, @SUM(A1)', '=1'], '["a, \\u0040SUM(A1)","\\u003d1"]'],
  [{ '-cmd': -1.5, b: [-1, 2] }, '{"\\u002dcmd":-1.5,"b":[-1,2]}'],
  ['\\"; ＝1', '"\\\\\\"; \\uff1d1"'],
  [['+1 415 864 8643; -5', 'a=b', '11:00-22:00'], '["+1 415 864 8643; -5","a=b","11:00-22:00"]'],
])('guardJson neutralizes the formulas in %j, which stays the same', (value, json) => {
  expect(guardJson(JSON.stringify(value))).toBe(json);
  expect(JSON.parse(json)).toEqual(value);
});

it('tsvRow writes one line with tabs between cells and cuts nothing', () => {
  expect(tsvRow(['a\tb', 'c\r\nd', null, 1, false, 'x'.repeat(500)])).toBe(
    `a b\tc d\t\t1\tfalse\t${'x'.repeat(500)}`,
  );
});
