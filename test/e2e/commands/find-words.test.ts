import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { splitWords } from '../../../src/util/shell.ts';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { FREE, useService } from '../../helpers/service.ts';

const service = useService();
const run = (words: readonly string[], options: RunOptions = {}) => service.run(words, options);
const json = async (...words: string[]) => JSON.parse((await run([...words, '--json'])).stdout);
const tty = { stdin: true, stdout: true, stderr: true, columns: 200 };

beforeEach(() => void service.sent());

describe('the words of find', () => {
  it('are joined when the city is given', async () => {
    expect(await json('find', 'nopalina', 'kitchen', '-c', 'SF')).toEqual(
      await json('find', 'nopalina kitchen', '--city', 'SF'),
    );
  });

  it('are repeated by the hint when one may be the city', async () => {
    const { exit, stderr } = await runCli(['find', 'Nopa', 'SF', '--demo']);
    expect(exit).toBe(2);
    expect(stderr).toMatch(/not 2 words: Nopa SF\nhint: restaurant find Nopa --demo --city SF\n$/);
    expect(service.sent()).toBe(0);
  });

  it('are repeated by the hint for a missing city', async () => {
    const { stderr } = await runCli(['find', "Joe's", '--demo']);
    expect(stderr).toContain(`hint: restaurant find 'Joe'\\''s' --demo --city 'San Francisco'`);
  });

  it.each([
    [
      ['nopa', '-c', 'SF', '--json', 'name,grade'],
      '--json takes no value',
      'nopa --json --city SF --columns name,grade',
    ],
    [
      ['nopa', '-c', 'SF', '--json', '.results'],
      '--json takes no value',
      'nopa --json --city SF --jq .results',
    ],
    [['nopa', '-c', 'SF', '-q', '.results'], '--quiet takes no value', 'nopa --city SF --jq .results'],
    [
      ['nopa', '-c', 'SF', '-jq', '.results'],
      '--quiet takes no value',
      'nopa --json --city SF --jq .results',
    ],
    [
      ['nopa', '--city', 'San', 'Francisco', '--json'],
      "unexpected 'Francisco' after --city 'San'",
      "nopa --json --city 'San Francisco'",
    ],
    [['-c', 'San', 'Francisco', 'Nopa'], "'Francisco' after --city 'San'", "Nopa --city 'San Francisco'"],
    [
      ['--json', 'name,grade', 'nopa', '-c', 'SF'],
      "--json takes no value, got 'name,grade'",
      'nopa --json --city SF --columns name,grade',
    ],
    [
      ['nopa', '-c', 'SF', '--json=name,grade'],
      '--json takes no value',
      'nopa --city SF --json --columns name,grade',
    ],
    [['Blue', '--city=New', 'York', 'City'], "unexpected 'York City'", "Blue --city 'New York City'"],
    [
      ['Blue', '--no-color', 'Bottle', '-c', 'SF'],
      "unexpected 'Bottle'",
      "'Blue Bottle' --no-color --city SF",
    ],
  ] as const)('that do not stand together are rejected: %j', async (words, message, command) => {
    const { exit, stderr } = await run(['find', ...words], { tty: {} });
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`: restaurant find ${command}${stderr.startsWith('{') ? '"' : '\n'}`);
    expect((await run(splitWords(`find ${command}`) ?? [])).exit).toBe(0);
  });

  it.each([
    [['--city', 'San', 'Francisco'], "a --city 'San Francisco'"],
    [['--json', '.results', '--city', 'SF'], 'a --json --city SF --jq .results'],
  ])('are not the name when they belong to an option before them: %j', async (words, command) => {
    const { exit, stderr } = await run(['find', ...words], { tty: {} });
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toContain(`: restaurant find ${command}`);
  });

  it('may follow the city', async () => {
    expect(await json('find', '--city', 'SF', 'Nopa')).toEqual(await json('find', 'Nopa', '--city', 'SF'));
  });

  it('stand together on either side of --', async () => {
    const { stdout } = await run(['find', '--json', '-c', 'SF', 'nopalina', '--', 'kitchen']);
    expect(JSON.parse(stdout).results).not.toEqual([]);
  });

  it('are never sent when one looks like an API key', async () => {
    for (const words of [
      ['find', FREE, '--city', 'SF'],
      ['find', 'Nopa', FREE, '--city', 'SF'],
      ['find', 'Nopa', '--city', FREE],
      ['lookup', FREE],
    ]) {
      const { exit, stderr } = await run(words);
      expect([words, exit]).toEqual([words, 2]);
      expect(stderr).toMatch(/looks like an API key; nothing was sent/);
      expect(stderr).not.toContain(FREE);
    }
    const { exit, stderr } = await service.run(['lookup', '-'], { stdin: `a7c1e5d2\n${FREE}\n` });
    expect([exit, stderr]).toEqual([2, expect.stringContaining('looks like an API key; nothing was sent')]);
    expect(service.sent()).toBe(0);
  });

  it('are not checked before a missing service is reported', async () => {
    const { stderr } = await runCli(['find', 'sushi']);
    expect(stderr).toMatch(/^error: no service is configured\nhint: .*--demo/);
    // A request to the embedded sandbox cannot be shown.
    const preview = await runCli(['find', 'sushi', '--curl']);
    expect(preview.stderr).toMatch(/^error: no service is configured\nhint: [^;]*login --base-url <url>\n$/);
  });
});

