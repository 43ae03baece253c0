import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cache, type CacheKey, hashKey, openCache } from '../../../src/storage/cache.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const HOUR = 3_600_000;
const KEY: CacheKey = {
  endpoint: 'https://x.example/api/mcp',
  keyHash: hashKey('sk_service_a'),
  tool: 'find_restaurant',
  args: { name: 'Ramen', city: 'Bern' },
};

/** A cache with a clock that the test sets. */
function cacheAt(limits: { maxEntries?: number; maxBytes?: number } = {}) {
  const clock = { now: Date.now() };
  const folder = join(tempFolder(), 'cache/restaurant');
  const open = () => openCache({ cacheDir: folder, now: () => clock.now, ...limits });
  return { clock, folder, open, cache: open() };
}

/** Paths of all files of the cache. */
function filesOf(cache: Cache): string[] {
  const root = cache.path ?? '';
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('openCache', () => {
  it('returns a response while it is young enough', () => {
    const { cache, clock, open } = cacheAt();
    const at = clock.now;
    const value = { results: [{ name: 'Rämen 🍜', n: 1.5 }], total_matches: 1 };
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    cache.put(KEY, value);
    expect(open().get(KEY, HOUR)).toEqual({ value, at });
    clock.now += HOUR;
    expect(cache.get(KEY, HOUR)).toEqual({ value, at });
    clock.now += 1;
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    expect(cache.get(KEY, 2 * HOUR)).toEqual({ value, at });
    expect(cache.get(KEY, 0)).toBeUndefined();
    cache.put(KEY, null);
    expect(cache.get(KEY, HOUR)).toEqual({ value: null, at: clock.now });
  });

  it('ignores responses from the future and those older than 30 days', () => {
    const { cache, clock } = cacheAt();
    cache.put(KEY, 1);
    clock.now -= 1;
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    clock.now += 30 * 24 * HOUR + 2;
    expect(cache.get(KEY, 1000 * HOUR)).toBeUndefined();
  });

  it('distinguishes endpoints, accounts, tools and arguments', () => {
    const { cache } = cacheAt();
    cache.put(KEY, 'mine');
    const others: CacheKey[] = [
      { ...KEY, endpoint: 'https://y.example/api/mcp' },
      { ...KEY, keyHash: hashKey('sk_service_b') },
      { ...KEY, tool: 'lookup_restaurant' },
      { ...KEY, args: { name: 'Ramen', city: 'bern' } },
      { ...KEY, args: { name: 'Ramen', city: 'Bern', more: null } },
      { ...KEY, args: { name: 'Ramen' } },
      { ...KEY, args: [['name', 'Ramen']] },
    ];
    for (const other of others) expect(cache.get(other, HOUR)).toBeUndefined();
    expect(cache.get({ ...KEY, args: { city: 'Bern', name: 'Ramen' } }, HOUR)?.value).toBe('mine');
  });

  it('distinguishes composed and decomposed Unicode', () => {
    const { cache } = cacheAt();
    cache.put({ ...KEY, args: { name: 'caf\u00e9' } }, 1);
    expect(cache.get({ ...KEY, args: { name: 'cafe\u0301' } }, HOUR)).toBeUndefined();
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
        cache.put({ ...KEY, args }, value);
        expect(cache.get({ ...KEY, args: reversed(args) }, HOUR)?.value).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('is private and never contains the key', () => {
    const { cache, folder } = cacheAt();
    cache.put(KEY, 1);
    const [file = ''] = filesOf(cache);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const path of [folder, cache.path ?? '', join(file, '..')])
      expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(file + readFileSync(file, 'utf8')).not.toContain('sk_service_a');
  });

  it('clears everything, or one account', () => {
    const { cache } = cacheAt();
    for (let i = 0; i < 20; i += 1) cache.put({ ...KEY, args: i }, i);
    const other = { ...KEY, keyHash: hashKey('sk_service_b') };
    cache.put(other, 'b');
    expect(cache.clearFor(KEY.keyHash)).toBe(20);
    expect(cache.get({ ...KEY, args: 3 }, HOUR)).toBeUndefined();
    expect(cache.get(other, HOUR)?.value).toBe('b');
    expect(cache.clear()).toBe(1);
    expect(cache.clear()).toBe(0);
    expect(existsSync(cache.path ?? '')).toBe(false);
    cache.put(KEY, 1);
    expect(cache.get(KEY, HOUR)?.value).toBe(1);
  });
});

describe('a damaged entry', () => {
  it.each<[string, (text: string) => string]>([
    ['empty', () => ''],
    ['cut', (text) => text.slice(0, -3)],
    ['garbage', () => '\u0000\u0001\ufffd'],
    ['null', () => 'null'],
    ['another version', (text) => text.replace('"version":2', '"version":3')],
    ['another key', (text) => text.replace('Ramen', 'Sushi')],
    ['a time that is not a number', (text) => text.replace(/"at":\d+/, '"at":"x"')],
    ['without a value', (text) => text.replace('"value"', '"other"')],
  ])('%s: is a miss and is replaced', (_name, spoil) => {
    const { cache } = cacheAt();
    cache.put(KEY, 1);
    const [file = ''] = filesOf(cache);
    writeFileSync(file, spoil(readFileSync(file, 'utf8')));
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    cache.put(KEY, 2);
    expect(cache.get(KEY, HOUR)?.value).toBe(2);
  });

  it('is a miss when it is enormous or a folder', () => {
    const { cache } = cacheAt();
    cache.put(KEY, 1);
    const [file = ''] = filesOf(cache);
    truncateSync(file, 1024 ** 4);
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    rmSync(file);
    mkdirSync(file);
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    expect(() => cache.put(KEY, 1)).not.toThrow();
  });
});

describe('a folder that cannot be used', () => {
  it.each([
    ['unknown', () => undefined],
    [
      'below a file',
      () => {
        const file = join(tempFolder(), 'file');
        writeFileSync(file, '');
        return join(file, 'cache');
      },
    ],
    ['of the kernel', () => '/proc/restaurant'],
  ])('%s: stores nothing and does not fail', (_name, folder) => {
    const cache = openCache({ cacheDir: folder(), now: () => 0 });
    cache.put(KEY, 1);
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    expect(cache.clearFor(KEY.keyHash)).toBe(0);
    expect(cache.clear()).toBe(0);
  });

  it('survives its removal while it is in use', () => {
    const { cache, folder } = cacheAt();
    cache.put(KEY, 1);
    rmSync(folder, { recursive: true });
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    cache.put(KEY, 2);
    expect(cache.get(KEY, HOUR)?.value).toBe(2);
  });

  it('does not store values that are not JSON or nested too deep', () => {
    const { cache } = cacheAt();
    let deep: unknown = 1;
    for (let i = 0; i < 50_000; i += 1) deep = [deep];
    for (const value of [undefined, 1n, deep, () => 1]) cache.put(KEY, value);
    cache.put({ ...KEY, args: deep }, 1);
    expect(cache.get({ ...KEY, args: deep }, HOUR)).toBeUndefined();
    expect(cache.get(KEY, HOUR)).toBeUndefined();
    expect(filesOf(cache)).toEqual([]);
  });
});

describe('eviction', () => {
  it('keeps about the maximum number of entries, including the newest', () => {
    const { cache, clock } = cacheAt({ maxEntries: 160 });
    for (let i = 0; i < 400; i += 1) {
      clock.now += 1000;
      cache.put({ ...KEY, args: i }, i);
    }
    const count = filesOf(cache).length;
    expect(count).toBeLessThanOrEqual(170);
    expect(count).toBeGreaterThan(80);
    for (let i = 380; i < 400; i += 1) expect(cache.get({ ...KEY, args: i }, 24 * HOUR)?.value).toBe(i);
    expect(cache.get({ ...KEY, args: 0 }, 24 * HOUR)).toBeUndefined();
  });

  it('keeps about the maximum size and rejects a response that exceeds it', () => {
    const { cache, clock } = cacheAt({ maxBytes: 16 * 10_000 });
    for (let i = 0; i < 120; i += 1) {
      clock.now += 1000;
      cache.put({ ...KEY, args: i }, 'x'.repeat(3000));
    }
    const bytes = filesOf(cache).reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThanOrEqual(175_000);
    expect(bytes).toBeGreaterThan(60_000);
    cache.put(KEY, 'x'.repeat(10_000));
    expect(cache.get(KEY, HOUR)).toBeUndefined();
  });

  it('deletes what is older than 30 days', () => {
    const { cache, clock } = cacheAt({ maxEntries: 1000 });
    for (let i = 0; i < 60; i += 1) cache.put({ ...KEY, args: i }, i);
    const old = new Date(clock.now - 31 * 24 * HOUR);
    for (const file of filesOf(cache)) utimesSync(file, old, old);
    for (let i = 0; i < 100; i += 1) cache.put({ ...KEY, args: `new${i}` }, i);
    expect(filesOf(cache).length).toBe(100);
  });
});

describe('several processes', () => {
  it('write the same entries concurrently and never read an incomplete one', async () => {
    const folder = tempFolder();
    const worker = await bundleWorker(
      tempFolder(),
      `import { openCache } from '../../../src/storage/cache.ts';
       const cache = openCache({ cacheDir: process.argv[2], now: Date.now, maxEntries: 64 });
       let wrong = 0;
       let hits = 0;
       for (let i = 0; i < 150; i += 1) {
         const args = i % 50;
         const found = cache.get({ endpoint: 'e', keyHash: 'k', tool: 't', args }, 60_000);
         if (found) hits += 1;
         if (found && found.value !== String(args).repeat(500)) wrong += 1;
         cache.put({ endpoint: 'e', keyHash: 'k', tool: 't', args }, String(args).repeat(500));
       }
       console.log(wrong, hits > 0);`,
    );
    const children = Array.from({ length: 4 }, () => startWorker(worker, [folder]));
    for (const child of children)
      expect(await child.ended).toMatchObject({ exit: 0, stdout: '0 true\n', stderr: '' });
    const cache = openCache({ cacheDir: folder, now: Date.now });
    expect(filesOf(cache).length).toBeLessThanOrEqual(70);
  });

  it.runIf(process.getuid?.() === 0)('a read-only cache still answers', async () => {
    const folder = tempFolder();
    const cache = openCache({ cacheDir: folder, now: Date.now });
    cache.put(KEY, 'kept');
    const worker = await bundleWorker(
      tempFolder(),
      `import { openCache } from '../../../src/storage/cache.ts';
       const cache = openCache({ cacheDir: process.argv[2], now: Date.now });
       const key = ${JSON.stringify(KEY)};
       cache.put({ ...key, args: 1 }, 'new');
       const cleared = (() => { try { return cache.clear(); } catch (error) { return error.code; } })();
       console.log(cache.get(key, 60_000)?.value, cache.get({ ...key, args: 1 }, 60_000), cleared);`,
    );
    for (const path of [
      folder,
      cache.path ?? '',
      ...filesOf(cache).map((file) => join(file, '..')),
      join(worker, '..'),
    ]) {
      chmodSync(path, 0o755);
    }
    for (const file of filesOf(cache)) chmodSync(file, 0o644);
    const child = startWorker(worker, [folder], { uid: 65534, gid: 65534 });
    expect(await child.ended).toMatchObject({ exit: 0, stdout: 'kept undefined io_error\n', stderr: '' });
  });
});
