import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Ledger, openLedger } from '../../../src/storage/ledger.ts';
import { TestFolder } from '../../helpers/files.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const START = 1_700_000_000_000;
const SECOND = 1000;
const MINUTE = 60_500;
const DAY = 86_400_000;

/** A state folder, the folder of the ledger in it, and a clock that the test sets. */
function world({ stateDir }: { stateDir: string | undefined } = { stateDir: tempFolder() }) {
  const clock = { now: START };
  const warnings: string[] = [];
  const now = () => clock.now;
  const warn = (message: string) => warnings.push(message);
  const ACCOUNT = { key: 'sk_service_a', endpoint: 'https://x.example/api/mcp' };
  const open = (perMinute = 3, perDay = 0, account: Partial<typeof ACCOUNT> = {}) =>
    openLedger({ stateDir, ...ACCOUNT, ...account, now, perMinute, perDay, warn });
  return { clock, warnings, open, folder: new TestFolder(join(stateDir ?? '', 'ledger')) };
}

async function repeat(times: number, run: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i += 1) await run();
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

/** Returns the name of the only ledger file. */
function onlyFile(folder: TestFolder): string {
  const names = folder.list().filter((name) => !name.endsWith('.lock'));
  expect(names).toHaveLength(1);
  return names[0] ?? '';
}

