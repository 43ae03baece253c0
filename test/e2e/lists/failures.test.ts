import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { enrichInSandbox, listOf, table, UNPACED, useFolder } from '../../helpers/enrich.ts';
import { FREE } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const { path, read, write } = useFolder();
beforeEach(() => {
  write('in.csv', listOf(12));
});

const statuses = () => table(read('out.csv')).map((row) => row.restaurant_status);

const enrich = (words: string, sandboxOptions: SandboxOptions = {}, env = {}) =>
  enrichInSandbox(path(''), words, sandboxOptions, {
    env: { ...UNPACED, RESTAURANT_CACHE_DIR: tempFolder(), RESTAURANT_RETRIES: '0', ...env },
  });

describe('a row that fails', () => {
  it('is an error in the views of this run, and due in the next', async () => {
    const first = await enrich('', { faults: [{ kind: '503', rate: 1, first: 3 }] });
    expect(first.exit).toBe(8);
    expect(statuses().filter((status) => status === 'error')).toHaveLength(3);
    expect(first.stderr).toContain('error: 3 of 12 rows failed: http_error: ');
    expect(first.stderr).toMatch(/hint: ask for them again: restaurant enrich in\.csv -o out\.csv\n/);
    const again = await enrich('');
    expect([again.exit, again.requests]).toEqual([0, 3]);
    expect(statuses()).toEqual(Array(12).fill('matched'));
    expect(read('out.csv')).not.toContain('http_error');
  });

  it('keeps an older answer, and is due until it is answered', async () => {
    await enrich('');
    const whole = read('out.csv');
    const failed = await enrich('--older 0s --json', { faults: [{ kind: '503', rate: 1, first: 3 }] });
    expect([failed.exit, failed.requests]).toEqual([8, 12]);
    expect(JSON.parse(failed.stdout)).toMatchObject({ matched: 12, errors: 3, pending: 0, finished: true });
    expect(statuses()).toEqual(Array(12).fill('matched'));
    expect(table(read('out.csv')).filter((row) => row.restaurant_error !== '')).toHaveLength(3);
    const none = await enrich('');
    expect([none.exit, none.requests, read('out.csv')]).toEqual([0, 0, whole]);
  });

  it('keeps its verdict without details, which are due', async () => {
    await enrich('');
    const failed = await enrich('--fields basic', { faults: [{ kind: '503', rate: 1, first: 2 }] });
    expect([failed.exit, failed.requests]).toEqual([8, 12]);
    expect(statuses()).toEqual(Array(12).fill('matched'));
    expect(table(read('out.csv')).filter((row) => row.restaurant_details === '')).toHaveLength(2);
    const again = await enrich('--fields basic');
    expect([again.exit, again.requests]).toEqual([0, 2]);
    expect(read('out.csv')).not.toContain(',,matched');
  });

  it('that was never answered is pending in a later view', async () => {
    await enrich('', { faults: [{ kind: '503', rate: 1 }] });
    expect(statuses()).toEqual(Array(12).fill('error'));
    expect((await enrich('--offline')).exit).toBe(6);
    expect(statuses()).toEqual(Array(12).fill('pending'));
  });
});

describe('a run that fails', () => {
  it('ends with 4 when the fields require a paid key, and keeps the matches', async () => {
    const { exit, stderr } = await enrich('--fields premium', {}, { RESTAURANT_API_KEY: FREE });
    expect([exit, stderr]).toEqual([4, expect.stringMatching(/^error: .*paid key/m)]);
    expect(statuses()).toContain('matched');
  });

  it('writes no view if its first request is refused', async () => {
    const { exit, stderr } = await enrich('', { faults: [{ kind: '401', rate: 1 }] });
    expect([exit, stderr]).toEqual([4, expect.stringMatching(/\nerror: .*401/)]);
  });

  it('stops after twenty failures in a row with the exit code of their cause', async () => {
    write('in.csv', listOf(60));
    const { exit, stderr, requests } = await enrich('', { faults: [{ kind: 'html', rate: 1 }] });
    expect(exit).toBe(7);
    expect(stderr).toMatch(
      /error: 20 consecutive requests failed: .*\nhint: .*restaurant enrich in\.csv -o out\.csv\n/,
    );
    expect(statuses().filter((status) => status === 'error').length).toBeGreaterThanOrEqual(16);
    expect(requests).toBeLessThanOrEqual(24);
    expect((await enrich('')).exit).toBe(0);
  });
});
