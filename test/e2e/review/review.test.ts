import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const place = (id: string, name: string, lat = 1) => ({
  service_id: id,
  name,
  city: 'Testville',
  address: `${id} Main St`,
  coordinates: { lat, lng: 2 },
  grade: 'A',
});
const RESTAURANTS = [
  place('zuni', 'Zuni Café'),
  place('bar-1', 'Bar One'),
  place('bar-2', 'Bar Two', 1.001),
  place('nopa', 'Nopa'),
];
/** The second row has its own quoting, the third is found, the last is missing. */
const LIST =
  'name,city,lat,lng,note\n' +
  'Bar,Testville,1,2,first\n' +
  '"Zun",Testville,,,"a ""note"""\n' +
  'Nopa,Testville,,,\n' +
  'Gone,Testville,,,x\n';

const service = useService({ restaurants: RESTAURANTS });
let folder = '';
const path = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(path(name), 'utf8');
const run = (words: readonly string[], options = {}) =>
  service.run(words, { cwd: folder, env: { HOME: folder, RESTAURANT_MAX_AGE: undefined }, ...options });

async function enrich(output = 'out.csv', ...more: string[]): Promise<string> {
  writeFileSync(path('list.csv'), LIST);
  expect((await run(['enrich', 'list.csv', '-o', output, ...more])).exit).toBe(0);
  service.sent();
  return read(output);
}

/** Types keys at a terminal of the tests. */
const review = (keys: string, words: readonly string[] = [], answers = {}) =>
  run(['review', 'out.csv', ...words], {
    tty: { stdin: true, stderr: true, stdout: true, columns: 72 },
    answers: { keys, ...answers },
  });

beforeEach(() => {
  folder = tempFolder();
});

type Feature = { readonly properties: Readonly<Record<string, unknown>> };

/** The result of each row: status, match, and id. */
const results = (name = 'out.csv'): string[] =>
  read(name)
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const cells = line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/);
      return `${cells[5]} ${cells[6]} ${cells[8]}`;
    });

describe('review at a terminal', () => {
  it('shows rows with their candidates, and records the decisions', async () => {
    const before = await enrich();
    expect(results()).toEqual([
      'ambiguous best bar-1',
      'likely only zuni',
      'matched exact nopa',
      'not_found  ',
    ]);
    const { exit, stderr } = await review('2y');
    expect(exit).toBe(0);
    expect(stderr).toMatchInlineSnapshot(`
      "
      [2m1 of 2, line 2, ambiguous[22m
      [1mBar, Testville, 1, 2, first[22m
      1 * Bar One  bar-1 Main St, Testville  0 m  A
      2   Bar Two  bar-2 Main St, Testville  111 m  A
      [2my yes (1), 1-2 this one, n none, s search, space skip, u undo, q quit[22m

      [2m2 of 2, line 3, likely[22m
      [1mZun, Testville, a "note"[22m
      1 * Zuni Café  zuni Main St, Testville  A
      [2my yes (1), n none, s search, space skip, u undo, q quit[22m
      2 rows decided in out.csv: 1 confirmed, 1 with another restaurant, 0 rejected
      "
    `);
    expect(results()).toEqual([
      'matched confirmed bar-2',
      'matched confirmed zuni',
      'matched exact nopa',
      'not_found  ',
    ]);
    const [, , second, ...rest] = read('out.csv').split('\n');
    expect(second).toContain('"Zun",Testville,,,"a ""note""",matched,confirmed,1,zuni,');
    expect(rest.join('\n')).toBe(before.split('\n').slice(3).join('\n'));
    expect(service.sent()).toBe(0);
    expect(existsSync(path('out.csv.journal'))).toBe(false);
    expect((await review('')).stderr).toContain('out.csv has no rows to review');
  });

  it('undoes, skips, rejects, quits, and continues', async () => {
    await enrich();
    expect((await review('yun q')).stderr).toContain('1 left: restaurant review out.csv');
    expect(results().slice(0, 2)).toEqual(['not_found rejected ', 'likely only zuni']);
    const { stderr } = await review('y');
    expect(stderr).toContain('1 of 1, line 3, likely');
    expect(results().slice(0, 2)).toEqual(['not_found rejected ', 'matched confirmed zuni']);
  });

  it('searches with other words', async () => {
    await enrich();
    const { stderr } = await review('  s1', ['--not-found'], { text: ['Nopa', ''] });
    expect(stderr).toContain('1   Nopa');
    expect(results()[3]).toBe('matched confirmed nopa');
  });

  it('shows all keys on a narrow terminal, and says after Ctrl-C how to continue', async () => {
    await enrich();
    const tty = { stdin: true, stderr: true, stdout: true, columns: 40 };
    const { exit, stderr } = await run(['review', 'out.csv'], { tty, answers: { keys: ['y', 'ctrl-c'] } });
    expect(exit).toBe(130);
    expect(stderr).toContain('q quit');
    expect(stripVTControlCharacters(stderr).replace(/\s+/g, ' ')).toContain(
      'your decisions are saved; to continue: restaurant review out.csv',
    );
    expect(results()[0]).toBe('matched confirmed bar-1');
  });
});

