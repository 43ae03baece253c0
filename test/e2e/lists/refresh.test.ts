import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { hashRow } from '../../../src/lists/finished/journal.ts';
import type { SandboxRestaurant } from '../../../src/sandbox/types.ts';
import { useFolder } from '../../helpers/enrich.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { useService } from '../../helpers/service.ts';

const PLACES = fewOrAll(30, 2000);
const DAYS = fewOrAll(4, 30);
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

/** The data of the sandbox, which tests change. */
const places: SandboxRestaurant[] = Array.from({ length: PLACES }, (_each, index) => ({
  service_id: `id-${index}`,
  name: `Place ${index}`,
  city: 'Testville',
  grade: 'A',
  cuisine_tags: ['thai'],
}));
const originals = places.map((place) => ({ ...place }));
const service = useService({ restaurants: places });

const { path, read, write } = useFolder();
/** A change of a place: its index and the fields. */
const CHANGE = fc.tuple(
  fc.nat(PLACES - 1),
  fc.oneof(
    fc.record({ grade: fc.constantFrom('A', 'B', 'C', 'D', 'F') }),
    fc.record({ name: fc.constantFrom('Place', 'Bar', 'Café') }),
  ),
);
/** A clock that only waits advance. */
let clock = START;
const run = (words: string, perDay = PLACES) =>
  service.run(words.split(' '), {
    cwd: path(''),
    env: { HOME: path(''), RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: String(perDay) },
    now: () => clock,
    sleep: async (ms) => {
      clock += ms;
    },
  });
const refresh = (more = '') => run(`enrich out.csv --refresh --changes changes.csv${more}`);
const changes = (): string[] => read('changes.csv').trimEnd().split('\n').slice(1);

async function enrich(rows: number): Promise<string> {
  const lines = Array.from({ length: rows }, (_each, index) => `id-${index},"n ""${index}"""\n`);
  write('list.csv', `service_id,note\n${lines.join('')}`);
  expect((await run(`enrich list.csv -o out.csv --fields basic`)).exit).toBe(0);
  service.sent();
  clock += DAY_MS;
  return read('out.csv');
}

beforeEach(() => {
  clock = START;
  for (const [index, place] of originals.entries()) change(index, place);
});

const change = (index: number, fields: Partial<SandboxRestaurant>): void => {
  Object.assign(places[index] ?? {}, fields);
};

