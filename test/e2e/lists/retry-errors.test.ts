import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { enrichInSandbox, listOf, UNPACED, useFolder } from '../../helpers/enrich.ts';
import { FREE } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const { path, read, write } = useFolder();
beforeEach(() => {
  write('in.csv', listOf(12));
});

const statuses = () =>
  read('out.csv')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[2]);

const enrich = (words: string, sandboxOptions: SandboxOptions = {}, env = {}) =>
  enrichInSandbox(path(''), words, sandboxOptions, {
    env: { ...UNPACED, RESTAURANT_CACHE_DIR: tempFolder(), RESTAURANT_RETRIES: '0', ...env },
  });

/** Writes an output in which some rows failed. @returns the output of a run without failures */
async function failedRun(): Promise<string> {
  await enrich('--concurrency 1');
  const whole = read('out.csv');
  const lines = whole.split('\n');
  const failed = lines.map((line, index) =>
    index % 4 === 2 ? `${line.split(',').slice(0, 2).join(',')},error,,,,,,,,,,,,,,timeout: no answer` : line,
  );
  write('out.csv', failed.join('\n'));
  return whole;
}

describe('--retry-errors', () => {
  it('turns a run with failures into the result of a run without', async () => {
    const first = await enrich('--concurrency 1', { faults: [{ kind: '503', rate: 1, first: 3 }] });
    expect(first.exit).toBe(8);
    expect(statuses().filter((status) => status === 'error')).toHaveLength(3);
    expect(first.stderr).toContain('error: 3 of 12 rows failed');
    expect(first.stderr).toMatch(
      /hint: retry them: restaurant enrich in\.csv -o out\.csv .*--resume --retry-errors\n/,
    );
    const plain = await enrich('--resume');
    expect([plain.exit, plain.requests]).toEqual([8, 0]);
    const retried = await enrich('--resume --retry-errors');
    expect([retried.exit, retried.requests]).toEqual([0, 3]);
    expect(statuses()).toEqual(Array(12).fill('matched'));
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
    write('out.csv.retry', `${whole.split('\n').slice(0, 5).join('\n')}\nPla`);
    const { exit, requests } = await enrich('--resume');
    expect([exit, requests]).toEqual([8, 0]);
    expect(statuses().map((status) => status === 'error')).toEqual(
      Array.from({ length: 12 }, (_each, index) => index % 4 === 1 && index > 3),
    );
  });

  it('starts again with --force', async () => {
    const whole = await failedRun();
    write('out.csv.retry', 'rubbish');
    expect((await enrich('--force')).exit).toBe(0);
    expect(read('out.csv')).toBe(whole);
    expect(existsSync(path('out.csv.retry'))).toBe(false);
  });
});

describe('a run that fails', () => {
  it('ends with 4 when the fields require a paid key', async () => {
    const { exit, stderr } = await enrich('--fields premium', {}, { RESTAURANT_API_KEY: FREE });
    expect([exit, stderr]).toEqual([4, expect.stringMatching(/^error: .*paid key/m)]);
  });

  it('stops after twenty failures in a row with the exit code of their cause', async () => {
    write('in.csv', listOf(60));
    const { exit, stderr, requests } = await enrich('', { faults: [{ kind: 'html', rate: 1 }] });
    expect(exit).toBe(7);
    expect(stderr).toMatch(/error: 20 consecutive rows failed: .*\nhint: .*--resume --retry-errors\n/);
    expect(statuses()).toEqual(Array(20).fill('error'));
    expect(requests).toBeLessThanOrEqual(24);
    expect((await enrich('--resume --retry-errors')).exit).toBe(0);
  });
});
