import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Ledger, openLedger } from '../../../src/storage/ledger.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const START = 1_700_000_000_000;
const SECOND = 1000;
const MINUTE = 60_500;
const DAY = 86_400_000;

/** A state folder with a clock that the test sets. */
function world(stateDir: string | undefined = tempFolder()) {
  const clock = { now: START };
  const warnings: string[] = [];
  const open = (
    perMinute = 3,
    perDay = 0,
    { key = 'sk_service_a', endpoint = 'https://x.example/api/mcp' } = {},
  ) =>
    openLedger({
      stateDir,
      key,
      endpoint,
      now: () => clock.now,
      perMinute,
      perDay,
      warn: (message) => warnings.push(message),
    });
  return { clock, warnings, open, folder: join(stateDir ?? '', 'ledger') };
}

async function repeat(times: number, run: () => Promise<void>): Promise<void> {
  for (let i = 0; i < times; i += 1) await run();
}

/** Opens a ledger whose clock jumps by ten seconds after it was read twice. */
function openSlow(stateDir: string, perMinute: number) {
  const times = [START, START];
  const now = () => times.shift() ?? START + 10 * SECOND;
  const key = 'sk_service_a';
  return openLedger({ stateDir, key, endpoint: 'https://x.example/api/mcp', now, perMinute, perDay: 0 });
}

/** Returns the time of the fastest run in milliseconds: on a busy machine, the others take longer. */
async function fastestMs(times: number, run: () => Promise<unknown>): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  await repeat(times, async () => {
    const start = performance.now();
    await run();
    fastest = Math.min(fastest, performance.now() - start);
  });
  return fastest;
}

/** Returns how many of `tries` requests are granted. */
async function granted(ledger: Ledger, tries: number): Promise<number> {
  let count = 0;
  await repeat(tries, async () => {
    if ((await ledger.grant()).granted) count += 1;
  });
  return count;
}

async function usedNow(ledger: Ledger): Promise<number> {
  return (await ledger.usage()).perMinute.used;
}

/** Returns the path of the only ledger file. */
function onlyFile(folder: string): string {
  const names = readdirSync(folder).filter((name) => !name.endsWith('.lock'));
  expect(names).toHaveLength(1);
  return join(folder, names[0] ?? '');
}