describe('enrich --refresh', () => {
  it('records no change and leaves the file as it is if nothing changed', async () => {
    const before = await enrich(5);
    const { exit, stderr } = await refresh();
    expect([exit, stderr]).toEqual([0, '5 restaurants of out.csv looked up again: 0 changes in 0 rows\n']);
    expect(read('out.csv')).toBe(before);
    expect(read('changes.csv')).toBe('row,id,name,field,before,after,when\n');
    expect(service.sent()).toBe(5);
    expect(existsSync(path('out.csv.journal'))).toBe(false);
  });

  it('waits for the quota of a minute, and says so', async () => {
    await enrich(5);
    const { exit, stderr } = await run('enrich out.csv --refresh --per-minute 4');
    expect([exit, service.sent()]).toEqual([0, 5]);
    expect(stderr).toMatch(/^waiting until 2026-01-02T\S+Z: the quota per minute is used up\n5 restaurants/);
  });

  it('updates the rows that changed, and adds the changes to the file', async () => {
    const before = (await enrich(4)).split('\n');
    change(2, { grade: 'B', cuisine_tags: ['thai', 'lao'] });
    const { exit, stdout } = await refresh(' --json');
    expect([exit, JSON.parse(stdout)]).toMatchObject([
      0,
      { looked_up: 4, changed_rows: 1, changes: 3, finished: true },
    ]);
    const when = new Date(clock).toISOString();
    expect(changes()).toEqual([
      `3,id-2,Place 2,grade,A,B,${when}`,
      expect.stringMatching(/^3,id-2,Place 2,tldr,/),
      `3,id-2,Place 2,cuisine,thai,"thai; lao",${when}`,
    ]);
    const after = read('out.csv').split('\n');
    expect(after.filter((line, at) => line !== before[at])).toEqual([
      expect.stringContaining('id-2,"n ""2""",matched,'),
    ]);
    expect((await refresh()).stderr).toContain('0 changes in 0 rows');
    expect(changes()).toHaveLength(3);
  });

  it('continues after the daily quota is used up, and begins again when it is done', async () => {
    await enrich(5);
    const first = await run('enrich out.csv --refresh', 3);
    expect(first.exit).toBe(5);
    expect(first.stderr).toContain('3 restaurants of out.csv looked up again, 2 left');
    expect(first.stderr).toContain('restaurant enrich out.csv --refresh');
    clock += DAY_MS;
    expect((await run('enrich out.csv --refresh', 3)).stderr).toContain(
      '2 restaurants of out.csv looked up again:',
    );
    expect(service.sent()).toBe(5);
    clock += DAY_MS;
    expect((await run('enrich out.csv --refresh --dry-run')).stdout).toBe(
      '5 matched rows, 5 requests, 1 day\n',
    );
  });

  it('looks up only restaurants whose last lookup is older than --older', async () => {
    await enrich(5);
    await run('enrich out.csv --refresh', 3);
    clock += DAY_MS;
    await run('enrich out.csv --refresh --older 12h', 3);
    service.sent();
    expect((await run('enrich out.csv --refresh --older 36h')).exit).toBe(0);
    expect(service.sent()).toBe(0);
    clock += DAY_MS;
    await run('enrich out.csv --refresh --older 30h');
    expect(service.sent()).toBe(2);
  });

  it('records that a restaurant is gone, and keeps its data', async () => {
    await enrich(3);
    write('out.csv', read('out.csv').replaceAll('id-1', 'id-gone'));
    expect((await refresh()).exit).toBe(0);
    expect(changes()).toEqual([expect.stringMatching(/^2,id-gone,Place 1,status,matched,not_found,/)]);
    expect(read('out.csv').split('\n')[2]).toContain('not_found,gone,1,id-gone,Place 1,');
    service.sent();
    await refresh();
    expect(service.sent()).toBe(2);
  });

  it('adds what a killed run has found once, even if it was killed while adding it', async () => {
    await enrich(2);
    const row = read('out.csv').split('\n')[1] ?? '';
    const found = { id: 'id-0', name: 'Place 0', at: START, changesFile: path('changes.csv') };
    const changes = [{ field: 'grade', before: 'A', after: 'B' }];
    const entry = { row: 1, was: hashRow(row), set: { grade: 'B' }, changes, ...found };
    write('changes.csv', 'row,id,name,field,before,after,when\n');
    for (const _kill of [1, 2]) {
      write('out.csv.journal', `${JSON.stringify(entry)}\n{"row":2,"was`);
      expect((await run('enrich out.csv --refresh --older 999d')).exit).toBe(0);
      expect(read('out.csv').split('\n')[1]).toBe(row.replace(',A,', ',B,'));
      expect(read('changes.csv')).toMatch(/^row,.*\n1,id-0,Place 0,grade,A,B,2026-01-01T00:00:00.000Z\n$/);
    }
  });

  it('creates no file that a journal names, and adds to no other file', async () => {
    await enrich(1);
    write('profile', 'export A=1\n');
    for (const name of ['profile', 'new']) {
      const changes = [{ field: 'x', before: null, after: '$(touch pwned)' }];
      const entry = { row: 1, was: '', set: null, at: 0, id: 'x', name: '\n', changes };
      write('out.csv.journal', `${JSON.stringify({ ...entry, changesFile: path(name) })}\n`);
      expect((await run('enrich out.csv --refresh')).exit).toBe(2);
    }
    expect([read('profile'), existsSync(path('new'))]).toEqual(['export A=1\n', false]);
  });

  it('reads a journal with values of any type', async () => {
    await enrich(1);
    const was = hashRow(read('out.csv').split('\n')[1] ?? '');
    const entry = { row: 1, was, at: 0, id: 'x', set: { grade: { toString: 1 } } };
    const changes = [{ field: { toString: 1 } }];
    const wrong = { ...entry, set: { grade: 'B' }, changes, changesFile: path('new') };
    write('out.csv.journal', `${JSON.stringify(entry)}\n${JSON.stringify(wrong)}\n`);
    expect((await run('enrich out.csv --refresh --older 999d')).exit).toBe(0);
    expect(read('out.csv')).toContain('"{""toString"":1}"');
  });

  it('compares columns if the rows have no details', async () => {
    write('list.csv', 'name,city\nPlace 0,Testville\nPlace 1,Testville\n');
    expect((await run('enrich list.csv -o out.csv')).exit).toBe(0);
    change(1, { grade: 'C' });
    await refresh();
    expect(changes()).toEqual([expect.stringMatching(/^2,id-1,Place 1,grade,A,C,/)]);
  });

  it.each([
    ['enrich out.csv --older 7d', '--older needs --refresh'],
    ['enrich out.csv --changes c.csv', '--changes needs --refresh'],
    ['enrich out.csv --refresh -o x.csv', '--refresh updates the list itself, so it takes no --output'],
    ['enrich out.csv --refresh --loose', '--refresh cannot be combined with --loose'],
    ['enrich out.csv --refresh --export x.xlsx', '--refresh cannot be combined with --export'],
    ['enrich out.csv --refresh --changes list.csv', 'list.csv exists and does not contain changes'],
    ['enrich out.csv --refresh --fields standard', 'out.csv has basic details, not standard'],
  ])('refuses %s', async (words, message) => {
    const before = await enrich(1);
    const { exit, stderr } = await run(words);
    expect(exit).toBe(2);
    expect(stderr).toContain(message);
    expect([read('out.csv'), service.sent()]).toEqual([before, 0]);
  });

  it(`misses and invents no change in ${DAYS} days with ${PLACES} places`, async () => {
    await enrich(PLACES);
    const known = places.map(({ name, grade }) => ({ name, grade }));
    const expected: string[] = [];
    for (const today of fc.sample(fc.array(CHANGE, { minLength: 3, maxLength: 9 }), DAYS)) {
      for (const [index, fields] of today) change(index, fields);
      const { exit, stdout } = await refresh(' --json');
      expect([exit, JSON.parse(stdout).requests]).toEqual([0, PLACES]);
      for (const [index, { name, grade }] of places.entries()) {
        const before = known[index];
        const fields = { name: [before?.name, name], grade: [before?.grade, grade] };
        for (const [field, [one, other]] of Object.entries(fields))
          if (one !== other) expected.push(`${index + 1},id-${index},${field},${one},${other}`);
        known[index] = { name, grade };
      }
      clock += DAY_MS;
    }
    const found = changes()
      .map((line) => line.split(','))
      .filter(([, , , field]) => field === 'name' || field === 'grade');
    const listed = found.map(([row, id, , ...rest]) => [row, id, ...rest.slice(0, 3)].join(','));
    expect(listed.sort()).toEqual(expected.sort());
    expect(expected.length).toBeGreaterThan(DAYS);
  }, 1_800_000);
});
