import { chmodSync, existsSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clearAccount, clearResponses, openCache } from '../../../src/storage/cache.ts';
import { TestFolder } from '../../helpers/files.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const HOUR = 3_600_000;
const ACCOUNT = { endpoint: 'https://x.example/api/mcp', account: 'sk_service_a' };
const TOOL = 'find_restaurant';
const ARGS = { name: 'Ramen', city: 'Bern' };

type Cache = ReturnType<typeof openCache>;

/** A cache with a clock that the test sets, and the folder of its entries. */
function cacheAt(limits: { maxBytes?: number } = {}) {
  const clock = { now: Date.now() };
  const cacheDir = new TestFolder().at('cache/restaurant');
  const open = (account = ACCOUNT) => openCache({ cacheDir, now: () => clock.now, ...account, ...limits });
  const entries = new TestFolder(join(cacheDir, 'responses'));
  return { clock, cacheDir, entries, open, cache: open() };
}

/** Puts and gets the response to one call. */
const put = (cache: Cache, value: unknown, args: unknown = ARGS): void =>
  cache.put(TOOL, args, JSON.stringify(value));
const get = (cache: Cache, maxAgeMs = HOUR, args: unknown = ARGS) => cache.get(TOOL, args, maxAgeMs);

describe('openCache', () => {
  it('returns a response while it is young enough, and none of the future', () => {
    const { cache, clock, open } = cacheAt();
    const at = clock.now;
    const value = { results: [{ name: 'Rämen 🍜', n: 1.5 }], total_matches: 1 };
    const found = { value, text: JSON.stringify(value), at };
    expect(get(cache)).toBeUndefined();
    put(cache, value);
    for (const [age, maxAge, expected] of [
      [0, HOUR, found],
      [HOUR, HOUR, found],
      [HOUR + 1, HOUR, undefined],
      [HOUR + 1, 2 * HOUR, found],
      [0, 0, undefined],
      [-1, HOUR, undefined],
      [30 * 24 * HOUR + 1, 1000 * HOUR, undefined],
    ] as const) {
      clock.now = at + age;
      expect([age, get(open(), maxAge)]).toEqual([age, expected]);
    }
    put(cache, null);
    expect(get(cache)).toEqual({ value: null, text: 'null', at: clock.now });
  });

  it('distinguishes endpoints, accounts, tools, arguments, and forms of Unicode', () => {
    const { cache, open } = cacheAt();
    put(cache, 'mine');
    expect(get(open({ ...ACCOUNT, endpoint: 'https://y.example/api/mcp' }))).toBeUndefined();
    expect(get(open({ ...ACCOUNT, account: 'sk_service_b' }))).toBeUndefined();
    expect(cache.get('lookup_restaurant', ARGS, HOUR)).toBeUndefined();
    put(cache, 1, { name: 'caf\u00e9' });
    for (const other of [
      { name: 'Ramen', city: 'bern' },
      { name: 'Ramen', city: 'Bern', more: null },
      { name: 'Ramen' },
      [['name', 'Ramen']],
      { name: 'cafe\u0301' },
    ])
      expect(get(cache, HOUR, other)).toBeUndefined();
    expect(get(cache, HOUR, { city: 'Bern', name: 'Ramen' })?.value).toBe('mine');
  });

  it('finds a key in any order of its members', () => {
    const { cache } = cacheAt();
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, reversed(member)]),
      );
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (args, value) => {
        put(cache, value, args);
        expect(get(cache, HOUR, reversed(args))?.value).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 40 },
    );
  });

  it('is private and never contains the key', () => {
    const { cache, entries } = cacheAt();
    put(cache, 1);
    const [file = ''] = entries.list();
    expect(entries.modes('..', '.', file)).toEqual(['700', '700', '600']);
    expect(file + entries.read(file)).not.toContain('sk_service_a');
  });

  it('clears everything, or one account', () => {
    const { cache, cacheDir, entries, open } = cacheAt();
    for (let i = 0; i < 20; i += 1) put(cache, i, i);
    const other = open({ ...ACCOUNT, account: 'sk_service_b' });
    put(other, 'b');
    clearAccount(cacheDir, ACCOUNT.account);
    expect([get(cache, HOUR, 3), get(other)?.value]).toEqual([undefined, 'b']);
    expect([clearResponses(cacheDir), clearResponses(cacheDir)]).toEqual([1, 0]);
    expect(existsSync(entries.path)).toBe(false);
    put(cache, 1);
    expect(get(cache)?.value).toBe(1);
  });
});

describe('a damaged entry', () => {
  it.each<[string, (text: string) => string]>([
    ['cut', (text) => text.slice(0, -3)],
    ['another version', (text) => text.replace('"version":2', '"version":3')],
    ['another key', (text) => text.replace('Ramen', 'Sushi')],
    ['a time that is not a number', (text) => text.replace(/"at":\d+/, '"at":"x"')],
    ['without a value', (text) => text.replace('"value"', '"other"')],
  ])('%s: is a miss and is replaced', (_name, spoil) => {
    const { cache, entries } = cacheAt();
    put(cache, 1);
    const [file = ''] = entries.list();
    entries.write(file, spoil(entries.read(file)));
    expect(get(cache)).toBeUndefined();
    put(cache, 2);
    expect(get(cache)?.value).toBe(2);
  });
});