describe('a city', () => {
  it('is requested by a prompt at a terminal, and saved on request', async () => {
    const { env } = newHome();
    const options = { env: { ...service.env, ...env }, tty, answers: { text: ['SF', 'y'] } };
    const asked = await runCli(['find', 'Nopa'], options);
    expect([asked.exit, asked.stdout.includes('Nopa')]).toEqual([0, true]);
    expect((await runCli(['find', 'Nopa', '--json'], { env: options.env })).exit).toBe(0);
  });

  it('is not requested with --no-input, CI, JSON or a pipe', async () => {
    const answers = { text: 'SF' };
    for (const [words, options] of [
      [['--no-input'], { tty }],
      [['--json'], { tty }],
      [[], { tty, env: { CI: 'true' } }],
      [[], {}],
    ] as const) {
      expect((await run(['find', 'Nopa', ...words], { ...options, answers })).exit).toBe(2);
    }
  });
});

describe('refining a search', () => {
  it('applies to every format, and total_matches stays as received', async () => {
    const all = await json('find', 'e', '--city', 'SF');
    const some = await json('find', 'e', '--city', 'SF', '--min-grade', 'A-', '--sort', 'name', '-n', '2');
    expect(some.results).toHaveLength(2);
    expect(some.total_matches).toBe(all.total_matches);
    for (const { grade } of some.results) expect(grade).toMatch(/^A/);
    const near = ['find', 'e', '--city', 'SF', '--near', '37.77,-122.43', '-n', '2'];
    const csv = (await run([...near, '--format', 'csv'])).stdout.split('\n');
    expect(csv[0]).toMatch(/,distance_km$/);
    const [first, second] = (await json(...near)).results;
    expect(first.distance_km).toBeLessThanOrEqual(second.distance_km);
    const detailed = await run([...near, '--fields', 'standard', '--format', 'table'], { tty });
    expect(detailed.stdout).toMatch(/KM\S* +\S*PRICE_LEVEL/);
    // Numbers of rows belong to a table.
    expect((await run([...near, '--format', 'csv'], { tty })).stderr).not.toContain('restaurant lookup 1');
  });

  it('lists the available values when a filter removes everything', async () => {
    const { exit, stderr } = await run(['find', 'Nopa', '--city', 'SF', '--cuisine', 'californan'], { tty });
    expect(exit).toBe(0);
    expect(stderr).toMatch(
      /none with --cuisine californan; available: californian \d.*did you mean californian\?/,
    );
  });

  it('rejects invalid values before a request', async () => {
    for (const words of [
      ['--near', 'here'],
      ['--min-grade', 'good'],
      ['--sort', 'price'],
      ['--fields', 'name'],
    ]) {
      expect((await run(['find', 'Nopa', '--city', 'SF', ...words])).exit).toBe(2);
    }
    expect(service.sent()).toBe(0);
  });
});