describe('openLedger', () => {
  it('counts recorded requests, also over the limit, and returns when the next is allowed', async () => {
    const { clock, open, folder } = world();
    const ledger = open(3, 5);
    expect(await ledger.usage()).toEqual({ perMinute: { limit: 3, used: 0 }, perDay: { limit: 5, used: 0 } });
    expect(existsSync(folder.path)).toBe(false);
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
    expect(await one.grant()).toMatchObject({ granted: true });
    clock.now += 10 * SECOND;
    expect(await two.grant()).toMatchObject({ granted: true });
    await one.record();
    const denied = { granted: false, freeAt: START + MINUTE, window: 'minute' };
    expect(await one.grant()).toEqual(denied);
    expect(await two.grant()).toEqual(denied);
    clock.now = START + MINUTE - 1;
    expect((await two.grant()).granted).toBe(false);
    clock.now += 1;
    expect(await two.grant()).toMatchObject({ granted: true });
    expect(await one.grant()).toEqual({
      granted: false,
      freeAt: START + 10 * SECOND + MINUTE,
      window: 'minute',
    });
    expect(await usedNow(one)).toBe(3);
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
    expect(folder.list()).toHaveLength(1);
  });

  it('is shortened when more than half of its times are older than a day, and loses none that counts', async () => {
    const { clock, open, folder } = world();
    await open().record();
    const file = onlyFile(folder);
    const linesOf = () => folder.read(file).trimEnd().split('\n').map(Number);
    const write = (...parts: readonly [count: number, at: number][]) =>
      folder.write(file, parts.map(([count, at]) => `${at}\n`.repeat(count)).join(''));
    clock.now += 10 * DAY;
    const [old, recent] = [clock.now - 2 * DAY, clock.now - DAY / 2];
    write([3000, old], [3001, recent]);
    await open().record();
    expect(linesOf()).toHaveLength(6002);
    write([3010, old], [3000, recent]);
    await open().record();
    expect(linesOf()).toEqual([...Array(3000).fill(recent), clock.now]);
    expect((await open(0, 1).usage()).perDay.used).toBe(3001);
    write([6000, old]);
    await open().record();
    expect(linesOf()).toEqual([...Array(1999).fill(old), clock.now]);
    expect(folder.list()).toEqual([file]);
  });

  it('takes back the requests that did not reach the service, and no others', async () => {
    const { clock, open, folder } = world();
    const [one, other] = [open(), open()];
    await other.record();
    const first = await one.record();
    clock.now += SECOND;
    const second = await one.record();
    await Promise.all([first(), second()]);
    expect(await usedNow(other)).toBe(1);
    expect(await granted(one, 1)).toBe(1);
    const last = await other.grant();
    expect(await granted(one, 9)).toBe(0);
    if (last.granted) await last.takeBack();
    expect(await granted(open(), 9)).toBe(1);
    const lines = folder.read(onlyFile(folder)).trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('-'))).toHaveLength(3);
    const memory = world({ stateDir: undefined }).open();
    const takeBack = await memory.record();
    expect(await usedNow(memory)).toBe(1);
    await takeBack();
    expect(await usedNow(memory)).toBe(0);
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

  it('has no limit at 0, and other limits for another process', async () => {
    const { open } = world();
    const unlimited = open(0, 0);
    expect(await granted(unlimited, 300)).toBe(300);
    const used = { limit: 0, used: 300 };
    expect(await unlimited.usage()).toEqual({ perMinute: used, perDay: used });
    expect(await granted(open(300), 1)).toBe(0);
    expect(await granted(open(305), 9)).toBe(5);
    expect(await granted(open(303), 9)).toBe(0);
    expect(await granted(open(308), 9)).toBe(3);
  });

  it('separates keys and endpoints and stores neither', async () => {
    const { open, folder } = world();
    await open(1).record();
    expect(await usedNow(open(1, 0, { key: 'sk_service_b' }))).toBe(0);
    expect(await usedNow(open(1, 0, { endpoint: 'https://y.example/' }))).toBe(0);
    const file = onlyFile(folder);
    expect(file).toMatch(/^[0-9a-f]{64}\.ndjson$/);
    expect(folder.read(file)).not.toMatch(/sk_|example/);
    expect(folder.modes('', file)).toEqual(['700', '600']);
  });

  it('grants no request during a pause that the service requested', async () => {
    const { clock, open } = world();
    await open().pauseUntil(START + 30 * SECOND);
    await open().pauseUntil(START + 5 * SECOND);
    const other = open(0, 0);
    expect(await other.grant()).toEqual({ granted: false, freeAt: START + 30 * SECOND, window: 'pause' });
    expect((await other.usage()).pausedUntil).toBe(START + 30 * SECOND);
    clock.now += 30 * SECOND;
    expect(await other.grant()).toMatchObject({ granted: true });
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
    expect(await open().grant()).toMatchObject({ granted: true });
  });

  it('pauses for at most a day, and never until a past time', async () => {
    const { clock, open, folder } = world();
    await open().pauseUntil(START - 1);
    expect(existsSync(folder.path)).toBe(false);
    await open().pauseUntil(START + 1000 * DAY);
    expect((await open().usage()).pausedUntil).toBe(START + DAY);
    clock.now -= 100 * DAY;
    expect((await open().usage()).pausedUntil).toBeUndefined();
  });

  it('counts a request in much less than a millisecond, and grants one among two thousand in a few', async () => {
    const ledger = world().open(0, 3000);
    /** The fastest run, in milliseconds: on a busy machine, the others take longer. */
    const fastestMs = async (times: number, run: () => Promise<unknown>) => {
      const took: number[] = [];
      await repeat(times, async () => {
        const start = performance.now();
        await run();
        took.push(performance.now() - start);
      });
      return Math.min(...took);
    };
    expect(await fastestMs(500, () => ledger.record())).toBeLessThan(0.5);
    await repeat(1500, () => ledger.record());
    expect(await fastestMs(100, () => ledger.grant())).toBeLessThan(15);
  });

  it('grants no more than the limit after a million requests today, of which it reads only the last', async () => {
    const { open, folder } = world();
    await open().record();
    const earlier = Buffer.from(`${START - 10 * MINUTE}\n`.repeat(1_000_000));
    folder.write(onlyFile(folder), earlier);
    const [one, two] = [open(2), open(2)];
    expect(await one.grant()).toMatchObject({ granted: true });
    expect(await two.grant()).toMatchObject({ granted: true });
    expect((await one.grant()).granted).toBe(false);
    expect((await one.usage()).perDay.used).toBeLessThan(300_000);
    expect(statSync(folder.at(onlyFile(folder))).size).toBe(earlier.length + 2 * `\n${START}`.length);
  });
});

