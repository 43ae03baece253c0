import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeEach, describe, expect, it } from 'vitest';
import { tryLock } from '../../../src/storage/lock.ts';
import { splitWords } from '../../../src/util/shell.ts';
import { enrichInSandbox } from '../../helpers/enrich.ts';
import { type RunOptions, realSleep } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { restaurants, UNPACED } from '../../unit/enrich/service-data.ts';

const service = useService({ restaurants: restaurants(30) });
let folder = '';
beforeEach(() => {
  folder = tempFolder();
  service.sent();
});

const file = (name: string, text?: string | Uint8Array): string => {
  const path = join(folder, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
};
const read = (name: string): string => readFileSync(file(name), 'utf8');
const enrich = (words: string, options: RunOptions = {}) =>
  service.run(['enrich', ...words.split(' ')], {
    cwd: folder,
    ...options,
    env: { ...UNPACED, ...options.env },
  });

type Cells = Record<string, string>;
const table = (text: string, delimiter = ','): Cells[] =>
  parse(text, { columns: true, delimiter, bom: true });

describe('enrich', () => {
  it('writes the status of every row, in order', async () => {
    file(
      'in.csv',
      'nr,name,city\n1,place 3,Testville\n2,The Place 4!,testville\n3,Twin,Testville\n4,ubermut,Testville\n5,nothing,Testville\n6,,Testville\n7,Place 3,Elsewhere\n',
    );
    const { exit, stdout, stderr } = await enrich('in.csv -o out.csv');
    expect([exit, stdout]).toEqual([0, '']);
    const rows = table(read('out.csv'));
    const columns = ['nr', 'status', 'match', 'candidates', 'id', 'lng', 'cuisine_tags'];
    expect(rows.map((row) => columns.map((name) => row[name] ?? row[`restaurant_${name}`]))).toEqual(
      [
        ['1', 'matched', 'exact', '2', 'id-3', '-3', 'a; b'],
        ['2', 'matched', 'exact', '1', 'id-4', '-4', 'a; b'],
        ['3', 'ambiguous', 'best', '2', 'twin-1', '', ''],
        ['4', 'likely', 'only', '1', 'only', '', ''],
        ['5', 'not_found', '', '0', '', '', ''],
        ['6', 'skipped', '', '', '', '', ''],
        ['7', 'not_found', '', '0', '', '', ''],
      ].map((row) =>
        row[0] === '1' ? [...row.slice(0, 3), expect.stringMatching(/^\d+$/), ...row.slice(4)] : row,
      ),
    );
    expect(rows[5]?.restaurant_error).toBe('the name is empty');
    expect(service.sent()).toBe(6);
    expect(stderr).toContain(
      '7 rows in out.csv: 2 matched, 1 likely, 1 ambiguous, 2 not found, 1 skipped, 0 errors; 6 requests sent\n' +
        'likely rows were matched to a restaurant with another name: check them before you use them\n',
    );
  });

  it('keeps own columns unchanged and guards those of the service', async () => {
    const own = '"=1+1","@x ""y""\r\nz",\'-3, Testville,é🍕';
    file('in.csv', `name,note,n,city,x\n"=1+1","@x ""y""\r\nz",'-3, Testville,é🍕\n`);
    await enrich('in.csv -o out.csv');
    expect(read('out.csv').split('\n').slice(1, 3).join('\n').startsWith(own)).toBe(true);
    const [row] = table(read('out.csv'));
    expect(row).toMatchObject({
      name: '=1+1',
      note: '@x "y"\r\nz',
      restaurant_status: 'matched',
      restaurant_name: "'=1+1",
      restaurant_address: "'@SUM(A1)^[[31m",
      restaurant_grade: "'-A",
    });
    await enrich('in.csv -o raw.csv --raw-csv');
    expect(table(read('raw.csv'))[0]?.restaurant_name).toBe('=1+1');
  });

  it('keeps delimiter and byte order mark, and writes the format of the extension', async () => {
    file('in.csv', '\ufeffName;City;Note\r\nPlace 1;Testville;"a;b"\r\n');
    expect((await enrich('in.csv -o out.csv')).exit).toBe(0);
    expect(read('out.csv')).toMatch(/^\ufeffName;City;Note;restaurant_status;/);
    expect(table(read('out.csv'), ';')[0]).toMatchObject({ Note: 'a;b', restaurant_id: 'id-1' });
    await enrich('in.csv -o out.tsv');
    expect(table(read('out.tsv'), '\t')[0]).toMatchObject({ Name: 'Place 1', restaurant_id: 'id-1' });
    await enrich('in.csv -o out.ndjson');
    expect(JSON.parse(read('out.ndjson'))).toMatchObject({
      Name: 'Place 1',
      Note: 'a;b',
      restaurant: { status: 'matched', lat: 1.5, lng: -1, cuisine_tags: ['a', 'b'] },
    });
  });

  it.each([
    ['Windows-1252', 'latin1', '--encoding windows-1252', '\r\n'],
    ['UTF-8', 'utf8', '--encoding utf-8', '\n'],
    ['a Macintosh', 'utf8', '', '\r'],
  ] as const)('keeps your columns of %s byte for byte', async (name, encoding, option, end) => {
    const lines = [
      'Name;"City";Umsatz',
      'Bäckerei;Testville;719.348,65',
      '"Place 1" ;Testville;"1"',
      'Place 1;Testville;"a\r\nb"',
      '5" x 3";Testville;""',
      'Place 2;Testville',
    ];
    file('in.csv', Buffer.from(lines.join(end), encoding));
    const args = ['in.csv -o out.csv', option].filter(Boolean).join(' ');
    expect((await enrich(args)).exit).toBe(0);
    const written = read('out.csv');
    expect(written.startsWith('\ufeff')).toBe(name === 'Windows-1252');
    const own = written
      .replace('\ufeff', '')
      .replace(/;+(?:restaurant_status|matched|not_found);.*?(?=\r?\n|\r|$)/g, '');
    expect(own).toBe(lines.join(end) + end);
    // A run that continues compares the rows byte for byte.
    writeFileSync(file('out.csv'), Buffer.from(written).subarray(0, -100));
    expect((await enrich(`${args} --resume`)).exit).toBe(0);
    expect(read('out.csv')).toBe(written);
  });

  it('writes tabs only as TSV, or as received to stdout', async () => {
    file('export.txt', 'name\tcity\nPlace 1\tTestville\n');
    for (const format of ['', ' --format csv']) {
      await enrich(`export.txt -o out.csv --force${format}`);
      expect(read('out.csv')).toMatch(/^name,city,restaurant_status,.*\nPlace 1,Testville,matched,/);
    }
    expect((await enrich('export.txt --format csv')).stdout).toMatch(/^name,city,/);
    expect((await enrich('export.txt')).stdout).toMatch(/^name\tcity\trestaurant_status\t/);
    file('pipes.csv', 'name|city\nPlace 1|Testville\n');
    expect((await enrich('pipes.csv')).stdout).toMatch(/^name\|city\|.*\nPlace 1\|Testville\|matched\|/);
  });

  it('keeps NDJSON as received, and writes it as CSV', async () => {
    file(
      'in.ndjson',
      '{"name":"Place 1","city":"Testville","n":12345678901234567890}\n\n{"name":"x","city":"Testville","more":{"a":[1,2]}}\n',
    );
    expect((await enrich('in.ndjson -o out.ndjson --prefix found_')).exit).toBe(0);
    const [first = ''] = read('out.ndjson').split('\n');
    expect(first).toMatch(
      /^\{"name":"Place 1","city":"Testville","n":12345678901234567890,"found":\{"status":"matched"/,
    );
    await enrich('in.ndjson -o out.csv');
    expect(table(read('out.csv')).map((row) => [row.name, row['more.a'], row.restaurant_status])).toEqual([
      ['Place 1', '', 'matched'],
      ['x', '1; 2', 'not_found'],
    ]);
  });

  it('keeps every column of an unusual header', async () => {
    file('in.csv', 'name,city,name,__proto__,,\nPlace 1,Testville,b,c,d,e\nPlace 2,Testville\n');
    expect((await enrich('in.csv -o out.csv')).exit).toBe(0);
    const [header, first, second] = parse(read('out.csv')) as string[][];
    expect(header?.slice(0, 7)).toEqual(['name', 'city', 'name', '__proto__', '', '', 'restaurant_status']);
    expect(first?.slice(0, 7)).toEqual(['Place 1', 'Testville', 'b', 'c', 'd', 'e', 'matched']);
    expect(second?.slice(0, 7)).toEqual(['Place 2', 'Testville', '', '', '', '', 'matched']);
    expect((await enrich('in.csv -o out.ndjson')).stderr).toContain("the list has two columns 'name'");
  });

  it('reads any list from stdin and writes to stdout', async () => {
    const csv = await enrich('-', { stdin: 'name\tcity\nPlace 1\tTestville\n' });
    expect(csv.stdout).toMatch(/^name\tcity\trestaurant_status\t[^\n]*\nPlace 1\tTestville\tmatched\t/);
    const json = await enrich('- -o -', { stdin: '{"title":"Place 1","town":"Testville"}\n' });
    expect(JSON.parse(json.stdout)).toMatchObject({ restaurant: { id: 'id-1' } });
    const nested = await enrich('- --format ndjson', { stdin: 'name,city\nPlace 1,Testville\n' });
    expect(JSON.parse(nested.stdout)).toMatchObject({ name: 'Place 1', restaurant: { id: 'id-1' } });
    expect((await enrich('- --city Testville --quiet', { stdin: 'name\nPlace 1\n' })).stderr).toBe('');
  });

  it('looks ids up without a search', async () => {
    file('in.csv', 'service_id,name,city\nid-3,,\nid-99,,\n,Place 4,Testville\nid-3,,\n');
    const { exit } = await enrich('in.csv -o out.csv --add level=price_level');
    expect(exit).toBe(0);
    expect(
      table(read('out.csv')).map((row) => [row.restaurant_status, row.restaurant_id, row.restaurant_name]),
    ).toEqual([
      ['matched', 'id-3', 'Place 3.'],
      ['not_found', '', ''],
      ['matched', 'id-4', 'Place 4.'],
      ['matched', 'id-3', 'Place 3.'],
    ]);
    expect(table(read('out.csv'))[0]?.level).toMatch(/^\$+$/);
    expect(service.sent()).toBe(4);
  });

  it('sends equal queries, and requests the details of a restaurant, once', async () => {
    file('in.csv', `name,city\n${'Place 1,Testville\nPLACE 1,Testville\nplace 2,Testville\n'.repeat(40)}`);
    await enrich('in.csv -o out.csv --fields standard --add seats=seating.indoor');
    expect(service.sent()).toBe(5);
    const rows = table(read('out.csv'));
    expect(rows).toHaveLength(120);
    expect(new Set(rows.map((row) => row.seats)).size).toBe(2);
    expect(JSON.parse(rows[119]?.restaurant_details ?? '')).toMatchObject({ service_id: 'id-2' });
    await enrich('in.csv --fields standard');
    expect(service.sent()).toBe(5);
  });

  it('rejects a list with malformed rows before the first request', async () => {
    file('in.csv', 'name,city\na,b,c\nok,x\n"a,b\n');
    const { exit, stderr, stdout } = await enrich('in.csv -o out.csv');
    expect([exit, stdout, service.sent()]).toEqual([2, '', 0]);
    expect(stderr).toMatch(
      /^error: in\.csv: line 2 has 3 fields, the header has 2; line 4 opens a quote that is never closed\n/,
    );
    expect(existsSync(file('out.csv'))).toBe(false);
    file('in.ndjson', '{"name":"a"}\n[1]\n');
    expect((await enrich('in.ndjson --city x')).stderr).toContain('in.ndjson: line 2 is not a JSON object');
    file('cyrillic.csv', Buffer.from('name,city\nok,x\n\xcf\xf0\xe8\xe2,x\n', 'latin1'));
    expect((await enrich('cyrillic.csv')).stderr).toContain(
      'cyrillic.csv: line 3 is not UTF-8\nhint: restaurant enrich cyrillic.csv --encoding <encoding>\n',
    );
    file('many.csv', `name,city\n${'a,b,c\n'.repeat(100)}`);
    expect((await enrich('many.csv')).stderr).toMatch(/also lines 5, 6, .*100 in all/);
    expect(service.sent()).toBe(0);
  });

  it('stops at a malformed row of stdin, after the rows before it', async () => {
    const { exit, stderr } = await enrich('- -o out.csv', {
      stdin: 'name,city\nPlace 1,Testville\na,b,c\nPlace 2,Testville\n',
    });
    expect(exit).toBe(2);
    expect(stderr).toContain('error: stdin: line 3 has 3 fields');
    expect(table(read('out.csv')).map((row) => row.name)).toEqual(['Place 1']);
  });

  it.each([
    ['in.csv', '', /in\.csv has no header row/],
    ['in.csv', 'a,b\n1,2\n', /no column for the name/],
    ['in.csv', 'name\nx\n', /no column for the city/],
    ['in.csv', 'name,city,restaurant_name\nx,y,\n', /the list already has a column 'restaurant_name'/],
  ])('rejects %s with %j', async (name, text, message) => {
    file(name, text);
    const { exit, stderr } = await enrich(name);
    expect(exit).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/hint: .*/);
  });

  it('writes the header of an empty list', async () => {
    file('in.csv', 'name,city\n');
    expect((await enrich('in.csv -o out.csv')).exit).toBe(0);
    expect(read('out.csv').split('\n')).toHaveLength(2);
    file('in.ndjson', '');
    expect(await enrich('in.ndjson')).toMatchObject({ exit: 0, stdout: '' });
  });

  it('uses the default city if the list has no column for it', async () => {
    file('in.csv', 'name\nPlace 1\n');
    const { exit, stdout } = await enrich('in.csv', { env: { RESTAURANT_CITY: 'Testville' } });
    expect([exit, table(stdout)[0]?.restaurant_id]).toEqual([0, 'id-1']);
  });

  it.each([
    ['in.csv --resume', '--resume needs the output file'],
    ['in.csv -o out.csv --resume --force', '--resume and --force'],
    ['in.csv -o out.csv --retry-errors', '--retry-errors needs --resume'],
    ['in.csv --columns name', 'does not accept --columns'],
    ['in.csv --curl', 'does not accept --curl'],
    ['in.csv --format geojson', '--format geojson'],
    ['in.csv --json', '--json prints the summary'],
    ['in.csv --progress json --quiet', '--progress and --quiet'],
    ['in.csv --add phone', "--add 'phone'"],
    ['in.csv -o json', "expects a file, got the format 'json'"],
    ['in.csv -o out.pdf', "unknown file extension '.pdf' in out.pdf"],
    ['in.csv --delimiter :', '--delimiter'],
    ['in.csv --concurrency 0', '--concurrency'],
    ['in.csv --fields all', '--fields'],
    ['none.csv', 'no such file'],
    ['.', 'is a folder'],
  ])('rejects %s', async (words, message) => {
    file('in.csv', 'name,city\nPlace 1,Testville\n');
    const { exit, stdout, stderr } = await enrich(words);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(service.sent()).toBe(0);
  });
});

describe('the command in a hint', () => {
  beforeEach(() => {
    file('in.csv', 'name,city\nPlace 1,Testville\n');
    file('venues.csv', 'Der Name,Ort\nPlace 1,Testville\n');
    file('clash.csv', 'name,city,xid\nPlace 1,Testville,2\n');
  });
  const enrichWords = (words: readonly string[]) =>
    service.run(['enrich', ...words], { cwd: folder, env: UNPACED });

  it.each<[string[], string]>([
    [
      ['venues.csv', '-q', '--city', "L'Aquila", '--name-column', 'Der Nam'],
      "venues.csv --quiet --city 'L'\\''Aquila' --name-column 'Der Name'",
    ],
    [['--encoding', 'latin', 'in.csv', '--wait'], 'in.csv --wait --encoding windows-1252'],
    [['in.csv', '--resume', '-o-'], 'in.csv -o out.csv --resume'],
    [['in.csv', '-o', 'a.csv', '--retry-errors'], 'in.csv -o a.csv --resume --retry-errors'],
    [['in.csv', '-qj'], 'in.csv --quiet --json -o out.csv'],
    [['-oa.csv', '--prefix', 'x', '--', 'clash.csv'], 'clash.csv -o a.csv --prefix found_'],
    [['in.csv', '-o', 'a.html', '--force'], 'in.csv --force -o out.ndjson'],
    [['in.csv', '-o', 'in.csv'], 'in.csv -o in-enriched.csv'],
    [['in.csv', '--format', 'html'], 'in.csv --format csv -o out.csv --report out.html'],
    [['in.csv', '--output', '', '--first=1'], 'in.csv --first 1 -o out.csv'],
    [['in.csv', '--progress', 'json', '--resume'], 'in.csv --progress json -o out.csv --resume'],
  ])('works as printed: after %j', async (words, expected) => {
    const { exit, stderr } = await enrichWords(words);
    const [, command = ''] = /restaurant enrich (?!--help)(.*?)(?:; |, or|"|\n)/.exec(stderr) ?? [];
    expect([exit, command]).toEqual([2, expected]);
    expect((await enrichWords(splitWords(command) ?? [])).exit).toBe(0);
  });

  it('repeats the words of another command, unless they caused the error', async () => {
    const hintAfter = async (...words: string[]) =>
      (await service.run(words)).stderr.trimEnd().split('hint: ')[1];
    expect(await hintAfter('find', 'Casa', '--city', 'New York', '--jq', '.a[')).toMatch(
      /^for example: restaurant find Casa --city 'New York' --jq '\.results\[\]\.name'; /,
    );
    expect(await hintAfter('find', 'Casa', '--resume')).toBe(
      '--resume is an option of enrich; for help: restaurant find --help',
    );
  });

  it('keeps a placeholder', async () => {
    const { stderr } = await enrich('venues.csv --name-column x --city-column=Ort');
    expect(stderr).toMatch(
      /\nhint: restaurant enrich venues\.csv --city-column Ort --name-column <column>\n$/,
    );
  });

  it.each([
    ['-H X-Key:1234567', `--header "X-Key:\${X_KEY}"`],
    ['--shared-state redis://:secret@host', `--shared-state "redis://\${CREDENTIALS}@host"`],
  ])('has a variable for a secret: %s', async (words, shown) => {
    const { exit, stderr } = await enrich(`in.csv --resume ${words}`);
    expect([exit, stderr]).toEqual([
      2,
      expect.stringContaining(`\nhint: restaurant enrich in.csv ${shown} -o out.csv --resume\n`),
    ]);
  });

  it('does not repeat a line with a word that looks like a key', async () => {
    const { stderr } = await enrich('in.csv --resume --city sk_service_abcdefghijkl');
    expect(stderr).toMatch(/\nhint: restaurant enrich in\.csv --city <…> -o out\.csv --resume\n$/);
  });
});

describe('the output file', () => {
  beforeEach(() => {
    file('in.csv', 'name,city\nPlace 1,Testville\n');
  });

  it('is not overwritten without --force', async () => {
    file('out.csv', 'precious');
    const { exit, stderr } = await enrich('in.csv -o out.csv');
    expect([exit, read('out.csv'), service.sent()]).toEqual([2, 'precious', 0]);
    expect(stderr).toMatch(/out\.csv exists\nhint: (?!.*--resume).*--force/);
    expect((await enrich('in.csv -o out.csv --force')).exit).toBe(0);
    expect(table(read('out.csv'))).toHaveLength(1);
    for (const [options, isAccepted] of [
      ['', true],
      [' --loose', false],
      [' --no-details', false],
    ] as const) {
      const again = await enrich(`in.csv -o out.csv${options}`);
      expect([again.exit, again.stderr.includes('--resume')]).toEqual([2, isAccepted]);
    }
    file('in.csv', 'name,city\nPlace 2,Testville\n');
    expect((await enrich('in.csv -o out.csv')).stderr).not.toContain('--resume');
    expect(existsSync(file('out.csv.lock'))).toBe(false);
  });

  it('cannot be the input', async () => {
    symlinkSync(file('in.csv'), file('link.csv'));
    for (const name of ['in.csv', 'link.csv']) {
      const { exit, stderr } = await enrich(`in.csv -o ${name} --force`);
      expect(exit).toBe(2);
      expect(stderr).toContain('is the input itself');
    }
    expect(read('in.csv')).toBe('name,city\nPlace 1,Testville\n');
  });

  it('belongs to one process at a time', async () => {
    const lock = tryLock(file('out.csv'));
    const { exit, stderr } = await enrich('in.csv -o out.csv');
    lock.release();
    expect(exit).toBe(9);
    expect(stderr).toMatch(/^error: .*out\.csv is in use by process \d+/);
  });

  it('reports why it cannot be written', async () => {
    mkdirSync(file('folder'));
    for (const path of ['folder', 'none/out.csv', '/dev/full']) {
      const { exit, stderr } = await enrich(`in.csv -o ${path}`);
      expect([path, exit]).toEqual([path, 9]);
      expect(stderr).toMatch(/^error: .*(is a folder|the folder .*none does not exist|the disk is full)/m);
    }
  });

  it('requires an existing folder, also behind a link', async () => {
    symlinkSync(file('none/out.csv'), file('link.csv'));
    for (const more of ['', ' --dry-run']) {
      const { exit, stderr } = await enrich(`in.csv -o link.csv${more}`);
      expect([exit, stderr]).toEqual([
        9,
        expect.stringMatching(
          /^error: cannot write link\.csv: the folder .*none does not exist\nhint: mkdir -p .*none\n$/,
        ),
      ]);
    }
  });

  it('may be a device', async () => {
    expect((await enrich('in.csv -o /dev/null')).exit).toBe(0);
    expect((await enrich('in.csv -o /dev/null --resume')).exit).toBe(2);
    expect(existsSync('/dev/null.lock')).toBe(false);
  });

  it('is not created without a key and a service', async () => {
    file('out.csv', 'precious');
    const { exit } = await enrich('in.csv -o out.csv --force', { env: { RESTAURANT_API_KEY: '' } });
    expect([exit, read('out.csv')]).toEqual([4, 'precious']);
  });
});

describe('a list with rows that cannot be found', () => {
  it('skips rows with nothing to search by, without failing', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\n,Testville\nPlace 2,\n');
    const { exit, stdout } = await enrich('in.csv -o out.csv --json');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ matched: 1, skipped: 2, errors: 0, next: null });
    service.sent();
    const again = await enrich('in.csv -o out.csv --resume --retry-errors --json');
    expect([again.exit, service.sent()]).toEqual([0, 0]);
  });

  it('names the cities of which no row was found', async () => {
    const inCity = (city: string, count: number) =>
      Array.from({ length: count }, (_each, index) => `x${index},"${city}"\n`).join('');
    const cities = ['A', 'B', 'C', 'D', 'E', 'F'].map((city) => inCity(city, 5)).join('');
    file('in.csv', `name,city\n${inCity('Paris (75)', 6)}${cities}Place 1,Testville\n${inCity('Rome', 4)}`);
    const { stdout, stderr } = await enrich('in.csv -o out.csv');
    expect([stdout, stderr]).toEqual([
      '',
      expect.stringContaining("\nno matches for the 6 rows in 'Paris (75)'; check the city name\n"),
    ]);
    expect(stderr).toMatch(/\nand no matches in 2 more cities\n$/);
    expect(stderr).not.toContain('Rome');
    const json = await enrich('in.csv -o other.csv --json');
    expect(JSON.parse(json.stdout).unknown_cities).toHaveLength(7);
    expect(JSON.parse(json.stdout).unknown_cities[0]).toEqual({ city: 'Paris (75)', rows: 6 });
  });

  it('searches without the blanks around a cell, and keeps them in the output', async () => {
    file('in.csv', 'name,city\nPlace 1, Testville\n Place 1,Testville \n');
    await enrich('in.csv -o out.csv');
    expect(service.sent()).toBe(1);
    expect(read('out.csv')).toMatch(/\nPlace 1, Testville,matched,.*\n Place 1,Testville ,matched,/);
  });

  it('is refused before a request for an unknown format of the rows', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\n');
    const { exit, stderr } = await enrich('in.csv -o out.csv --format yaml');
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toMatch(/^error: .*yaml.*\nhint: restaurant enrich in\.csv .*--format csv/);
  });

  it('reports a path of --add that no response has', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\n');
    const { stderr, exit } = await enrich('in.csv -o out.csv --add x=fax --add g=grade');
    expect([exit, stderr]).toEqual([
      0,
      expect.stringContaining("no response has 'fax' (--add): check the path\n"),
    ]);
    expect(stderr).not.toContain("'grade'");
  });

  it('processes the first rows with --first, and the others with --resume', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\nPlace 2,Testville\nPlace 3,Testville\n');
    await enrich('in.csv -o whole.csv');
    service.sent();
    const first = await enrich('in.csv -o out.csv --first 2');
    expect([service.sent(), first.stderr]).toEqual([2, expect.stringMatching(/^2 rows in out\.csv/)]);
    await enrich('in.csv -o out.csv --resume');
    expect(service.sent()).toBe(1);
    expect(read('out.csv')).toBe(read('whole.csv'));
  });

  it('leaves the details out with --no-details', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\n');
    const { stdout } = await enrich('in.csv --add g=grade --no-details');
    expect(stdout.split('\n')[0]).toMatch(
      /restaurant_coverage_level,restaurant_error,restaurant_similarity,restaurant_distance_m,g$/,
    );
    expect(table(stdout)[0]).toMatchObject({ g: 'A', restaurant_status: 'matched' });
  });

  it('searches again with --loose, which --dry-run counts', async () => {
    file(
      'in.csv',
      'name,city\nPlace 1 Restaurant,Testville\nPlace 2 (closed?),Testville\nnothing,Testville\n',
    );
    const plain = await enrich('in.csv');
    expect(table(plain.stdout).map((row) => row.restaurant_status)).toEqual(Array(3).fill('not_found'));
    const cost = JSON.parse((await enrich('in.csv --loose --dry-run --json')).stdout);
    expect(cost).toMatchObject({ requests: 3, requests_at_most: 5 });
    service.sent();
    const { stdout } = await enrich('in.csv --loose --max-age 0');
    expect(table(stdout).map((row) => [row.restaurant_status, row.restaurant_match])).toEqual([
      ['likely', 'loose'],
      ['likely', 'loose'],
      ['not_found', ''],
    ]);
    expect(service.sent()).toBe(5);
  });

  it('uses coordinates, and asks once for equal names at several places', async () => {
    const rows = ['Place 7,Testville,"1,5",-7', 'Place 7,Testville,-7,1.5', 'Place 7,Testville,3,-7'];
    file('in.csv', `name,city,Lat,Lng\n${rows.join('\n')}\n`);
    const { stdout } = await enrich('in.csv --max-age 0');
    const columns = ['status', 'match', 'distance_m'].map((each) => `restaurant_${each}`);
    expect(table(stdout).map((row) => columns.map((each) => row[each]))).toEqual([
      ['matched', 'place', '0'],
      ['matched', 'place', '0'],
      ['likely', 'far', '166792'],
    ]);
    expect(service.sent()).toBe(1);
    const cost = await enrich('in.csv --fields basic --dry-run --json');
    expect(JSON.parse(cost.stdout)).toMatchObject({ requests: 1, requests_at_most: 4 });
  });

  it('offers --loose, with its cost, if rows were not found', async () => {
    file('in.csv', 'name,city\nPlace 1 Restaurant,Testville\nPlace 2 (new),Testville\nnothing,Testville\n');
    const offer =
      '--loose searches again for rows that were not found, by simplified names: 2 more requests at most\n';
    expect((await enrich('in.csv -o out.csv')).stderr).toContain(offer);
    expect((await enrich('in.csv -o loose.csv --loose')).stderr).not.toContain('--loose');
    expect(JSON.parse((await enrich('in.csv -o json.csv --json')).stdout).loose_requests).toBe(2);
  });

  it('prints the most frequent reason if every row failed', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\nPlace 2,Testville\n,Testville\n');
    const { stderr } = await enrichInSandbox(folder, '--retries 0', { faults: [{ kind: '500', rate: 1 }] });
    expect(stderr).toMatch(/\nerror: 2 of 3 rows failed: http_error: .*500/);
  });

  it('counts cached responses if --resume is refused', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\nPlace 2,Testville\n');
    const env = { RESTAURANT_MAX_AGE: '10m', RESTAURANT_CACHE_DIR: file('cache') };
    await enrich('in.csv -o out.csv', { env });
    file('in.csv', 'name,city\nPlace 1,Testville\nPlace 3,Testville\n');
    const { exit, stderr } = await enrich('in.csv -o out.csv --resume', { env });
    expect([exit, stderr]).toEqual([
      2,
      expect.stringMatching(
        /or start again \(1 response cached, 1 request to send\): restaurant enrich .*--force\n$/,
      ),
    ]);
  });

  it('fills blank cities with --city', async () => {
    file('in.csv', 'name,city\nPlace 1,\nPlace 2,Elsewhere\n');
    const { stdout } = await enrich('in.csv --city Testville');
    expect(table(stdout).map((row) => row.restaurant_status)).toEqual(['matched', 'not_found']);
  });
});