describe('a folder that cannot be used', () => {
  it.each([undefined, join(import.meta.filename, 'cache'), '/proc/restaurant'])(
    'stores nothing in %s and does not fail',
    (folder) => {
      const cache = openCache({ cacheDir: folder, now: () => 0, ...ACCOUNT });
      put(cache, 1);
      expect(get(cache)).toBeUndefined();
      expect(() => clearAccount(folder, ACCOUNT.account)).not.toThrow();
      expect(clearResponses(folder)).toBe(0);
    },
  );

  it('survives its removal while it is in use', () => {
    const { cache, cacheDir } = cacheAt();
    put(cache, 1);
    rmSync(cacheDir, { recursive: true });
    expect(get(cache)).toBeUndefined();
    put(cache, 2);
    expect(get(cache)?.value).toBe(2);
  });

  it('does not store responses to arguments that are nested too deep', () => {
    const { cache, entries } = cacheAt();
    let deep: unknown = 1;
    for (let i = 0; i < 50_000; i += 1) deep = [deep];
    put(cache, 1, deep);
    expect(get(cache, HOUR, deep)).toBeUndefined();
    expect(existsSync(entries.path)).toBe(false);
  });
});

describe('eviction', () => {
  it('counts a small entry as 13,000 bytes, and keeps the newest ones', () => {
    const { cache, clock, entries } = cacheAt({ maxBytes: 160 * 13_000 });
    for (let i = 0; i < 400; i += 1) {
      clock.now += 1000;
      put(cache, i, i);
    }
    const count = entries.list().length;
    expect([count > 80, count <= 170]).toEqual([true, true]);
    for (let i = 380; i < 400; i += 1) expect(get(cache, 24 * HOUR, i)?.value).toBe(i);
    expect(get(cache, 24 * HOUR, 0)).toBeUndefined();
  });

  it('keeps about the maximum size and rejects a response that exceeds it', () => {
    const { cache, clock, entries } = cacheAt({ maxBytes: 16 * 40_000 });
    for (let i = 0; i < 120; i += 1) {
      clock.now += 1000;
      put(cache, 'x'.repeat(15_000), i);
    }
    const bytes = entries.list().reduce((sum, name) => sum + statSync(entries.at(name)).size, 0);
    expect([bytes > 240_000, bytes <= 700_000]).toEqual([true, true]);
    put(cache, 'x'.repeat(40_000));
    expect(get(cache)).toBeUndefined();
  });

  it('deletes what is older than 30 days', () => {
    const { cache, clock, entries } = cacheAt({ maxBytes: 1000 * 13_000 });
    for (let i = 0; i < 60; i += 1) put(cache, i, i);
    const old = new Date(clock.now - 31 * 24 * HOUR);
    for (const name of entries.list()) utimesSync(entries.at(name), old, old);
    for (let i = 0; i < 100; i += 1) put(cache, i, `new${i}`);
    expect(entries.list()).toHaveLength(100);
  });
});

describe('several processes', () => {
  it('write the same entries concurrently and never read an incomplete one', async () => {
    const folder = new TestFolder();
    const worker = await bundleWorker(`import { openCache } from '../../../src/storage/cache.ts';
       const cache = openCache({ cacheDir: process.argv[2], endpoint: 'e', account: 'k', now: Date.now, maxBytes: 64 * 13_000 });
       let wrong = 0;
       let hits = 0;
       for (let i = 0; i < 150; i += 1) {
         const args = i % 50;
         const found = cache.get('t', args, 60_000);
         if (found) hits += 1;
         if (found && found.value !== String(args).repeat(500)) wrong += 1;
         cache.put('t', args, JSON.stringify(String(args).repeat(500)));
       }
       console.log(wrong, hits > 0);`);
    const children = Array.from({ length: 4 }, () => startWorker(worker, [folder.path]));
    for (const child of children)
      expect(await child.ended).toMatchObject({ exit: 0, stdout: '0 true\n', stderr: '' });
    expect(folder.list('responses').length).toBeLessThanOrEqual(70);
  });

  it.runIf(process.getuid?.() === 0)('still read a read-only cache', async () => {
    const { cacheDir, cache, entries } = cacheAt();
    put(cache, 'kept');
    const worker =
      await bundleWorker(`import { clearResponses, openCache } from '../../../src/storage/cache.ts';
       const cacheDir = process.argv[2];
       const cache = openCache({ cacheDir, now: Date.now, ...${JSON.stringify(ACCOUNT)} });
       cache.put('t', 1, '"new"');
       const cleared = (() => { try { return clearResponses(cacheDir); } catch (error) { return error.code; } })();
       const kept = cache.get('${TOOL}', ${JSON.stringify(ARGS)}, 60_000)?.value;
       console.log(kept, cache.get('t', 1, 60_000), cleared);`);
    for (const name of ['../../..', '../..', '..', '']) chmodSync(entries.at(name), 0o755);
    for (const name of entries.list()) chmodSync(entries.at(name), 0o644);
    const child = startWorker(worker, [cacheDir], { uid: 65534, gid: 65534 });
    expect(await child.ended).toMatchObject({ exit: 0, stdout: 'kept undefined io_error\n', stderr: '' });
  });
});