describe('a clock that jumps', () => {
  const full = { used: 3, freeAt: START + DAY };
  const none = { used: 0 };

  it.each([
    ['back a little: still counts recent requests', -30 * SECOND, { used: 3, freeAt: START + MINUTE }, full],
    ["back by an hour: still counts today's requests", -3600 * SECOND, none, full],
    ['back by 100 days: ignores requests in the future', -100 * DAY, none, none],
    ['to 1970: ignores requests in the future', -START, none, none],
    ['forward by a day: drops older requests', DAY, none, none],
  ])('%s', async (_what, jump, perMinute, perDay) => {
    const { clock, open } = world();
    await repeat(3, () => open().record());
    clock.now += jump;
    expect(await open(3, 3).usage()).toEqual({
      perMinute: { limit: 3, ...perMinute },
      perDay: { limit: 3, ...perDay },
    });
    expect(await granted(open(), 9)).toBe(3 - perMinute.used);
  });

  it('while a request is granted makes it useless, and it can be taken back', async () => {
    const { clock, open } = world();
    const slow = open(1);
    const late = await slow.grant();
    clock.now += 10 * SECOND;
    expect(late.granted && late.usableUntil).toBe(START + 400);
    expect((await slow.grant()).granted).toBe(false);
    if (late.granted) await late.takeBack();
    expect(await usedNow(slow)).toBe(0);
    expect(await granted(slow, 9)).toBe(1);
  });
});

/** Replaces a file. */
const replacedBy = (create: (file: string) => void) => (file: string) => {
  rmSync(file);
  create(file);
};

describe('a damaged ledger', () => {
  it.each<[string, (file: string) => void, left: number, isSetAside?: boolean]>([
    ['a line that was cut off', (file) => appendFileSync(file, '17000'), 2],
    ['without its last line break', (file) => truncateSync(file, statSync(file).size - 1), 2],
    ['noise at the end', (file) => appendFileSync(file, Buffer.alloc(1001, 0xb7)), 2],
    ['cut inside a line', (file) => truncateSync(file, 20), 1],
    ['empty', (file) => truncateSync(file, 0), 0],
    ['deleted', (file) => rmSync(file), 0],
    ['its folder deleted', (file) => rmSync(join(file, '..'), { recursive: true }), 0],
    ['a folder', replacedBy(mkdirSync), 0, true],
    ['a link to nothing', replacedBy((file) => symlinkSync('nothing', file)), 0, true],
    ['nothing but noise', (file) => writeFileSync(file, Buffer.alloc(5000, 'restaurant')), 0, true],
    ['a terabyte of zeros', (file) => truncateSync(file, 1024 ** 4), 0, true],
  ])('%s: counts the good lines, or is set aside with a warning', async (_name, spoil, left, isSetAside) => {
    const { open, folder, warnings } = world();
    const running = open();
    await repeat(2, () => running.record());
    const file = folder.at(onlyFile(folder));
    spoil(file);
    if (isSetAside !== true) expect(await usedNow(open())).toBe(left);
    expect(await usedNow(running)).toBe(left);
    expect(await granted(running, 9)).toBe(3 - left);
    expect(await granted(open(), 9)).toBe(0);
    expect(warnings).toEqual(
      isSetAside === true ? [`${file} was damaged; renamed it to ${file}.damaged`] : [],
    );
  });

  it('that is a folder is renamed when a request is counted', async () => {
    const { open, folder, warnings } = world();
    await open().record();
    replacedBy(mkdirSync)(folder.at(onlyFile(folder)));
    await open().record();
    expect(await usedNow(open())).toBe(1);
    expect(await granted(open(0), 1)).toBe(1);
    expect(warnings).toHaveLength(1);
  });
});