describe('openLedger', () => {
  it('counts recorded requests, also over the limit, and returns when the next is allowed', async () => {
    const { clock, open } = world();
    const ledger = open(3, 5);
    expect(await ledger.usage()).toEqual({ perMinute: { limit: 3, used: 0 }, perDay: { limit: 5, used: 0 } });
    await repeat(2, () => ledger.record());
    expect(await ledger.usage()).toEqual({ perMinute: { limit: 3, used: 2 }, perDay: { limit: 5, used: 2 } });
    clock.now += SECOND;
    await repeat(4, () => ledger.record());
    expect(await open(3, 5).usage()).toEqual({
      perMinute: { limit: 3, used: 6, freeAt: START + SECOND + MINUTE },
      perDay: { limit: 5, used: 6, freeAt: START + DAY },
    });
  });

  it('grants requests up to the shared limit, and more when the oldest is a minute old', async () => {
    const { clock, open } = world();
    const [one, two] = [open(), open()];
    expect(await one.grant()).toEqual({ granted: true });
    clock.now += 10 * SECOND;
    expect(await two.grant()).toEqual({ granted: true });
    await one.record();
    const denied = { granted: false, freeAt: START + MINUTE, window: 'minute' };
    expect(await one.grant()).toEqual(denied);
    expect(await two.grant()).toEqual(denied);
    clock.now = START + MINUTE - 1;
    expect((await two.grant()).granted).toBe(false);
    clock.now += 1;
    expect(await two.grant()).toEqual({ granted: true });
    expect(await one.grant()).toEqual({
      granted: false,
      freeAt: START + 10 * SECOND + MINUTE,
      window: 'minute',
    });
    expect(await usedNow(one)).toBe(3);
  });

  it('does not count denied requests', async () => {
    const { clock, open } = world();
    const ledger = open(1);
    expect(await granted(ledger, 50)).toBe(1);
    expect(await usedNow(ledger)).toBe(1);
    clock.now += MINUTE;
    expect(await granted(ledger, 50)).toBe(1);
  });

  it('returns the full window with the longer wait', async () => {
    const { open } = world();
    const ledger = open(2, 2);
    expect(await granted(ledger, 2)).toBe(2);
    expect(await ledger.grant()).toEqual({ granted: false, freeAt: START + DAY, window: 'day' });
  });

  it('counts the requests of yesterday after midnight', async () => {
    const { clock, open, folder } = world();
    clock.now = Date.parse('2026-03-01T23:59:50Z');
    const ledger = open(3, 4);
    expect(await granted(ledger, 2)).toBe(2);
    clock.now += 20 * SECOND;
    expect(await granted(ledger, 9)).toBe(1);
    expect(await granted(open(0, 4), 9)).toBe(1);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('keeps the newest seven days of a key', async () => {
    const { clock, open, folder } = world();
    await open(3, 0, { key: 'sk_service_b' }).record();
    const other = onlyFile(folder);
    for (let day = 0; day < 20; day += 1) {
      clock.now += DAY;
      await open().record();
    }
    const days = readdirSync(folder).filter((name) => join(folder, name) !== other);
    expect([days.length, existsSync(other)]).toEqual([8, true]);
    expect(days.sort().at(-1)).toMatch(/\.2023-12-04$/);
  });

  it('still counts today after the clock was nine days ahead for a while', async () => {
    const { clock, open } = world();
    const other = { key: 'sk_service_b' };
    await repeat(3, () => open().record());
    await repeat(3, () => open(3, 0, other).record());
    // The time of the files is that of the machine.
    vi.useFakeTimers({ now: Date.now() + 9 * DAY, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    clock.now += 9 * DAY;
    await open().record();
    vi.useRealTimers();
    clock.now = START;
    expect((await open().grant()).granted).toBe(false);
    expect((await open(3, 0, other).grant()).granted).toBe(false);
  });

  it('has no limit at 0', async () => {
    const { open } = world();
    const ledger = open(0, 0);
    expect(await granted(ledger, 300)).toBe(300);
    expect(await ledger.usage()).toEqual({
      perMinute: { limit: 0, used: 300 },
      perDay: { limit: 0, used: 300 },
    });
    expect((await open(300).grant()).granted).toBe(false);
  });

  it('applies separate limits for each process', async () => {
    const { open } = world();
    expect(await granted(open(5), 9)).toBe(5);
    expect(await granted(open(3), 9)).toBe(0);
    expect(await granted(open(8), 9)).toBe(3);
  });

  it('separates keys and endpoints and stores neither', async () => {
    const { open, folder } = world();
    await open(1).record();
    expect(await usedNow(open(1, 0, { key: 'sk_service_b' }))).toBe(0);
    expect(await usedNow(open(1, 0, { endpoint: 'https://y.example/' }))).toBe(0);
    const file = onlyFile(folder);
    expect(file).toMatch(/\/[0-9a-f]{64}\.2023-11-14$/);
    expect(readFileSync(file, 'latin1')).not.toMatch(/sk_|example/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('creates nothing until a request is counted', async () => {
    const { open, folder } = world();
    await open().usage();
    expect(existsSync(folder)).toBe(false);
  });

  it('grants no request during a pause that the service requested', async () => {
    const { clock, open } = world();
    await open().pauseUntil(START + 30 * SECOND);
    await open().pauseUntil(START + 5 * SECOND);
    const other = open(0, 0);
    expect(await other.grant()).toEqual({ granted: false, freeAt: START + 30 * SECOND, window: 'pause' });
    expect((await other.usage()).pausedUntil).toBe(START + 30 * SECOND);
    clock.now += 30 * SECOND;
    expect(await other.grant()).toEqual({ granted: true });
    expect((await other.usage()).pausedUntil).toBeUndefined();
  });

  it('keeps a pause beyond midnight, also after a shorter one', async () => {
    const { clock, open } = world();
    clock.now = Date.parse('2026-03-01T23:59:50Z');
    const end = clock.now + 60 * SECOND;
    await open().pauseUntil(end);
    await open().pauseUntil(end - 55 * SECOND);
    expect(await open().grant()).toEqual({ granted: false, freeAt: end, window: 'pause' });
    clock.now = end - 1;
    expect(await open(0, 0).grant()).toEqual({ granted: false, freeAt: end, window: 'pause' });
    clock.now = end;
    expect(await open().grant()).toEqual({ granted: true });
  });

  it('pauses for at most a day, and never until a past time', async () => {
    const { open, folder } = world();
    await open().pauseUntil(START - 1);
    expect(existsSync(folder)).toBe(false);
    await open().pauseUntil(START + 1000 * DAY);
    expect((await open().usage()).pausedUntil).toBe(START + DAY);
  });

  it('counts a request in much less than a millisecond', async () => {
    const { open } = world();
    const ledger = open();
    expect(await fastestMs(500, () => ledger.record())).toBeLessThan(0.5);
  });

  it('grants a request among two thousand in a few milliseconds', async () => {
    const { open } = world();
    const ledger = open(0, 3000);
    await repeat(2000, () => ledger.record());
    expect(await fastestMs(100, () => ledger.grant())).toBeLessThan(15);
  });

  it('grants no more than the limit after a million requests today, of which it reads only the last', async () => {
    const { open, folder } = world();
    await open().record();
    const earlier = Buffer.from(`\n${START - 10 * MINUTE}`.repeat(1_000_000));
    writeFileSync(onlyFile(folder), earlier);
    const [one, two] = [open(2), open(2)];
    expect(await one.grant()).toEqual({ granted: true });
    expect(await two.grant()).toEqual({ granted: true });
    expect((await one.grant()).granted).toBe(false);
    expect((await one.usage()).perDay.used).toBeLessThan(300_000);
    expect(statSync(onlyFile(folder)).size).toBe(earlier.length + 2 * `\n${START}`.length);
  });
});

describe('a clock that jumps', () => {
  it('back ignores requests in the future', async () => {
    const { clock, open } = world();
    clock.now = START + 100 * DAY;
    await repeat(5, () => open().record());
    await open().pauseUntil(clock.now + SECOND);
    clock.now = START;
    expect(await open(3, 3).usage()).toEqual({
      perMinute: { limit: 3, used: 0 },
      perDay: { limit: 3, used: 0 },
    });
    expect(await granted(open(), 9)).toBe(3);
  });

  it('back a little still counts recent requests', async () => {
    const { clock, open } = world();
    await repeat(3, () => open().record());
    clock.now -= 30 * SECOND;
    expect(await open().grant()).toEqual({ granted: false, freeAt: START + MINUTE, window: 'minute' });
  });

  it('forward drops requests older than a day', async () => {
    const { clock, open } = world();
    await repeat(5, () => open().record());
    clock.now += DAY;
    expect((await open(3, 3).usage()).perDay.used).toBe(0);
    clock.now = 0;
    expect(await granted(open(), 9)).toBe(3);
  });

  it("back by an hour still counts today's requests, and not those of a minute", async () => {
    const { clock, open } = world();
    await repeat(3, () => open().record());
    clock.now -= 3600 * SECOND;
    expect(await open(3, 3).usage()).toEqual({
      perMinute: { limit: 3, used: 0 },
      perDay: { limit: 3, used: 3, freeAt: START + DAY },
    });
  });

  it('while a request is granted refuses it, and takes the count back', async () => {
    const { open, folder } = world();
    // The clock is read before the lock is acquired and at the decision; later it is too late to send.
    const slow = openSlow(join(folder, '..'), 1);
    expect(await slow.grant()).toMatchObject({ granted: false, window: 'minute' });
    expect(await usedNow(open(1))).toBe(0);
    expect(await slow.grant()).toEqual({ granted: true });
    expect(await usedNow(open(1))).toBe(1);
  });

  it('while a request is granted does not matter without limits', async () => {
    expect(await openSlow(tempFolder(), 0).grant()).toEqual({ granted: true });
  });
});

describe('a damaged ledger', () => {
  it.each<[string, (file: string) => void, number]>([
    ['a line that was cut off', (file) => appendFileSync(file, '\n17000'), 2],
    ['noise at the end', (file) => appendFileSync(file, Buffer.alloc(1001, 0xb7)), 1],
    ['cut inside a line', (file) => truncateSync(file, 20), 1],
    ['empty', (file) => truncateSync(file, 0), 0],
    ['deleted', (file) => rmSync(file), 0],
    ['its folder deleted', (file) => rmSync(join(file, '..'), { recursive: true }), 0],
  ])('%s: counts the good lines and continues', async (_name, spoil, left) => {
    const { open, folder, warnings } = world();
    const running = open();
    await repeat(2, () => running.record());
    spoil(onlyFile(folder));
    expect(await usedNow(open())).toBe(left);
    expect(await usedNow(running)).toBe(left);
    expect(await granted(running, 9)).toBe(3 - left);
    expect(await granted(open(), 9)).toBe(0);
    expect(warnings).toEqual([]);
  });

  it.each<[string, (file: string) => void]>([
    ['a folder', (file) => mkdirSync(file)],
    ['a link to nothing', (file) => symlinkSync('nothing', file)],
    ['noise', (file) => writeFileSync(file, Buffer.alloc(5000, 'restaurant'))],
    [
      'a terabyte of zeros',
      (file) => {
        writeFileSync(file, '');
        truncateSync(file, 1024 ** 4);
      },
    ],
  ])('%s in its place: is set aside with a warning', async (_name, spoil) => {
    const { open, folder, warnings } = world();
    const running = open();
    await running.record();
    const file = onlyFile(folder);
    rmSync(file);
    spoil(file);
    expect(await usedNow(running)).toBe(0);
    expect(await granted(running, 9)).toBe(3);
    expect(await granted(open(), 9)).toBe(0);
    expect(warnings).toEqual([`${file} was damaged; renamed it to ${file}.damaged`]);
  });

  it('that is a folder is renamed when a request is counted', async () => {
    const { open, folder, warnings } = world();
    await open().record();
    const file = onlyFile(folder);
    rmSync(file);
    mkdirSync(file);
    await open().record();
    expect(await usedNow(open())).toBe(1);
    expect(await granted(open(0), 1)).toBe(1);
    expect(warnings).toHaveLength(1);
  });
});

describe('a state folder that cannot be used', () => {
  it('counts in memory when there is none', async () => {
    const { clock, warnings } = world();
    const ledger = openLedger({
      stateDir: undefined,
      key: 'k',
      endpoint: 'e',
      now: () => clock.now,
      perMinute: 3,
      perDay: 0,
      warn: (message) => warnings.push(message),
    });
    await ledger.record();
    expect(await granted(ledger, 9)).toBe(2);
    clock.now += MINUTE;
    expect(await usedNow(ledger)).toBe(0);
    expect(warnings).toEqual([]);
  });

  it('counts in this process only, with one warning', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const { open, warnings } = world(file);
    const ledger = open();
    await ledger.record();
    expect(await granted(ledger, 9)).toBe(2);
    await ledger.pauseUntil(START + 5);
    await ledger.record();
    expect(await usedNow(ledger)).toBe(4);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^only the requests of this run are counted: .*a part of the path is not a folder; RESTAURANT_STATE_DIR=<folder> sets/,
      ),
    ]);
  });

  it.runIf(process.getuid?.() === 0)(
    'still counts requests of other processes when it is read-only',
    async () => {
      const { open, folder } = world();
      await repeat(2, () => open().record());
      const worker = await bundleWorker(
        tempFolder(),
        `import { openLedger } from '../../../src/storage/ledger.ts';
       const warnings = [];
       const ledger = openLedger({
         stateDir: process.argv[2], key: 'sk_service_a', endpoint: 'https://x.example/api/mcp', now: () => ${START},
         perMinute: 4, perDay: 0, warn: (message) => warnings.push(message),
       });
       const results = [];
       for (let i = 0; i < 3; i += 1) results.push((await ledger.grant()).granted);
       console.log(JSON.stringify({ results, warnings }));`,
      );
      for (const path of [join(worker, '..'), join(folder, '..'), folder]) chmodSync(path, 0o755);
      chmodSync(onlyFile(folder), 0o644);
      const { stdout, stderr } = await startWorker(worker, [join(folder, '..')], { uid: 65534, gid: 65534 })
        .ended;
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toEqual({
        results: [true, true, false],
        warnings: [
          expect.stringMatching(
            /^only the requests of this run are counted: .*permission denied; RESTAURANT_STATE_DIR=<folder> sets/,
          ),
        ],
      });
    },
  );
});

const GREEDY = `
  import { openLedger } from '../../../src/storage/ledger.ts';
  const [stateDir, speed, milliseconds, perMinute] = process.argv.slice(2);
  const start = Number(process.argv[6]);
  let last = 0;
  const now = () => (last = start + (Date.now() - start) * Number(speed));
  const ledger = openLedger({ stateDir, key: 'k', endpoint: 'e', now, perMinute: Number(perMinute), perDay: 0 });
  const times = [];
  const end = Date.now() + Number(milliseconds);
  // A busy machine may need longer: runs until no request has been granted for a while, but not
  // forever: with a fast clock, a minute may be over before that.
  for (let denied = 0; Date.now() < end || (denied < 50 && Date.now() < end + 8000); denied += 1) {
    if (!(await ledger.grant()).granted) continue;
    times.push(last);
    denied = 0;
  }
  console.log(JSON.stringify(times));
`;

async function greed(
  count: number,
  speed: number,
  milliseconds: number,
  perMinute: number,
): Promise<number[]> {
  const worker = await bundleWorker(tempFolder(), GREEDY);
  const args = [tempFolder(), speed, milliseconds, perMinute, Date.now()].map(String);
  const children = Array.from({ length: count }, () => startWorker(worker, args));
  const results = await Promise.all(children.map((child) => child.ended));
  return results
    .flatMap(({ stdout, stderr }) => {
      expect(stderr).toBe('');
      return JSON.parse(stdout) as number[];
    })
    .sort((a, b) => a - b);
}

describe('eight processes', () => {
  it('are granted exactly the limit', async () => {
    expect(await greed(8, 1, 600, 100)).toHaveLength(100);
  });

  it('are never granted more in any window of 60 seconds', async () => {
    // The clock runs sixty times as fast: a minute is a second.
    const times = await greed(8, 60, 1800, 40);
    const most = Math.max(
      ...times.map((from, i) => times.filter((at, j) => j >= i && at < from + 60_000).length),
    );
    expect(most).toBeLessThanOrEqual(40);
    expect(times.length).toBeGreaterThan(40);
  });
});
