import { describe, expect, it } from 'vitest';
import { openInput } from '../../../src/lists/read/input.ts';
import { readList } from '../../../src/lists/read/list.ts';
import { TextsReader } from '../../../src/lists/read/xlsx/rows.ts';
import { table, useLists } from '../../helpers/enrich.ts';
import { type Part, textRow, workbookParts, zip } from '../../helpers/workbook.ts';

const { service, read, write, ...lists } = useLists();

/** Runs enrich on a workbook with these parts. */
function enrich(parts: readonly Part[], words = '') {
  write('in.xlsx', zip(parts));
  return lists.enrich(`in.xlsx${words}`);
}

const STYLES = `<styleSheet><numFmts>
  <numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="[$-407]dd\\.mm\\.yyyy"/>
  <numFmt numFmtId="166" formatCode="&quot;yes&quot; 0.00"/><numFmt numFmtId="167" formatCode="[h]:mm"/></numFmts>
  <cellStyleXfs><xf numFmtId="22"/></cellStyleXfs>
  <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="22"/><xf numFmtId="21"/><xf numFmtId="166"/><xf numFmtId="167"/></cellXfs>
  </styleSheet>`;
const TEXTS = `<sst><si><t>Place 1</t></si><si><r><t>Test</t></r><rPh><t>x</t></rPh><r><t xml:space="preserve">ville</t></r></si>
  <si><t>a &amp; b &#128512; _x0041_</t></si></sst>`;