describe('a state folder that cannot be used', () => {
  it('counts in memory when there is none', async () => {
    const { clock, open, warnings } = world({ stateDir: undefined });
    const ledger = open();
    await ledger.record();
    expect(await granted(ledger, 9)).toBe(2);
    clock.now += MINUTE;
    expect(await usedNow(ledger)).toBe(0);
    expect(warnings).toEqual([]);
  });

  it('counts in this process only, with one warning', async () => {
    const { open, warnings } = world({ stateDir: new TestFolder().write('file') });
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
      const worker = await bundleWorker(`import { openLedger } from '../../../src/storage/ledger.ts';
       const ledger = openLedger({
         stateDir: process.argv[2], key: 'sk_service_a', endpoint: 'https://x.example/api/mcp', now: () => ${START},
         perMinute: 4, perDay: 0, warn: (message) => console.error(message),
       });
       for (let i = 0; i < 3; i += 1) console.log((await ledger.grant()).granted);`);
      for (const name of ['..', '']) chmodSync(folder.at(name), 0o755);
      chmodSync(folder.at(onlyFile(folder)), 0o644);
      const { ended } = startWorker(worker, [folder.at('..')], { uid: 65534, gid: 65534 });
      expect(await ended).toMatchObject({
        stdout: 'true\ntrue\nfalse\n',
        stderr: expect.stringMatching(
          /^only the requests of this run are counted: .*permission denied; RESTAURANT_STATE_DIR=<folder> sets .*\n$/,
        ),
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

/** Returns when requests were granted to many processes at once. */
async function greed(
  processes: number,
  speed: number,
  milliseconds: number,
  perMinute: number,
): Promise<number[]> {
  const worker = await bundleWorker(GREEDY);
  const args = [tempFolder(), speed, milliseconds, perMinute, Date.now()].map(String);
  const children = Array.from({ length: processes }, () => startWorker(worker, args));
  const results = await Promise.all(children.map((child) => child.ended));
  expect(results.map(({ stderr }) => stderr).join('')).toBe('');
  return results.flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
}

const RECORDER = `
  import { appendFileSync, readdirSync } from 'node:fs';
  import { join } from 'node:path';
  import { openLedger } from '../../../src/storage/ledger.ts';
  const [stateDir, count, old] = process.argv.slice(2);
  const warn = (message) => console.error(message);
  const ledger = openLedger({ stateDir, key: 'k', endpoint: 'e', now: Date.now, perMinute: 0, perDay: 0, warn });
  for (let i = 0; i < Number(count); i += 1) {
    await ledger.record();
    const file = readdirSync(join(stateDir, 'ledger')).find((name) => name.endsWith('.ndjson'));
    // More old times than are kept, so that the next request shortens the file.
    if (old === 'old') appendFileSync(join(stateDir, 'ledger', file), '1000000000000\\n'.repeat(6000));
  }
`;

it('counts every request of several processes while the file is shortened', async () => {
  const worker = await bundleWorker(RECORDER);
  const stateDir = tempFolder();
  const start = (...args: string[]) => startWorker(worker, [stateDir, ...args]).ended;
  const ended = await Promise.all([
    start('100', 'old'),
    ...Array.from({ length: 3 }, () => start('400', 'none')),
  ]);
  expect(ended.map(({ stderr }) => stderr).join('')).toBe('');
  const ledger = openLedger({ stateDir, key: 'k', endpoint: 'e', now: Date.now, perMinute: 0, perDay: 0 });
  expect((await ledger.usage()).perDay.used).toBe(1300);
});

describe('many processes', () => {
  it('are granted exactly the limit', async () => {
    expect(await greed(20, 1, 600, 100)).toHaveLength(100);
  });

  it('are never granted more in any window of 60 seconds', async () => {
    // The clock runs sixty times as fast: a minute is a second.
    const times = await greed(8, 60, 1800, 40);
    const most = Math.max(
      ...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length),
    );
    expect(most).toBeLessThanOrEqual(40);
    expect(times.length).toBeGreaterThan(40);
  });
});