describe('a list from Excel', () => {
  const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

  it.each([
    ['sep=;', 'sep=;\r\nRestaurant Name;City\r\nPlace 1;Testville\r\n', ';', ''],
    ['Unicode text', utf16('Restaurant Name\tCity\r\nPlace 1\tTestville\r\n'), '\t', '\ufeff'],
  ])('is read: %s', async (_name, content, delimiter, mark) => {
    file('in.csv', content);
    const { exit, stdout } = await enrich('in.csv');
    expect([exit, table(stdout, delimiter)[0]?.restaurant_id]).toEqual([0, 'id-1']);
    expect(stdout.startsWith(`${mark}Restaurant Name${delimiter}City`)).toBe(true);
  });

  it.each([
    ['windows-1252', 'latin1'],
    ['utf-16le', 'utf16le'],
  ] as const)('in %s is read, and a warning says so', async (label, encoding) => {
    file('in.csv', Buffer.from('name,city\nCaf\xe9,Testville\n', encoding));
    const { exit, stderr } = await enrich('in.csv -o out.csv --city SF');
    expect([exit, stderr]).toEqual([
      0,
      expect.stringContaining(
        `warning: in.csv is not UTF-8; reading it as ${label} (--encoding changes that)\n`,
      ),
    ]);
    expect(read('out.csv')).toMatch(/^\ufeffname,city,.*\nCafé,Testville,/);
    expect((await enrich(`in.csv -o out.csv --force --encoding ${label}`)).stderr).not.toContain('UTF-8');
    expect((await enrich('in.csv --encoding klingon')).stderr).toContain("--encoding 'klingon': unknown");
  });

  it('on stdin is rejected if it is in Windows-1252, with the command that reads it', async () => {
    const stdin = Buffer.from('name,city\nCaf\xe9,Testville\n', 'latin1');
    expect(await enrich('- -o out.csv', { stdin })).toMatchObject({
      exit: 2,
      stderr:
        'error: stdin: line 2 is not UTF-8; it is probably windows-1252\n' +
        'hint: restaurant enrich - -o out.csv --encoding windows-1252\n',
    });
  });

  it('may have titles above its header', async () => {
    file('in.csv', 'Kundenliste Stand 01.11.2026;;\r\n;;\r\nKd.-Nr.;Lokal;Ort\r\n7;Place 1;Testville\r\n');
    const { exit, stdout } = await enrich('in.csv');
    expect([exit, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Kd\.-Nr\.;Lokal;Ort;restaurant_status;.*\r\n7;Place 1;Testville;matched;.*\r\n$/,
      ),
    ]);
    file('in.csv', 'Kundenliste;Stand 01.11.2026\nLokal;Ort\nPlace 1;Testville\n');
    expect((await enrich('in.csv')).stderr).toMatch(
      /no column for the name and the city: none is called 'name' or 'city'; the list has 'Kundenliste', 'Stand 01\.11\.2026'\nhint: line 2 looks like the header: restaurant enrich in\.csv --header-line 2\n/,
    );
    expect((await enrich('in.csv --header-line 2')).stdout).toMatch(
      /^Lokal;Ort;.*\nPlace 1;Testville;matched;/,
    );
    expect(await enrich('in.csv --header-line 9')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('in.csv has no line 9 (--header-line)'),
    });
    file('in.csv', 'Stand 2026\nWirtschaft;Stadtteil\nPlace 1;Testville\n');
    const named = await enrich('in.csv --name-column Wirtschaft --city-column Stadtteil');
    expect(named.stdout).toMatch(/^Wirtschaft;Stadtteil;/);
  });
});

