import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { splitWords } from '../../../src/util/shell.ts';
import { columns, enrichInSandbox, UNPACED, useLists } from '../../helpers/enrich.ts';
import { realSleep } from '../../helpers/program.ts';
import { playWithService } from '../../helpers/session.ts';

const { service, path, read, write, enrich } = useLists();

for (const { file, quota } of [
  { file: 'enrich.session', quota: UNPACED },
  { file: 'earlier-results.session', quota: UNPACED },
  { file: 'answers.session', quota: UNPACED },
  { file: 'dry-run.session', quota: {} },
]) {
  playWithService(join(import.meta.dirname, file), service, {
    env: () => ({ ...service.env, ...quota }),
    commands: { columns },
  });
}

it.each([
  ['Windows-1252', 'latin1', '--encoding windows-1252', '\r\n'],
  ['UTF-8', 'utf8', '--encoding utf-8', '\n'],
  ['a Macintosh', 'utf8', '', '\r'],
] as const)('enrich keeps your columns of %s byte for byte', async (name, encoding, option, end) => {
  const lines = [
    'Name;"City";Umsatz',
    'Bäckerei;Testville;719.348,65',
    '"Place 1" ;Testville;"1"',
    'Place 1;Testville;"a\r\nb"',
    '5" x 3";Testville;""',
    'Place 2;Testville',
  ];
  write('in.csv', Buffer.from(lines.join(end), encoding));
  const args = ['in.csv -o out.csv', option].filter(Boolean).join(' ');
  expect((await enrich(args)).exit).toBe(0);
  const written = read('out.csv');
  expect(written.startsWith('\ufeff')).toBe(name === 'Windows-1252');
  const own = written
    .replace('\ufeff', '')
    .replace(/;+(?:restaurant_status|matched|not_found);.*?(?=\r?\n|\r|$)/g, '');
  expect(own).toBe(lines.join(end) + end);
  service.sent();
  expect((await enrich(args)).exit).toBe(0);
  expect([read('out.csv'), service.sent()]).toEqual([written, 0]);
});

describe('the command in a hint', () => {
  beforeEach(() => {
    write('in.csv', 'name,city\nPlace 1,Testville\n');
    write('venues.csv', 'Der Name,Ort\nPlace 1,Testville\n');
    write('clash.csv', 'name,city,xid\nPlace 1,Testville,2\n');
  });
  it.each<[string[], string]>([
    [
      ['venues.csv', '-q', '--city', "L'Aquila", '--name-column', 'Der Nam'],
      "venues.csv --quiet --city 'L'\\''Aquila' --name-column 'Der Name'",
    ],
    [['--encoding', 'latin', 'in.csv', '--wait'], 'in.csv --wait --encoding windows-1252'],
    [['in.csv', '--json', '-o-'], 'in.csv --json -o out.csv'],
    [['in.csv', '-qj'], 'in.csv --quiet --json -o out.csv'],
    [['-oa.csv', '--prefix', 'x', '--', 'clash.csv'], 'clash.csv -o a.csv --prefix found_'],
    [['in.csv', '-o', 'a.htlm', '--force'], 'in.csv --force -o a.html'],
    [['in.csv', '-o', 'in.csv'], 'in.csv -o in-enriched.csv'],
    [['in.csv', '--format', 'html'], 'in.csv -o out.html'],
    [['in.csv', '--output', '', '--first=1'], 'in.csv --first 1 -o out.csv'],
  ])('works as printed: after %j', async (words, expected) => {
    const { exit, stderr } = await enrich(words);
    const [, command = ''] = /restaurant enrich (?!--help)(.*?)(?:; |, or|"|\n)/.exec(stderr) ?? [];
    expect([exit, command]).toEqual([2, expected]);
    expect((await enrich(splitWords(command) ?? [])).exit).toBe(0);
  });
});

describe('a list with rows that cannot be found', () => {
  it('names the cities of which no row was found', async () => {
    const inCity = (city: string, count: number) =>
      Array.from({ length: count }, (_each, index) => `x${index},"${city}"\n`).join('');
    const cities = ['A', 'B', 'C', 'D', 'E', 'F'].map((city) => inCity(city, 5)).join('');
    write('in.csv', `name,city\n${inCity('Paris (75)', 6)}${cities}Place 1,Testville\n${inCity('Rome', 4)}`);
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
    write('in.csv', 'name,city\nPlace 1,Testville\nPlace 2,Testville\n,Testville\n');
    const { stderr } = await enrichInSandbox(path(''), '--retries 0', { faults: [{ kind: '500', rate: 1 }] });
    expect(stderr).toMatch(/\nerror: 2 of 3 rows failed: http_error: .*500/);
  });
});

describe('a list in another encoding', () => {
  it.each([
    ['windows-1252', Buffer.from('name,city\nCaf\xe9,Testville\n', 'latin1')],
    ['utf-16le', Buffer.from('name,city\nCaf\xe9,Testville\n', 'utf16le')],
  ] as const)('is read as %s, and a warning says so', async (label, content) => {
    write('in.csv', content);
    const { exit, stderr } = await enrich('in.csv -o out.csv --city SF');
    expect([exit, stderr]).toEqual([
      0,
      expect.stringContaining(
        `warning: in.csv is not UTF-8; reading it as ${label} (--encoding changes that)\n`,
      ),
    ]);
    expect(read('out.csv')).toMatch(/^\ufeffname,city,.*\nCafé,Testville,/);
    // A review reads it in the same way, and has no --encoding.
    const review = await service.run(['review', 'out.csv', '--json'], { cwd: path('') });
    expect([review.exit, review.stderr]).toEqual([0, '']);
    expect((await enrich(`in.csv -o out.csv --force --encoding ${label}`)).stderr).not.toContain('UTF-8');
    expect((await enrich('in.csv --encoding klingon')).stderr).toContain("--encoding 'klingon': unknown");
  });

  it('is rejected if that is unknown, and in a stream, with the option that names it', async () => {
    write('cyrillic.csv', Buffer.from('name,city\nok,x\n\xcf\xf0\xe8\xe2,x\n', 'latin1'));
    expect((await enrich('cyrillic.csv')).stderr).toContain(
      'cyrillic.csv: line 3 is not UTF-8\nhint: restaurant enrich cyrillic.csv --encoding <encoding>\n',
    );
    const stdin = Buffer.from('name,city\nCaf\xe9,Testville\n', 'latin1');
    expect(await enrich('-', { stdin })).toMatchObject({
      exit: 2,
      stderr:
        'error: stdin: line 2 is not UTF-8; it is probably windows-1252\n' +
        'hint: restaurant enrich - --encoding windows-1252\n',
    });
  });
});

it('shows a bar on a terminal, which is erased at the end', async () => {
  write('in.csv', 'name,city\nPlace 1,Testville\nTwin,Testville\n');
  const { stderr } = await enrich('in.csv -o out.csv', { tty: { stderr: true }, sleep: realSleep });
  expect(stderr).toContain('2 rows in out.csv: 1 matched, 1 ambiguous');
  // Overwritten text is not visible.
  expect(stderr.replace(/\r[^\r\n]*(?=\r)/g, '')).not.toContain('[');
  expect(stderr).not.toContain('\u001b');
});

it('names the first ten skipped rows in a dry run, however many there are', async () => {
  write('in.csv', `name,city\n${',x\n'.repeat(2500)}`);
  const { stdout } = await enrich('in.csv --dry-run');
  expect(stdout).toContain(
    'skipped   2,500 rows without a name, city or id: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2,490 more\n',
  );
  expect(stdout).toContain('time      none\n');
});
