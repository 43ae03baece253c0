import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';

const service = useService();
const find = (...words: string[]) => service.run(['find', ...words]);

describe('find', () => {
  it('prints one tab-separated record per line in a pipe, and nothing else', async () => {
    const { exit, stdout, stderr } = await find('Nopa', '--city', 'SF');
    expect(exit).toBe(0);
    expect(stderr).toBe('');
    const rows = stdout.trimEnd().split('\n');
    const [first = ''] = rows;
    expect(first.split('\t')).toHaveLength(10);
    expect(first.split('\t').slice(1, 4)).toEqual(['Nopa', 'A', 'californian']);
    expect(first).toContain('\t560 Divisadero St');
  });

  it('prints the whole output object of the service with --json', async () => {
    const { exit, stdout, stderr } = await find('Nopa', '--city', 'SF', '--json');
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout.endsWith('}\n')).toBe(true);
    expect(stdout.trimEnd()).not.toContain('\n');
    const output = JSON.parse(stdout);
    expect(output.status).toBe('ok');
    expect(output.total_matches).toBeGreaterThanOrEqual(output.results.length);
    expect(Object.keys(output.results[0])).toEqual(
      expect.arrayContaining([
        'service_id',
        'name',
        'address',
        'coordinates',
        'city',
        'neighborhood',
        'cuisine_tags',
        'grade',
        'coverage_level',
      ]),
    );
  });

  it('shows a numbered table and the next command on a terminal', async () => {
    const tty = { stdout: true, stderr: true, columns: 100 };
    const { exit, stdout, stderr } = await service.run(['find', 'Nopa', '--city', 'SF', '--no-color'], {
      tty,
    });
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^# +NAME/);
    expect(stdout).toMatch(/^1 +Nopa/m);
    expect(stderr).toMatch(/match.* · restaurant lookup 1 for details/);
  });

  it.each([40, 60, 80, 120, 200])('prints no line wider than %i columns', async (columns) => {
    for (const city of ['Tokyo', 'SF', 'Paris', 'London', 'Mumbai']) {
      const tty = { stdout: true, stderr: true, columns };
      const { stdout } = await service.run(['find', 'a', '--city', city, '--no-color'], { tty });
      for (const line of stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  it('filters and limits results locally, and keeps total_matches as received', async () => {
    const all = JSON.parse((await find('a', '--city', 'Paris', '--json')).stdout);
    expect(all.results.length).toBeGreaterThan(3);
    const [{ cuisine_tags: tags, neighborhood, grade }] = all.results;
    const one = JSON.parse((await find('a', '--city', 'Paris', '--limit', '1', '--json')).stdout);
    expect(one.results).toEqual(all.results.slice(0, 1));
    expect(one.total_matches).toBe(all.total_matches);
    const filters = [
      '--cuisine',
      String(tags[0]).toUpperCase(),
      '--grade',
      grade,
      '--neighborhood',
      neighborhood,
    ];
    const some = JSON.parse((await find('a', '--city', 'Paris', ...filters, '--json')).stdout);
    expect(some.results).toContainEqual(all.results[0]);
    for (const row of some.results) expect(row.grade).toBe(grade);
    expect((await find('a', '--city', 'Paris', '--grade', 'Z', '--json')).stdout).toContain('"results":[]');
  });

  it('succeeds if nothing is found', async () => {
    const tty = { stderr: true };
    expect(await find('zzzz', '--city', 'SF')).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect((await service.run(['find', 'zzzz', '--city', 'SF'], { tty })).stderr).toContain(
      'no matches for zzzz in SF',
    );
    expect(JSON.parse((await find('zzzz', '--city', 'SF', '--json')).stdout).results).toEqual([]);
  });

  it('prints every format', async () => {
    const of = async (format: string) => (await find('Nopa', '--city', 'SF', '--format', format)).stdout;
    expect((await of('csv')).split('\n')[0]).toBe(
      'service_id,name,grade,cuisine_tags,neighborhood,city,address,lat,lng,coverage_level',
    );
    const [record = ''] = (await of('ndjson')).split('\n');
    expect(JSON.parse(record).name).toBe('Nopa');
    const map = JSON.parse(await of('geojson'));
    expect(map.type).toBe('FeatureCollection');
    expect(map.features[0].geometry).toEqual({ type: 'Point', coordinates: [-122.4376, 37.7749] });
    expect(map.features[0].properties.name).toBe('Nopa');
    expect(await of('table')).toMatch(/^# +NAME/);
  });

  it('prints only the selected columns in every format', async () => {
    const of = async (...words: string[]) => (await find('Nopa', '--city', 'SF', '-n1', ...words)).stdout;
    expect(await of('--columns', 'name,lat')).toBe('Nopa\t37.7749\n');
    expect(await of('--columns', 'name,lat', '--format', 'csv')).toBe('name,lat\nNopa,37.7749\n');
    expect(JSON.parse(await of('--columns', 'name,grade', '--json')).results).toEqual([
      { name: 'Nopa', grade: 'A' },
    ]);
    const wrong = await find('Nopa', '--city', 'SF', '--columns', 'nme');
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toMatch(/^error: there is no column 'nme'; valid: service_id, name/);
    expect(wrong.stderr).toContain('--columns name');
  });

  it('writes a file in the format of its extension, and overwrites a file only with --force', async () => {
    const file = join(service.home, 'out.csv');
    const first = await find('Nopa', '--city', 'SF', '-o', file);
    expect(first).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect(readFileSync(file, 'utf8')).toMatch(/^service_id,name,/);
    service.sent();
    const second = await find('Nopa', '--city', 'SF', '-o', file);
    expect(second.exit).toBe(2);
    expect(second.stderr).toMatch(/out.csv exists\nhint: add --force/);
    expect(service.sent()).toBe(0);
    writeFileSync(file, 'old');
    expect((await find('Nopa', '--city', 'SF', '-o', file, '--force', '--json')).exit).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8')).status).toBe('ok');
    expect((await find('Nopa', '--city', 'SF', '-o', join(service.home, 'no', 'out.csv'))).exit).toBe(9);
    expect(existsSync(join(service.home, 'no'))).toBe(false);
  });

  it('checks the whole command line before the first request', async () => {
    const missing = join(service.home, 'missing', 'x.json');
    service.sent();
    for (const [words, exit, message] of [
      [['--format', 'yaml'], 2, /--format 'yaml': expected one of table, list, json/],
      [
        ['--columns', 'nmae'],
        2,
        /no column 'nmae'.*\nhint: did you mean: restaurant find .* --columns name\n/,
      ],
      [['--columns', ''], 2, /--columns '' contains no column/],
      [['--columns', ' , '], 2, /--columns ' , ' contains no column/],
      [['-o', missing], 9, /the folder .*missing does not exist\nhint: mkdir -p /],
      [['-o', 'json'], 2, /expects a file, got the format 'json'\nhint: .*--json.*-o \.\/json/],
      [['-o', 'csv'], 2, /got the format 'csv'\nhint: .*--format csv/],
      [
        ['-o', 'out.pdf'],
        2,
        /unknown file extension '\.pdf' in out\.pdf\nhint: .*-o out\.pdf .*--format tsv/,
      ],
      [['--limit', '0'], 2, /--limit '0'/],
      [['--cuisine', ''], 2, /--cuisine ''/],
    ] as const) {
      const run = await find('Nopa', '--city', 'SF', ...words);
      expect({ words, exit: run.exit, stdout: run.stdout }).toEqual({ words, exit, stdout: '' });
      expect(run.stderr).toMatch(message);
    }
    const env = await service.run(['find', 'Nopa', '--city', 'SF'], { env: { RESTAURANT_FORMAT: 'yaml' } });
    expect(env.exit).toBe(2);
    expect(env.stderr).toMatch(/RESTAURANT_FORMAT 'yaml'.*\nhint: unset RESTAURANT_FORMAT/);
    expect(service.sent()).toBe(0);
  });

  it('accepts any file extension with --format', async () => {
    const file = join(service.home, 'out.ods');
    expect((await find('Nopa', '--city', 'SF', '-o', file, '--format', 'csv')).exit).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/^service_id,name,/);
  });

  it('requires a city, from an option, a variable or the config file', async () => {
    const none = await find('Nopa');
    expect(none.exit).toBe(2);
    expect(none.stderr).toMatch(/^error: find needs a city\nhint: .*--city/);
    const byVariable = await service.run(['find', 'Nopa'], { env: { RESTAURANT_CITY: 'SF' } });
    expect(byVariable.stdout).toContain('560 Divisadero');
    expect((await service.run(['config', 'set', 'city', 'SF'])).exit).toBe(0);
    expect((await find('Nopa')).stdout).toBe(byVariable.stdout);
    await service.run(['config', 'unset', 'city']);
  });

  it('sends the name byte for byte', async () => {
    const names = ['--spicy', 'a"b\'c\\', 'Café Zoë', '寿司🍣', 'line\nbreak', 'x'.repeat(10_000)];
    for (const name of names) {
      expect((await find('--city', 'SF', '--', name)).exit).toBe(0);
      const { body } = service.sandbox.requests.at(-1) ?? {};
      expect(body).toEqual({
        jsonrpc: '2.0',
        id: expect.any(Number),
        method: 'tools/call',
        params: { name: 'find_restaurant', arguments: { name, city: 'SF' } },
      });
    }
  });

  it('rejects an invalid limit', async () => {
    service.sent();
    for (const limit of ['0', '-3', '1.5', '1e3', 'NaN', '', '100000000000000000000', '1001']) {
      const { exit, stderr } = await find('x', '--city', 'SF', `--limit=${limit}`);
      expect(exit).toBe(2);
      expect(stderr).toContain(`--limit '${limit}': expected a whole number from 1 to 1000`);
    }
    expect(service.sent()).toBe(0);
  });

  it('sends one request', async () => {
    service.sent();
    await find('Nopa', '--city', 'SF');
    expect(service.sent()).toBe(1);
  });

  it('uses a cached response within --max-age', async () => {
    service.sent();
    const words = ['find', 'Nopa', '--city', 'NYC', '--max-age', '5m'];
    const first = await service.run(words);
    expect(service.sent()).toBe(1);
    expect(await service.run(words)).toEqual(first);
    expect(service.sent()).toBe(0);
    await service.run([...words, '--max-age', '0']);
    expect(service.sent()).toBe(1);
  });

  it('suggests --columns when --fields gets a column', async () => {
    const { exit, stderr } = await service.run(['find', 'Nopa', '--city', 'SF', '--fields', 'name']);
    expect([exit, stderr]).toEqual([
      2,
      expect.stringContaining('to choose columns: restaurant find Nopa --city SF --columns name; '),
    ]);
    const before = await service.run(['--fields', 'premium', 'lookup', '1']);
    expect(before.stderr).toContain('did you mean: restaurant lookup --fields premium 1');
  });

  it('reports an invalid setting even if the response is in the cache', async () => {
    const words = ['find', 'Nopa', '--city', 'NYC', '--max-age', '5m'];
    await service.run(words);
    expect((await service.run([...words, '--timeout', 'soon'])).exit).toBe(2);
    const { exit, stdout } = await service.run(['lookup', 'a1', 'b2', '--json', '--max-age', '0'], {
      env: { RESTAURANT_RETRIES: 'many' },
    });
    expect([exit, stdout]).toEqual([2, '']);
  });

  it('names an option that takes no value', async () => {
    const { exit, stderr } = await service.run(['find', 'Nopa', '--city', 'SF', '--quiet=1']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('error: --quiet takes no value\n')]);
  });

  it('prints no hint with a header or the password of a URL', async () => {
    for (const words of [
      ['find', 'x', '--city', 'SF', '--sort', 'distance', '--header=Cookie: session=hunter2'],
      ['find', 'x', '--city', 'SF', '--sort', 'distance', '-HX-Token: hunter2'],
      ['find', 'x', '--city', '', '--base-url', 'https://u:hunter2@h.example'],
    ]) {
      const { exit, stderr } = await service.run(words);
      expect([exit, stderr]).toEqual([2, expect.not.stringContaining('hunter2')]);
    }
  });
});
