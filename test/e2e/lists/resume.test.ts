import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useLists } from '../../helpers/enrich.ts';
import type { RunOptions } from '../../helpers/program.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const { service, path, read, write, ...lists } = useLists();
/** Each run has a separate cache, so that every row that is not in the output is requested. */
const enrich = (words: string, options: RunOptions = {}) =>
  lists.enrich(words, { ...options, env: { RESTAURANT_CACHE_DIR: tempFolder(), ...options.env } });

const CSV =
  'name,city,note\r\n"Place 1",Testville,"a\n""b"""\r\nTwin,Testville,\r\nnothing,Testville,é\r\nplace 1,Testville,x\r\n"Place 1",Testville,y\r\nPlace 2,Testville,\r\n';
const NDJSON =
  '{"name":"Place 1","city":"Testville"}\n{"name":"nothing","city":"Testville","é":"\\n"}\n{"name":"Place 1","city":"Testville"}\n';

describe('--resume', () => {
  it.each([
    ['CSV', 'out.csv', CSV, '', 5],
    ['CSV with lookups', 'out.csv', CSV, ' --fields standard --add tel=phone', 7],
    ['NDJSON', 'out.ndjson', NDJSON, ' --fields basic', 3],
  ])('continues after a cut with the printed command: %s', async (_name, output, text, options, queries) => {
    const input = output.replace('out', 'in');
    write(input, text);
    expect((await enrich(`${input} -o ${output}${options}`)).exit).toBe(0);
    expect(service.sent()).toBe(queries);
    const whole = read(output);
    for (const cut of [0, 5, ...[0.3, 0.6, 0.9].map((part) => Math.floor(part * whole.length))]) {
      write(output, whole.slice(0, cut));
      expect([cut, (await enrich(`${input} -o ${output}${options} --resume`)).exit]).toEqual([cut, 0]);
      expect(read(output)).toBe(whole);
      expect(service.sent()).toBeLessThanOrEqual(queries);
    }
    expect((await enrich(`${input} -o ${output}${options} --resume`)).exit).toBe(0);
    expect(service.sent()).toBe(0);
  });

  it('detects another input and other options, and leaves the output unchanged', async () => {
    write('in.csv', CSV);
    await enrich('in.csv -o out.csv');
    const whole = read('out.csv');
    for (const [text, options, difference] of [
      [CSV.replace('nothing', 'something'), '', 'line 5 of the input'],
      [CSV.replace('\r\nTwin,Testville,', ''), '', 'line 4 of the input'],
      [CSV.split('\r\n').slice(0, 3).join('\r\n'), '', 'it has more rows'],
      [CSV.replace('note', 'remark'), '', 'the header differs'],
      [`extra,${CSV.replaceAll('\r\n', '\r\nx,')}`, '', 'the header differs'],
      [CSV, ' --prefix x_', 'the header differs'],
      [CSV, ' --add a=b', 'the header differs'],
    ] as const) {
      write('in.csv', text);
      const { exit, stderr } = await enrich(`in.csv -o out.csv --resume${options}`);
      expect([exit, stderr]).toEqual([2, expect.stringContaining(difference)]);
      expect(stderr).toContain('out.csv does not match this input');
      expect(read('out.csv')).toBe(whole);
    }
    write('in.csv', CSV);
    write('out.csv', `${whole.split('\n').slice(0, 6).join('\n')}\nNoth`);
    const failed = await enrich('in.csv -o out.csv --resume');
    expect([failed.exit, failed.stderr]).toEqual([2, expect.stringContaining('the last line differs')]);
    const other = await enrich('in.csv -o out.csv --resume --fields basic');
    expect([other.exit, other.stderr]).toEqual([2, expect.stringContaining('was started with no --fields')]);
  });

  it('rejects another service and options that the output does not show, while those of the first run are stored', async () => {
    write('in.csv', 'name,town\nPlace 1,Testville\nPlace 2,Testville\n');
    await enrich('in.csv -o out.csv --city Testville --fields basic');
    const whole = read('out.csv');
    for (const [options, message] of [
      ['--city Elsewhere --fields basic', "--city 'Testville', and this run has --city 'Elsewhere'"],
      ['--city Testville --fields standard', "--fields 'basic', and this run has --fields 'standard'"],
      ['--fields basic', "--city 'Testville', and this run has no --city"],
      [
        '--city Testville --fields basic --base-url https://other.example/staging',
        "--base-url 'http://127.0.0.1', and this run has --base-url 'https://other.example/staging'",
      ],
    ]) {
      const { exit, stderr } = await enrich(`in.csv -o out.csv --resume ${options}`);
      expect([exit, stderr]).toEqual([
        2,
        expect.stringContaining(`out.csv was started with ${message}\nhint: `),
      ]);
      expect(stderr).toMatch(/^error: .*\nhint: .*start again: restaurant enrich in\.csv .*--force\n$/);
    }
    expect(read('out.csv')).toBe(whole);
    const same = '--name-column name --city Testville --fields basic';
    expect((await enrich(`in.csv -o out.csv --resume ${same}`)).exit).toBe(0);
    // The stored options are only a hint: another file of that name and a deleted state are accepted.
    rmSync(path('out.csv'));
    write('out.csv', whole);
    expect((await enrich('in.csv -o out.csv --resume --city Elsewhere --fields basic')).exit).toBe(0);
    const env = { RESTAURANT_STATE_DIR: path('other-state') };
    const { exit } = await enrich('in.csv -o out.csv --resume --city Testville --fields basic', { env });
    expect(exit).toBe(0);
  });

  it.each([
    ['in.csv', CSV, ['precious', 'precious\n', 'name,city,note,restaurant_status\n', 'name,city\nx,y\n']],
    ['in.ndjson', NDJSON, ['{"precious":1}\n', 'prec']],
  ])('rejects a file that is not an output: %s', async (input, list, texts) => {
    write(input, list);
    const output = input.replace('in', 'out');
    for (const text of texts) {
      write(output, text);
      expect((await enrich(`${input} -o ${output} --resume`)).exit).toBe(2);
      expect(read(output)).toBe(text);
    }
  });

  it('removes zero bytes that a power failure left', async () => {
    write('in.csv', CSV);
    await enrich('in.csv -o out.csv');
    const whole = read('out.csv');
    for (const cut of [10, whole.length - 30, whole.length]) {
      write('out.csv', whole.slice(0, cut) + '\0'.repeat(500));
      expect((await enrich('in.csv -o out.csv --resume')).exit).toBe(0);
      expect(read('out.csv')).toBe(whole);
    }
  });

  it('continues with rows that were appended to the input', async () => {
    write('in.csv', CSV);
    await enrich('in.csv -o out.csv');
    write('in.csv', `${CSV}Place 3,Testville,\r\n`);
    service.sent();
    expect((await enrich('in.csv -o out.csv --resume')).exit).toBe(0);
    expect(service.sent()).toBe(1);
    expect(read('out.csv')).toContain('\nPlace 3,Testville,,matched,exact,');
  });

  it('reads stdin again from its beginning', async () => {
    const lines = CSV.split('\r\n');
    await enrich('- -o out.csv', { stdin: CSV });
    const whole = read('out.csv');
    rmSync(path('out.csv'));
    await enrich('- -o out.csv', { stdin: lines.slice(0, 4).join('\r\n') });
    service.sent();
    expect((await enrich('- -o out.csv --resume', { stdin: CSV })).exit).toBe(0);
    expect(read('out.csv')).toBe(whole);
    expect(service.sent()).toBe(3);
  });
});

it('responses of a stopped run come from the cache, regardless of their age', async () => {
  write('in.csv', CSV);
  const env = { RESTAURANT_CACHE_DIR: path('cache'), RESTAURANT_MAX_AGE: '0' };
  service.sent();
  await enrich('in.csv -o out.csv', { env });
  const whole = read('out.csv');
  expect(service.sent()).toBe(5);
  // Only the header is left, as if the run was killed before it wrote a row.
  write('out.csv', whole.slice(0, whole.indexOf('\n') + 1));
  // Also in a slow run, which uses a response that is older than the age of the run at its restart.
  let late = 0;
  const now = () => {
    late += 60_000;
    return Date.now() + late;
  };
  await enrich('in.csv -o out.csv --resume', { env, now });
  expect(read('out.csv')).toBe(whole);
  expect(service.sent()).toBe(0);
  await enrich('in.csv -o other.csv', { env });
  expect(service.sent()).toBe(5);
  expect(existsSync(path('out.csv.lock'))).toBe(false);
});