describe('find --fields', () => {
  it('adds the details of every result', async () => {
    const detailed = await json('find', 'Nopa', '--city', 'SF', '--fields', 'standard', '-n', '2');
    expect(service.sent()).toBe(3);
    expect(detailed).toHaveLength(2);
    expect(detailed[0]).toMatchObject({
      result: { name: 'Nopa' },
      details: { name: 'Nopa', phone: expect.any(String) },
    });
    const csv = (
      await run(['find', 'Nopa', '--city', 'SF', '--fields', 'standard', '-n', '1', '--format', 'csv'])
    ).stdout;
    expect(csv.split('\n')[0]).toMatch(/^service_id,name,grade,.*phone/);
    const shown = await run(
      ['find', 'Nopa', '--city', 'SF', '--fields', 'standard', '-n', '2', '--no-color'],
      { tty },
    );
    expect(shown.stdout).toMatch(/NAME.*PHONE/);
  });

  it('looks up at most ten results without --limit', async () => {
    await json('find', 'e', '--city', 'SF', '--fields', 'standard');
    expect(service.sent()).toBe(11);
  });

  it('fails completely if every lookup would fail', async () => {
    const env = { RESTAURANT_API_KEY: FREE };
    const { exit, stderr } = await run(['find', 'Nopa', '--city', 'SF', '--fields', 'standard'], { env });
    expect(exit).toBe(4);
    expect(stderr).toContain(
      'hint: a search without details works with every key: restaurant find Nopa --city SF\n',
    );
  });
});

describe('find --sort distance', () => {
  it('requires --near', async () => {
    const { exit, stderr } = await run(['find', 'a', '--city', 'SF', '--sort', 'distance']);
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toContain('hint: restaurant find a --city SF --sort distance --near 37.77,-122.43');
  });
});