describe('an Excel workbook', () => {
  it('is read: shared and inline texts, stored values of formulas, dates, and leading zeros', async () => {
    const rows = `${textRow('Kundenliste')}<row r="3"><c r="A3" t="inlineStr"><is><t>Lokal</t></is></c>
      <c r="B3" t="str"><f>"O"&amp;"rt"</f><v>Ort</v></c><c r="D3" t="inlineStr"><is><r><t>x,</t></r><r><t>y</t></r></is></c>
      <c r="E3"><v>5</v></c><c r="F3"><v>6</v></c><c r="G3"><v>7</v></c><c r="H3"><v>8</v></c><c r="I3"><v>9</v></c></row>
      <row r="5"><c r="A5" t="s"><v>0</v></c><c r="B5" t="s"><v>1</v></c><c r="C5" s="1"><v>45962</v></c><c r="D5" s="2"><v>4109</v></c>
      <c r="E5" s="3"><v>45962.5</v></c><c r="F5" s="4"><v>45962.75</v></c><c r="G5" s="5"><v>0.25</v></c><c r="H5" s="6"><v>0.30000000000000004</v></c>
      <c r="I5" s="7"><v>1.5</v></c></row>
      <row r="7"><c r="A7" t="s"><v>2</v></c><c r="B7" t="b"><v>1</v></c><c r="C7" t="e"><v>#N/A</v></c><c r="D7"/><c r="E7"><v>1E+15</v></c><c r="F7" s="1"><v>59</v></c><c r="G7" t="d"><v>2026-01-02</v></c></row>
      <row r="9"><c r="A9" s="1"/></row>`;
    const { exit, stdout } = await enrich(
      workbookParts({ hidden: '', Gäste: rows }, { styles: STYLES, texts: TEXTS }),
    );
    expect(exit).toBe(0);
    expect(stdout.replace(/,(?:restaurant_status|matched|not_found),.*/g, '')).toBe(
      '\ufeffLokal,Ort,,"x,y",5,6,7,8,9\n' +
        'Place 1,Testville,2025-11-01,04109,2025-11-01,2025-11-01T18:00:00,06:00:00,0.3,1.5\n' +
        'a & b 😀 A,TRUE,#N/A,,1000000000000000,1900-02-28,2026-01-02,,\n',
    );
  });

  it('has a sheet that --sheet names, and rows that errors name', async () => {
    const sheet = textRow('name', 'city') + textRow('Place 2', 'Testville', '', 'note');
    const parts = workbookParts({
      One: textRow('name', 'city') + textRow('Place 1', 'Testville'),
      Two: sheet,
    });
    expect((await enrich(parts)).stdout).toContain('\nPlace 1,Testville,matched,');
    expect(await enrich(parts, ' --sheet two')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('line 2 has a value in column D, the header ends with column B\n'),
    });
    expect(await enrich(parts, ' --sheet Three')).toMatchObject({
      exit: 2,
      stderr:
        "error: in.xlsx has no sheet 'Three'; it has 'One', 'Two'\nhint: restaurant enrich in.xlsx --sheet One\n",
    });
    write('in.csv', 'name,city\n');
    expect(await lists.enrich('in.csv --sheet One')).toMatchObject({
      exit: 2,
      stderr: 'error: --sheet: in.csv is not a workbook\nhint: restaurant enrich in.csv\n',
    });
  });

  it('may have formulas without a stored value, as openpyxl writes them, which are named', async () => {
    const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
    const formula = (at: string, rest = '<v />') => `<c r="${at}"><f>"x"</f>${rest}</c>`;
    const rows = [
      text('A1', 'name') + text('B1', 'city') + text('C1', 'sum'),
      text('A2', 'Place 1') + text('B2', 'Testville') + formula('C2'),
      formula('A3') + text('B3', 'Testville'),
      text('A4', 'Place 2') + formula('B4', ''),
      formula('A5', '') + formula('B5') + formula('C5'),
      `${text('A6', 'Place 3')}${text('B6', 'Testville')}<c r="C6" t="str"><f>""</f><v></v></c>`,
    ].map((cells, index) => `<row r="${index + 1}">${cells}</row>`);
    const parts = workbookParts({ One: rows.join('') });
    const warning =
      'warning: in.xlsx has 6 formulas without a stored value (C2, A3, B4, A5, B5, …), read as empty: open it in Excel or LibreOffice, and save it\n';
    const line = ' -o out.csv --city Nowhere --json';
    expect((await enrich(parts, `${line} --dry-run`)).stderr).toContain(warning);
    const { exit, stderr } = await enrich(parts, line);
    expect([exit, stderr.split(warning).length]).toEqual([0, 2]);
    // Nothing new is written, or the list is only read for its decisions.
    expect((await enrich(parts, line)).stderr).not.toContain('formula');
    const review = await service.run(['review', 'out.csv', '--json'], { cwd: lists.path('') });
    expect([review.exit, review.stderr]).toEqual([0, '']);
    const shown = table(read('out.csv')).map((row) => [
      row.name,
      row.restaurant_status,
      row.restaurant_error?.replace(/ is a formula without a stored value/, ' *'),
    ]);
    expect(shown).toEqual([
      ['Place 1', 'matched', ''],
      ['', 'skipped', 'the name *'],
      ['Place 2', 'skipped', 'the city *'],
      ['', 'skipped', 'the name *'],
      ['Place 3', 'matched', ''],
    ]);
    expect(service.sent()).toBe(2);
    const streamed = await lists.enrich('-', { stdin: zip(parts) });
    expect(streamed.stderr).toContain('stdin has 6 formulas without a stored value');
  });

  it('says which of several sheets is read', async () => {
    const cover = textRow('Kundenliste 2026');
    const parts = workbookParts({ Deckblatt: cover, Kunden: textRow('name', 'city') + textRow('a', 'b') });
    const { stdout } = await enrich(parts, ' --dry-run');
    expect(stdout).toContain("list      in.xlsx, sheet 'Kunden' of 2\ncolumns   name, city;");
    write('in.xlsx', zip(parts));
    const run = await lists.enrich('in.xlsx -o out.csv', { tty: { stderr: true } });
    expect(run.stderr).toContain("reading the sheet 'Kunden' of in.xlsx; --sheet names another one");
  });

  it('counts years from 1904 if the workbook says so', async () => {
    const rows = `${textRow('name', 'city', 'day')}<row><c t="inlineStr"><is><t>Place 3</t></is></c><c t="inlineStr"><is><t>Testville</t></is></c><c s="1"><v>1</v></c></row>`;
    const parts = workbookParts({ One: rows }, { styles: STYLES, properties: '<workbookPr date1904="1"/>' });
    expect((await enrich(parts, ' -o out.csv')).exit).toBe(0);
    service.sent();
    expect((await enrich(parts, ' -o out.csv')).exit).toBe(0);
    expect(service.sent()).toBe(0);
    expect((await enrich(parts, ' --dry-run --json')).stdout).toContain('"rows":1,');
    expect((await enrich(parts, ' --format tsv')).stdout).toContain(
      '\nPlace 3\tTestville\t1904-01-02\tmatched\t',
    );
  });

  it('is read from stdin, and refused in an old format, or if it is another file', async () => {
    const run = (stdin: Buffer) => lists.enrich('-', { stdin });
    const sheet = textRow('name', 'city') + textRow('Place 1', 'Testville');
    expect((await run(zip(workbookParts({ One: sheet })))).stdout).toContain('\nPlace 1,Testville,matched,');
    expect((await run(Buffer.from('d0cf11e0a1b1', 'hex'))).stderr).toContain(
      'old format, or one with a password',
    );
    expect(await enrich([{ name: 'mimetype', data: 'application/vnd.oasis' }])).toMatchObject({
      exit: 2,
      stderr:
        'error: in.xlsx cannot be read: it is not an Excel workbook (.xlsx)\n' +
        'hint: in Excel: File > Save As > CSV UTF-8; then: restaurant enrich list.csv\n',
    });
  });
});

