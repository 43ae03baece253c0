import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeEach, describe, expect, it } from 'vitest';
import { tryLock } from '../../../src/storage/lock.ts';
import { splitWords } from '../../../src/util/shell.ts';
import { enrichInSandbox } from '../../helpers/enrich.ts';
import { type RunOptions, realSleep } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';
import { playWithService } from '../../helpers/session.ts';
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

/** Returns columns of a file as lines of TSV. */
function columns(folder: string, name = '', ...names: string[]): string {
  const delimiter = name.endsWith('.tsv') ? '\t' : ',';
  const rows = table(readFileSync(join(folder, name), 'utf8'), delimiter);
  const cells = rows.map((row) => names.map((each) => row[each] ?? row[`restaurant_${each}`]));
  return cells.map((row) => `${row.join('\t')}\n`).join('');
}

for (const { file, quota } of [
  { file: 'enrich.session', quota: UNPACED },
  { file: 'fed-back.session', quota: UNPACED },
  { file: 'dry-run.session', quota: {} },
]) {
  playWithService(join(import.meta.dirname, file), service, {
    env: () => ({ ...service.env, ...quota }),
    commands: { columns },
  });
}

describe('enrich', () => {
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

  it('rejects a list in an unknown encoding', async () => {
    file('cyrillic.csv', Buffer.from('name,city\nok,x\n\xcf\xf0\xe8\xe2,x\n', 'latin1'));
    expect((await enrich('cyrillic.csv')).stderr).toContain(
      'cyrillic.csv: line 3 is not UTF-8\nhint: restaurant enrich cyrillic.csv --encoding <encoding>\n',
    );
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
});

describe('the output file', () => {
  it('belongs to one process at a time', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\n');
    const lock = tryLock(file('out.csv'));
    const { exit, stderr } = await enrich('in.csv -o out.csv');
    lock.release();
    expect(exit).toBe(9);
    expect(stderr).toMatch(/^error: .*out\.csv is in use by process \d+/);
  });
});

describe('a list with rows that cannot be found', () => {
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

  it('prints the most frequent reason if every row failed', async () => {
    file('in.csv', 'name,city\nPlace 1,Testville\nPlace 2,Testville\n,Testville\n');
    const { stderr } = await enrichInSandbox(folder, '--retries 0', { faults: [{ kind: '500', rate: 1 }] });
    expect(stderr).toMatch(/\nerror: 2 of 3 rows failed: http_error: .*500/);
  });
});

describe('a list from Excel', () => {
  const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

  it.each([['Unicode text', utf16('Restaurant Name\tCity\r\nPlace 1\tTestville\r\n'), '\t', '\ufeff']])(
    'is read: %s',
    async (_name, content, delimiter, mark) => {
      file('in.csv', content);
      const { exit, stdout } = await enrich('in.csv');
      expect([exit, table(stdout, delimiter)[0]?.restaurant_id]).toEqual([0, 'id-1']);
      expect(stdout.startsWith(`${mark}Restaurant Name${delimiter}City`)).toBe(true);
    },
  );

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
});

describe('the report of a run', () => {
  beforeEach(() => {
    file('in.csv', 'name,city\nPlace 1,Testville\nTwin,Testville\n');
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