describe('the rows of the last search', () => {
  it('are shown again by last, with the search that found them', async () => {
    const found = await run(['find', 'Nopa', '--city', 'SF', '--no-color'], { tty });
    const last = await run(['last', '--no-color'], { tty });
    expect(last.stdout).toBe(found.stdout);
    expect(last.stderr).toMatch(/"Nopa" in SF, \d+s ago/);
    expect(service.sent()).toBe(1);
  });

  it('are those of the same terminal', async () => {
    // The variable identifies the terminal if the session of this run is unknown.
    const terminal = { tty, env: { TERM_SESSION_ID: 'one' } };
    await run(['find', 'Nopa', '--city', 'SF'], terminal);
    // Another process of the same user, in a pipe.
    await run(['find', 'Tide', '--city', 'London', '--json']);
    await run(['find', 'zzzz', '--city', 'SF'], terminal);
    const { stdout, stderr } = await run(['lookup', '1'], terminal);
    expect(stdout).toContain('Nopa');
    expect(stderr).toMatch(/rows of "Nopa" in SF/);
  });

  it('of the embedded sandbox are not mixed with those of a service', async () => {
    const { env } = newHome();
    await runCli(['find', 'Nopa', '--city', 'SF', '--demo'], { env });
    expect((await run(['last', '--demo'], { env })).stdout).toContain('\tNopa\t');
    const { exit, stderr } = await run(['lookup', '1'], { env });
    expect([exit, service.sent()]).toEqual([3, 0]);
    expect(stderr).toMatch(
      /: the embedded sandbox\nhint: to search this one: restaurant find Nopa --city SF\n$/,
    );
    await run(['find', 'Tide', '--city', 'London'], { env });
    expect((await run(['last', '--demo'], { env })).stdout).toBe('');
  });

  it('can be looked up by range and by name', async () => {
    const { results } = await json('find', 'Nopa', '--city', 'SF');
    const ids = results.slice(0, 3).map((each: { service_id: string }) => each.service_id);
    const range = await json('lookup', '1-3');
    expect(range.map((each: { restaurant_id: string }) => each.restaurant_id)).toEqual(ids);
    expect((await json('lookup', 'nopa corner')).name).toBe('Nopa Corner');
  });

  it('add fields of the search to a basic card, and nothing to JSON', async () => {
    await run(['find', 'Nopa', '--city', 'SF'], { tty });
    expect((await run(['lookup', '1'], { tty })).stdout).toContain('560 Divisadero St');
    expect(await json('lookup', '1')).not.toHaveProperty('address');
  });

  it.each([
    ['all', /'all' is not a restaurant ID\nhint: .*restaurant lookup 1-3/],
    [
      'Zebra Room',
      /is a name, not a restaurant ID.*\nhint: to search for it: restaurant find 'Zebra Room' --city /,
    ],
    ['Zebra', /is a name, not a restaurant ID.*\nhint: to search for it: restaurant find Zebra --city /],
    ['3-1', /'3-1' is not a range of rows\nhint: .*lookup 1-3/],
    ['1-99999999999', /is not a range of rows/],
    ['x;id', /is not a restaurant id/],
  ])('are distinguished from %s, which is rejected before a request', async (word, message) => {
    const { exit, stderr } = await run(['lookup', word]);
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toMatch(message);
  });

  it.each(['99999', '4'])('do not include row %s', async (row) => {
    await run(['find', 'Nopa', '--city', 'SF'], { tty });
    service.sent();
    const { exit, stderr } = await run(['lookup', row]);
    expect([exit, service.sent()]).toEqual([3, 0]);
    expect(stderr).toContain(`row ${row}: your last search had 3 results\nhint: `);
  });

  it('keep their row number in the hint for a free key', async () => {
    await run(['find', 'Nopa', '--city', 'SF'], { tty });
    const { exit, stderr } = await run(['lookup', '1', '--fields', 'standard'], {
      env: { RESTAURANT_API_KEY: FREE },
    });
    expect(exit).toBe(4);
    expect(stderr).toMatch(
      /\nhint: basic details work with every key: restaurant lookup 1 --fields basic\n$/,
    );
  });
});

describe('lookup -', () => {
  it('reads the output of find as TSV, CSV, JSON and NDJSON', async () => {
    const words = ['find', 'Nopa', '--city', 'SF', '-n', '2'];
    const expected = (await json(...words)).results.map((each: { service_id: string }) => each.service_id);
    for (const format of ['tsv', 'csv', 'json', 'ndjson']) {
      const { stdout: stdin } = await run([...words, '--format', format]);
      const found = JSON.parse((await run(['lookup', '-', '--json'], { stdin })).stdout);
      expect([format, found.map((each: { restaurant_id: string }) => each.restaurant_id)]).toEqual([
        format,
        expected,
      ]);
    }
  });

  it.each(['1', '1-3', 'all'])('rejects %s with a hint', async (word) => {
    service.sent();
    const { exit, stderr } = await run(['lookup', '-'], { stdin: `${word}\n` });
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toMatch(/stdin, line 1: '.*' selects rows; stdin takes only IDs\nhint: .*lookup 1 2/);
  });
});

describe('a hint', () => {
  it('quotes an id from the service', async () => {
    const { env } = newHome();
    const rows = [{ service_id: 'x;id>pwned;#', name: 'x' }];
    const state = { endpoint: 'demo', at: 0, query: { name: 'x', city: 'SF' }, rows };
    const folder = join(env.HOME ?? '', '.local/state/restaurant');
    const { mkdirSync } = await import('node:fs');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'last-find.json'), JSON.stringify(state), { mode: 0o600 });
    const { exit, stderr } = await runCli(['lookup', '1', '--demo', '--fields', 'premium'], { env });
    expect(exit).toBe(2);
    expect(stderr).toMatch(/row 1 of the last search: "x;id>pwned;#" is not a restaurant id/);
  });
});
