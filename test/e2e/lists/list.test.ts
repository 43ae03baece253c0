import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listOf, mixedList, table, useLists } from '../../helpers/enrich.ts';

const { service, path, read, write, enrich } = useLists();
const rowsOf = (name: string) => table(read(name));
const asked = async (words: string): Promise<[exit: number, requests: number]> => {
  service.sent();
  const { exit } = await enrich(words);
  return [exit, service.sent()];
};

describe('a list of 400 rows', () => {
  it('is brought up to date by one command, again and again', async () => {
    write('places.csv', mixedList(400));
    expect(await asked('places.csv -o found.csv')).toEqual([0, 62]);
    const [first, answers] = [read('found.csv'), read('found.answers.ndjson')];
    expect(await asked('places.csv -o found.csv')).toEqual([0, 0]);
    expect([read('found.csv'), read('found.answers.ndjson')]).toEqual([first, answers]);
    expect(await asked('places.csv -o found.csv --older 7d')).toEqual([0, 0]);
    expect(await asked('places.csv -o found.csv -o found.xlsx -o map.html --fields standard')).toEqual([
      0, 30,
    ]);
    expect(await asked('places.csv -o map.html -o found.xlsx -o found.csv --fields standard')).toEqual([
      0, 0,
    ]);

    // Rows in another order, each with its own note.
    const [header, ...lines] = mixedList(400).trimEnd().split('\n');
    write('places.csv', `${[header, ...lines.toReversed()].join('\n')}\n`);
    expect(await asked('places.csv -o found.csv --fields standard')).toEqual([0, 0]);
    const notes = rowsOf('found.csv').map(({ note }) => note);
    expect(notes).toEqual(lines.toReversed().map((line) => line.split(',').at(-1)));
    expect(rowsOf('found.csv')[1]).toMatchObject({ name: 'Place 9', restaurant_status: 'matched' });
    expect(existsSync(path('found.answers.ndjson.lock'))).toBe(false);
  });

  it('asks for the oldest rows first, so that a list longer than the quota stays fresh', async () => {
    write('in.csv', listOf(12));
    let clock = Date.UTC(2026, 0, 1);
    const options = { now: () => clock };
    await enrich('in.csv -o out.csv', options);
    const seen = new Map<string, number>();
    for (let day = 0; day < 6; day += 1) {
      clock += 86_400_000;
      const before = service.sandbox.requests.length;
      const { exit } = await enrich('in.csv -o out.csv --older 36h --per-day 4', options);
      expect(exit).toBe(day === 0 ? 0 : 5);
      for (const { body } of service.sandbox.requests.slice(before)) {
        const { params } = body as { params: { arguments: { restaurant_id: string } } };
        const id = params.arguments.restaurant_id;
        seen.set(id, (seen.get(id) ?? 0) + 1);
      }
    }
    expect([...seen.values()].reduce((all, count) => all + count, 0)).toBe(20);
    expect(Math.max(...seen.values()) - Math.min(...seen.values())).toBeLessThanOrEqual(1);
  });

  it('may be copied with its answers, and remembers', async () => {
    mkdirSync(path('a'));
    write('a/in.csv', mixedList(40));
    expect(await asked('a/in.csv -o a/out.csv')).toEqual([0, 22]);
    cpSync(path('a'), path('b'), { recursive: true });
    rmSync(path('a'), { recursive: true });
    expect(await asked('b/in.csv -o b/out.csv')).toEqual([0, 0]);
  });

  it('costs one request for each id, whatever the names, and however long the run takes', async () => {
    const lines = Array.from({ length: 90 }, (_each, index) => `id-${index % 9},Name ${index},Testville\n`);
    write('in.csv', `service_id,name,city\n${lines.join('')}`);
    const dry = JSON.parse((await enrich('in.csv -o out.csv --dry-run --json')).stdout);
    expect(dry).toMatchObject({ due: 90, requests: 9, requests_at_most: 9 });
    expect(await asked('in.csv -o out.csv --max-age 0')).toEqual([0, 9]);
    write(
      'names.csv',
      `name,city\n${'Place 1,Testville\nPLACE 1,Testville\nplace 1.,Testville\n'.repeat(5)}`,
    );
    expect(await asked('names.csv -o names-out.csv --fields basic')).toEqual([0, 4]);
  });
});

describe('a guard against surprise', () => {
  it('stops a run with another list, column, or city, before anything is sent', async () => {
    write('in.csv', listOf(25));
    await enrich('in.csv -o out.csv');
    const before = read('out.csv');
    write(
      'other.csv',
      `name,city\n${Array.from({ length: 25 }, (_each, n) => `Bar ${n},Testville\n`).join('')}`,
    );
    for (const words of ['other.csv -o out.csv', 'in.csv -o out.csv --city-column name']) {
      service.sent();
      const { exit, stderr } = await enrich(words);
      expect([exit, service.sent(), read('out.csv')]).toEqual([2, 0, before]);
      expect(stderr).toContain('only 0 of 25 answers in ');
      expect(stderr).toContain(` --answers ${path('out.answers.ndjson')}\n`);
    }
    expect(await asked(`other.csv -o new.csv --answers ${path('out.answers.ndjson')}`)).toEqual([0, 25]);
    // Refreshed answers do not count twice.
    for (let run = 0; run < 12; run += 1)
      await enrich('in.csv -o out.csv --older 0s --answers out.answers.ndjson');
    write('in.csv', `${listOf(25)}Place 26,Testville\n`);
    expect(await asked('in.csv -o out.csv')).toEqual([0, 1]);
  });

  it('lets a list shrink and grow', async () => {
    write('in.csv', listOf(25));
    await enrich('in.csv -o out.csv');
    write('in.csv', listOf(1));
    expect(await asked('in.csv -o out.csv')).toEqual([0, 0]);
    write('in.csv', listOf(30));
    expect(await asked('in.csv -o out.csv')).toEqual([0, 5]);
  });
});

describe('--older', () => {
  it('looks matched rows up by id, searches for the others, and leaves rejected ones', async () => {
    write(
      'in.csv',
      'name,city,restaurant_status,restaurant_match,restaurant_id\nPlace 1,Testville,,,\nTwin,Testville,,,\nx,Testville,not_found,rejected,\n',
    );
    expect(await asked('in.csv -o out.csv')).toEqual([0, 2]);
    const before = service.sandbox.requests.length;
    expect(await asked('in.csv -o out.csv --older 0s')).toEqual([0, 2]);
    const tools = service.sandbox.requests
      .slice(before)
      .map(({ body }) => (body as { params: { name: string } }).params.name);
    expect(tools.sort()).toEqual(['find_restaurant', 'lookup_restaurant']);
  });

  it('asks again for answers of a clock that was ahead, and replaces them', async () => {
    write('in.csv', listOf(2));
    const ahead = { now: () => Date.now() + 86_400_000 };
    await enrich('in.csv -o out.csv', ahead);
    expect(await asked('in.csv -o out.csv')).toEqual([0, 0]);
    expect(await asked('in.csv -o out.csv --older 7d')).toEqual([0, 2]);
    expect(await asked('in.csv -o out.csv --older 7d')).toEqual([0, 0]);
  });
});