describe('the report of a run', () => {
  beforeEach(() => {
    file('in.csv', 'name,city\nPlace 1,Testville\nTwin,Testville\n');
  });

  it('is the summary as JSON on stdout with --json', async () => {
    const { exit, stdout, stderr } = await enrich('in.csv -o out.csv --json');
    expect([exit, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      rows: 2,
      done: 2,
      earlier: 0,
      matched: 1,
      likely: 0,
      ambiguous: 1,
      not_found: 0,
      skipped: 0,
      errors: 0,
      unknown_cities: [],
      missing_paths: [],
      loose_requests: 0,
      requests: 2,
      finished: true,
      output: 'out.csv',
      report: null,
      exports: [],
      next: null,
    });
  });

  it('is only JSON lines with --progress json, also when the run fails', async () => {
    const good = await enrich('in.csv -o out.csv --progress json');
    const events = good.stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ event }) => event)).toEqual(['start', 'summary']);
    expect(events[1]).toMatchObject({ rows: 2, matched: 1, ambiguous: 1, requests: 2, output: 'out.csv' });
    const bad = await enrich('in.csv -o out.csv --progress json');
    expect(bad.exit).toBe(2);
    expect(JSON.parse(bad.stderr)).toMatchObject({ error: { code: 'usage' } });
  });

  it('is a bar on a terminal, which is erased at the end', async () => {
    const { stderr } = await enrich('in.csv -o out.csv', { tty: { stderr: true }, sleep: realSleep });
    expect(stderr).toContain('2 rows in out.csv: 1 matched, 1 ambiguous');
    // Overwritten text is not visible.
    expect(stderr.replace(/\r[^\r\n]*(?=\r)/g, '')).not.toContain('[');
    expect(stderr).not.toContain('\u001b');
  });

  it('never contains the key', async () => {
    const { stderr, stdout } = await enrich('in.csv --verbose --fields premium');
    expect(stderr).toContain('> POST');
    expect(stderr + stdout).not.toContain('sk_service_demo_paid');
  });
});