describe('review for programs', () => {
  it('lists the rows with their candidates as JSON', async () => {
    await enrich();
    const { exit, stdout, stderr } = await run(['review', 'out.csv', '--json', '--not-found']);
    expect([exit, stderr]).toEqual([0, '']);
    const rows = JSON.parse(stdout);
    expect(
      rows.map((row: { status: string; candidates: unknown[] }) => [row.status, row.candidates.length]),
    ).toEqual([
      ['ambiguous', 2],
      ['likely', 1],
      ['not_found', 0],
    ]);
    expect(rows[0]).toMatchObject({
      row: 1,
      line: 2,
      name: 'Bar',
      city: 'Testville',
      restaurant_id: 'bar-1',
      list: { note: 'first' },
      candidates: [
        { service_id: 'bar-1', distance_m: 0 },
        { service_id: 'bar-2', distance_m: 111 },
      ],
    });
  });

  it('asks again for candidates that are not cached', async () => {
    await enrich();
    expect((await run(['cache', 'clear'])).exit).toBe(0);
    expect(JSON.parse((await run(['review', 'out.csv', '--json'])).stdout)).toHaveLength(2);
    expect(service.sent()).toBe(2);
  });

  it.each(['out.csv', 'out.ndjson'])('applies decisions to %s', async (output) => {
    const before = (await enrich(output)).split('\n');
    writeFileSync(
      path('d.csv'),
      'row,name,decision,restaurant_id\n1,Bar,other,bar-2\n2,Zun,none,\n4,,other,nopa\n',
    );
    const { exit, stdout } = await run(['review', output, '--apply', 'd.csv', '--json']);
    expect([exit, stdout]).toEqual([0, '{"rows":3,"confirmed":0,"other":2,"rejected":1}\n']);
    const after = read(output).split('\n');
    const isCsv = output === 'out.csv';
    expect(after.at(isCsv ? 3 : 2)).toBe(before.at(isCsv ? 3 : 2));
    const texts = isCsv
      ? ['matched,confirmed,2,bar-2,Bar Two,', 'not_found,rejected,1,,', 'matched,confirmed,0,nopa,Nopa,']
      : [
          '"match":"confirmed","candidates":2,"id":"bar-2"',
          '"status":"not_found"',
          '"name":"Nopa","address":"nopa Main St"',
        ];
    expect([0, 1, 3].map((row, at) => after[isCsv ? row + 1 : row]?.includes(texts[at] ?? ''))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it.each([
    ['row,decision\n9,none\n', 'out.csv has no row 9'],
    ['row,decision\n1,maybe\n', "line 2 has the decision 'maybe'"],
    ['row,decision\n1,other\n', 'line 2 has no restaurant_id'],
    ['row,decision\n1,yes\n1,none\n', 'line 3 decides row 1 once more'],
    ['row,name,decision\n1,Zun,yes\n', "row 1 of out.csv is 'Bar', not 'Zun'"],
    ['row,decision,restaurant_id\n1,yes,nopa\n', 'row 1 has the restaurant bar-1, not nopa'],
    ['row,decision\n4,yes\n', 'row 4 has no restaurant to confirm'],
    ['a,b\n', 'line 1 has no columns row and decision'],
  ])('refuses %j, and changes nothing', async (decisions, message) => {
    const before = await enrich();
    writeFileSync(path('d.csv'), `${decisions}`);
    const { exit, stderr } = await run(['review', 'out.csv', '--apply', 'd.csv']);
    expect(exit).toBe(2);
    expect(stderr).toContain(message);
    expect(read('out.csv')).toBe(before);
  });

  it('changes the result, not an added column with the name of one of its fields', async () => {
    await enrich('out.csv', '--add', 'status=status', '--add', 'grade=grade', '--prefix', 'r_');
    writeFileSync(path('decisions.csv'), 'row,decision,restaurant_id\n2,yes,\n3,none,\n');
    const applied = await run(['review', 'out.csv', '--apply', 'decisions.csv', '--prefix', 'r_']);
    expect([applied.exit, applied.stderr]).toEqual([
      0,
      '2 rows decided in out.csv: 1 confirmed, 0 with another restaurant, 1 rejected\n',
    ]);
    await run(['enrich', 'out.csv', '--prefix', 'r_', '--export', 'out.geojson']);
    const { features } = JSON.parse(read('out.geojson'));
    const columns = ['r_status', 'r_match', 'status', 'r_grade', 'grade'];
    expect(features.map(({ properties }: Feature) => columns.map((column) => properties[column]))).toEqual([
      ['ambiguous', 'best', null, 'A', null],
      ['matched', 'confirmed', 'ok', 'A', 'A'],
      ['not_found', 'rejected', null, null, null],
      ['not_found', null, null, null, null],
    ]);
  });

  it('refuses a file that enrich did not write, stdin, and a pipe', async () => {
    await enrich();
    writeFileSync(path('empty.csv'), '');
    for (const file of ['list.csv', 'empty.csv'])
      expect((await run(['review', file, '--json'])).stderr).toContain(
        `${file} has no column restaurant_status, so it is not the output of enrich`,
      );
    expect((await run(['review', '-', '--json'])).exit).toBe(2);
    expect((await run(['review', 'out.csv'])).stderr).toContain('review needs a terminal');
    const { stderr } = await run(['review', '.', '--json']);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { message: '. is a folder', hint: 'name a file: restaurant review <file> --json' },
    });
  });

  it('does not apply a journal to rows that have changed since', async () => {
    await enrich();
    const journal = '{"row":1,"was":"0000000000000000","set":{"status":"matched"},"at":1}\n';
    writeFileSync(path('out.csv.journal'), journal);
    const { exit, stderr } = await run(['review', 'out.csv', '--json']);
    expect(exit).toBe(2);
    expect(stderr).toContain('row 1 of out.csv has changed since');
    expect(read('out.csv.journal')).toBe(journal);
  });
});