const MIB = 1024 * 1024;
const HEADER = textRow('name', 'city');
const one = (rows: string) => workbookParts({ One: rows });
const withSheet = (part: Omit<Part, 'name'>) => [
  ...one('').slice(0, -1),
  { name: 'xl/worksheets/sheet0.xml', ...part },
];
const BOMB = Buffer.alloc(64 * MIB, ' ');
const LONG_TEXT = `<sst><si><t>${'a'.repeat(40_000)}</t></si></sst>`;
const ENDLESS_FORMAT = `<styleSheet><numFmts><numFmt numFmtId="165" formatCode="${'['.repeat(20_000)}"/></numFmts><cellXfs>${'<xf numFmtId="165"/>'.repeat(100_000)}</cellXfs></styleSheet>`;
const FAR_ROWS = Array.from(
  { length: 100_000 },
  (_, row) => `<row r="${row + 2}"><c r="XFD${row + 2}"><v>1</v></c></row>`,
).join('');
const ENTITIES = `<!DOCTYPE a [<!ENTITY b "${'x'.repeat(1000)}"><!ENTITY c "&b;&b;&b;">]><worksheet>&c;</worksheet>`;

describe('a hostile workbook', () => {
  it.each<[string, string | readonly Part[], RegExp]>([
    ['50,000 columns', textRow(...Array(50_000).fill('a')), /its row 1 has more than 16,384 columns/],
    ['a column far away', '<row><c r="ZZZZ1"><v>1</v></c></row>', /more than 16,384 columns/],
    ['a row far away', '<row r="9999999"><c/></row>', /its row 0 is followed by row 9999999/],
    ['rows that are not in order', '<row r="5"/><row r="5"/>', /its row 5 is followed by row 5/],
    [
      'cells that are not in order',
      '<row><c r="B1"/><c r="A1"/></row>',
      /its row 1 has cells that are not in order/,
    ],
    ['a cell that is too long', HEADER + textRow('a'.repeat(32_768), 'x'), /more than 32,767 characters/],
    [
      'a long value',
      `<row><c t="str"><v>${'a<b/>'.repeat(33_000)}</v></c></row>`,
      /more than 32,767 characters/,
    ],
    ['a ZIP bomb', withSheet({ data: BOMB }), /longer than 1 MiB/],
    [
      'a wrong check sum',
      withSheet({ data: '<worksheet/>', sum: 7 }),
      /its part xl\/worksheets\/sheet0\.xml is damaged/,
    ],
    [
      'cells far away',
      HEADER + FAR_ROWS,
      /also lines .* has a value in column XFD|has a value in column XFD/,
    ],
    [
      'a ZIP bomb with a false size',
      withSheet({ data: BOMB, declared: 1000 }),
      /it is damaged or incomplete/,
    ],
    ['a part of 2 GiB', withSheet({ data: '<a/>', declared: 2 ** 31 }), /sheet0\.xml has 2,048 MiB/],
    [
      'a shared text that is too long',
      workbookParts({ One: HEADER }, { texts: LONG_TEXT }),
      /more than 32,767/,
    ],
    ['entities', withSheet({ data: ENTITIES }), /declares a document type/],
    ['deep XML', withSheet({ data: '<a>'.repeat(200) }), /nested too deeply/],
    [
      'text without an end',
      withSheet({ data: `<a>${[...Array(300_000).keys()].join('')}` }),
      /longer than 1 MiB/,
    ],
    ['XML that is cut', withSheet({ data: '<worksheet><sheetData><row' }), /malformed/],
    [
      'more formats than Excel can have',
      workbookParts(
        { One: HEADER },
        { styles: `<styleSheet><cellXfs>${'<xf/>'.repeat(300_000)}</cellXfs></styleSheet>` },
      ),
      /more than 200,000 elements 'xf'/,
    ],
    ['no sheet', workbookParts({ hidden: '' }), /it has no visible sheet/],
    ['no part for its sheet', one('').slice(0, -1), /it has no part xl\/worksheets\/sheet0\.xml/],
    [
      '20,000 parts',
      [...Array(20_000).keys()].map((name) => ({ name: `${name}`, data: '' })),
      /it has 20,000 parts/,
    ],
  ])('ends in an error: %s', async (_name, content, message) => {
    const { exit, stderr } = await enrich(typeof content === 'string' ? one(content) : content);
    expect([exit, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('is reported if it is cut off', async () => {
    write('cut.xlsx', zip(one(HEADER)).subarray(0, -30));
    const { exit, stderr } = await lists.enrich('cut.xlsx');
    expect([exit, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: cut\.xlsx cannot be read: it is damaged or incomplete\n/),
    ]);
  });

  it('has at most 4 million shared texts', () => {
    const reader = new TextsReader();
    const addTexts = () => {
      for (let count = 0; count <= 4 * MIB; count += 1) reader.close('si', '');
    };
    expect(addTexts).toThrow('its texts are longer than 64 MiB');
  });

  it('is not read to its end after Ctrl-C', async () => {
    const path = write('stopped.xlsx', zip(one(`${HEADER}${textRow('Nopa', 'SF').repeat(200_000)}`)));
    const stop = new AbortController();
    const stdin = { chunks: () => [] } as never;
    const input = openInput(path, {
      stdin,
      cwd: () => '/',
      env: {},
      homedir: () => '/',
      platform: process.platform,
      signal: stop.signal,
    });
    const reading = readList(input, { format: undefined, delimiter: undefined });
    setTimeout(() => stop.abort(new Error('stopped')), 100);
    await expect(reading).rejects.toThrow('stopped');
    input.close();
  });

  it('is read soon if a format is endless: its numbers are plain', async () => {
    const row = '<row><c s="7"><v>5</v></c><c t="inlineStr"><is><t>Testville</t></is></c></row>';
    const parts = workbookParts({ One: HEADER + row }, { styles: ENDLESS_FORMAT });
    expect((await enrich(parts)).stdout).toContain('\n5,Testville,');
  });

  it('may have long cells and empty columns', async () => {
    const row = `<row><c r="A2" t="inlineStr"><is><t>${'a'.repeat(16_384)}</t></is></c><c r="XFD2"/></row>`;
    expect((await enrich(one(HEADER + row))).stdout).toContain('aaa,,skipped,');
  });
});
