import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { enrichInSandbox } from '../../helpers/enrich.ts';
import type { RunOptions } from '../../helpers/program.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { UNPACED } from '../../unit/enrich/service-data.ts';

let folder = '';
beforeEach(() => {
  folder = tempFolder();
  writeFileSync(path('in.csv'), `name,city\n${names.map((name) => `${name},Testville\n`).join('')}`);
});

const names = Array.from({ length: 12 }, (_each, index) => `Place ${index}`);
const path = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(path(name), 'utf8');
const statuses = (name: string): (string | undefined)[] =>
  read(name)
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[2]);

const enrich = (words: string, sandboxOptions: SandboxOptions = {}, options: RunOptions = {}) =>
  enrichInSandbox(folder, words, sandboxOptions, {
    ...options,
    env: { ...UNPACED, RESTAURANT_CACHE_DIR: tempFolder(), RESTAURANT_RETRIES: '0', ...options.env },
  });

/** Writes an output in which some rows failed. @returns the output of a run without failures */
async function failedRun(): Promise<string> {
  await enrich('--concurrency 1');
  const whole = read('out.csv');
  const lines = whole.split('\n');
  const failed = lines.map((line, index) =>
    index % 4 === 2 ? `${line.split(',').slice(0, 2).join(',')},error,,,,,,,,,,,,,,timeout: no answer` : line,
  );
  writeFileSync(path('out.csv'), failed.join('\n'));
  return whole;
}

describe('--retry-errors', () => {
  it('turns a run with failures into the result of a run without', async () => {
    const first = await enrich('--concurrency 1', { faults: [{ kind: '503', rate: 1, first: 3 }] });
    expect(first.exit).toBe(8);
    expect(statuses('out.csv').filter((status) => status === 'error')).toHaveLength(3);
    expect(first.stderr).toContain('error: 3 of 12 rows failed');
    expect(first.stderr).toMatch(
      /hint: retry them: restaurant enrich in\.csv -o out\.csv .*--resume --retry-errors\n/,
    );
    const plain = await enrich('--resume');
    expect([plain.exit, plain.requests]).toEqual([8, 0]);
    const retried = await enrich('--resume --retry-errors');
    expect([retried.exit, retried.requests]).toEqual([0, 3]);
    expect(statuses('out.csv')).toEqual(names.map(() => 'matched'));
    expect(existsSync(path('out.csv.retry'))).toBe(false);
  });

  it('leaves the output whole until all rows are written, and continues after a stop', async () => {
    const whole = await failedRun();
    const before = read('out.csv');
    const stopped = await enrich('--resume --retry-errors --concurrency 1', {
      faults: [{ kind: '401', rate: 1, first: 1 }],
    });
    expect(stopped.exit).toBe(4);
    expect(read('out.csv')).toBe(before);
    expect(read('out.csv.retry')).toBe(`${whole.split('\n').slice(0, 2).join('\n')}\n`);
    expect(stopped.stderr).toContain('--resume --retry-errors');
    const again = await enrich('--resume --retry-errors');
    expect([again.exit, again.requests]).toEqual([0, 3]);
    expect(read('out.csv')).toBe(whole);
  });

  it('keeps a response that the next run does not request', async () => {
    const whole = await failedRun();
    writeFileSync(path('out.csv.retry'), `${whole.split('\n').slice(0, 5).join('\n')}\nPla`);
    const { exit, requests } = await enrich('--resume');
    expect([exit, requests]).toEqual([8, 0]);
    expect(statuses('out.csv').map((status) => status === 'error')).toEqual(
      names.map((_name, index) => index % 4 === 1 && index > 3),
    );
  });

  it('starts again with --force', async () => {
    const whole = await failedRun();
    writeFileSync(path('out.csv.retry'), 'rubbish');
    expect((await enrich('--force')).exit).toBe(0);
    expect(read('out.csv')).toBe(whole);
    expect(existsSync(path('out.csv.retry'))).toBe(false);
  });
});

describe('a run that fails', () => {
  it('ends with 4 when the key is rejected during the run, and continues with another', async () => {
    const first = await enrich(
      '--concurrency 1',
      {},
      { env: { RESTAURANT_API_KEY: 'sk_service_demo_revoked' } },
    );
    expect([first.exit, first.requests]).toEqual([4, 1]);
    expect(first.stderr).toMatch(/hint: .*then continue: restaurant enrich in\.csv .*--resume\n/);
    const second = await enrich('--resume');
    expect([second.exit, second.requests]).toEqual([0, 12]);
  });

  it('ends with 4 when the fields require a paid key', async () => {
    const { exit, stderr } = await enrich(
      '--fields premium',
      {},
      { env: { RESTAURANT_API_KEY: 'sk_service_demo_free' } },
    );
    expect(exit).toBe(4);
    expect(stderr).toMatch(/^error: .*paid key/m);
  });

  it('stops after twenty failures in a row with the exit code of their cause', async () => {
    writeFileSync(
      path('in.csv'),
      `name,city\n${Array.from({ length: 60 }, (_each, n) => `Place ${n},Testville\n`).join('')}`,
    );
    const { exit, stderr, requests } = await enrich('', { faults: [{ kind: 'html', rate: 1 }] });
    expect(exit).toBe(7);
    expect(stderr).toMatch(/error: 20 consecutive rows failed: .*\nhint: .*--resume --retry-errors\n/);
    expect(statuses('out.csv')).toEqual(Array.from({ length: 20 }, () => 'error'));
    expect(requests).toBeLessThanOrEqual(24);
    expect((await enrich('--resume --retry-errors')).exit).toBe(0);
  });

  it('reports the failure as JSON with --progress json', async () => {
    const { exit, stderr, stdout } = await enrich(
      '--progress json',
      {},
      { env: { RESTAURANT_API_KEY: 'sk_service_demo_revoked' } },
    );
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([exit, stdout]).toEqual([4, '']);
    expect(lines.at(-1)).toMatchObject({
      error: { code: 'unauthorized', hint: expect.stringContaining('--resume') },
    });
  });
});
