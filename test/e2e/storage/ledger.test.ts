import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Ledger, openLedger } from '../../../src/storage/ledger.ts';
import { MAX_FILE_BYTES } from '../../../src/storage/log.ts';
import { encodeRecord } from '../../../src/storage/record.ts';
import { bundleWorker, startWorker, tempFolder } from '../../helpers/worker.ts';

const START = 1_700_000_000_000;
const SECOND = 1000;
const MINUTE = 60_500;
const DAY = 86_400_000;

/** A state folder with a clock to turn by hand. */
function world(stateDir: string | undefined = tempFolder()) {
  const clock = { now: START };
  const told: string[] = [];
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
      warn: (message) => told.push(message),
    });
  return { clock, told, open, folder: join(stateDir ?? '', 'budget') };
}

function repeat(times: number, run: () => void): void {
  for (let i = 0; i < times; i += 1) run();
}

/** How many of `tries` reservations are granted. */
function granted(ledger: Ledger, tries: number): number {
  let count = 0;
  repeat(tries, () => {
    if (ledger.reserve().granted) count += 1;
  });
  return count;
}

/** The only ledger file. */
function onlyFile(folder: string): string {
  const names = readdirSync(folder);
  expect(names).toHaveLength(1);
  return join(folder, names[0] ?? '');
}

describe('openLedger', () => {
  it('counts what is recorded, also over the limit, and tells when there is room', () => {
    const { clock, open } = world();
    const ledger = open(3, 5);
    expect(ledger.usage()).toEqual({ perMinute: { limit: 3, used: 0 }, perDay: { limit: 5, used: 0 } });
    repeat(2, () => ledger.record());
    expect(ledger.usage()).toEqual({ perMinute: { limit: 3, used: 2 }, perDay: { limit: 5, used: 2 } });
    clock.now += SECOND;
    repeat(4, () => ledger.record());
    expect(open(3, 5).usage()).toEqual({
      perMinute: { limit: 3, used: 6, freeAt: START + SECOND + MINUTE },
      perDay: { limit: 5, used: 6, freeAt: START + DAY },
    });
  });

  it('grants up to the limit, to all that share it, and again when the oldest is a minute old', () => {
    const { clock, open } = world();
    const [one, two] = [open(), open()];
    expect(one.reserve()).toEqual({ granted: true });
    clock.now += 10 * SECOND;
    expect(two.reserve()).toEqual({ granted: true });
    one.record();
    const denied = { granted: false, freeAt: START + MINUTE, window: 'minute' };
    expect(one.reserve()).toEqual(denied);
    expect(two.reserve()).toEqual(denied);
    clock.now = START + MINUTE - 1;
    expect(two.reserve().granted).toBe(false);
    clock.now += 1;
    expect(two.reserve()).toEqual({ granted: true });
    expect(one.reserve()).toEqual({ granted: false, freeAt: START + 10 * SECOND + MINUTE, window: 'minute' });
    expect(one.usage().perMinute.used).toBe(3);
  });

  it('does not count what was denied', () => {
    const { clock, open } = world();
    const ledger = open(1);
    expect(granted(ledger, 50)).toBe(1);
    expect(ledger.usage().perMinute.used).toBe(1);
    clock.now += MINUTE;
    expect(granted(ledger, 50)).toBe(1);
  });

  it('says which window is full, the day before the minute when it lasts longer', () => {
    const { open } = world();
    const ledger = open(2, 2);
    expect(granted(ledger, 2)).toBe(2);
    expect(ledger.reserve()).toEqual({ granted: false, freeAt: START + DAY, window: 'day' });
  });

  it('knows no limit at 0', () => {
    const { open } = world();
    const ledger = open(0, 0);
    expect(granted(ledger, 300)).toBe(300);
    expect(ledger.usage()).toEqual({ perMinute: { limit: 0, used: 300 }, perDay: { limit: 0, used: 300 } });
    expect(open(300).reserve().granted).toBe(false);
  });

  it('lets each process keep to limits of its own', () => {
    const { open } = world();
    expect(granted(open(5), 9)).toBe(5);
    expect(granted(open(3), 9)).toBe(0);
    expect(granted(open(8), 9)).toBe(3);
  });

  it('keeps keys and endpoints apart and writes neither down', () => {
    const { open, folder } = world();
    open(1).record();
    expect(open(1, 0, { key: 'sk_service_b' }).usage().perMinute.used).toBe(0);
    expect(open(1, 0, { endpoint: 'https://y.example/' }).usage().perMinute.used).toBe(0);
    const file = onlyFile(folder);
    expect(file).toMatch(/\/[0-9a-f]{64}\.0$/);
    expect(readFileSync(file, 'latin1')).not.toMatch(/sk_|example/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('touches nothing until something is counted', () => {
    const { open, folder } = world();
    open().usage();
    expect(() => statSync(folder)).toThrow('ENOENT');
  });

  it('holds everyone back while the service asks to wait', () => {
    const { clock, open } = world();
    open().pauseUntil(START + 30 * SECOND);
    open().pauseUntil(START + 5 * SECOND);
    const other = open(0, 0);
    expect(other.reserve()).toEqual({ granted: false, freeAt: START + 30 * SECOND, window: 'hold' });
    expect(other.usage().pausedUntil).toBe(START + 30 * SECOND);
    clock.now += 30 * SECOND;
    expect(other.reserve()).toEqual({ granted: true });
    expect(other.usage().pausedUntil).toBeUndefined();
  });

  it('holds for a day at most, and not for a time that is past', () => {
    const { open, folder } = world();
    open().pauseUntil(START - 1);
    expect(() => statSync(folder)).toThrow('ENOENT');
    open().pauseUntil(START + 1000 * DAY);
    expect(open().usage().pausedUntil).toBe(START + DAY);
  });

  it('counts a request at a cost far below a millisecond', () => {
    const { open } = world();
    const ledger = open();
    ledger.record();
    const before = process.cpuUsage();
    repeat(500, () => ledger.record());
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 500).toBeLessThan(500);
  });
});

describe('a clock that jumps', () => {
  it('back: what lies in the future is ignored', () => {
    const { clock, open } = world();
    clock.now = START + 100 * DAY;
    repeat(5, () => open().record());
    open().pauseUntil(clock.now + SECOND);
    clock.now = START;
    expect(open(3, 3).usage()).toEqual({ perMinute: { limit: 3, used: 0 }, perDay: { limit: 3, used: 0 } });
    expect(granted(open(), 9)).toBe(3);
  });

  it('back a little: what was just counted still counts', () => {
    const { clock, open } = world();
    repeat(3, () => open().record());
    clock.now -= 30 * SECOND;
    expect(open().reserve()).toEqual({ granted: false, freeAt: START + MINUTE, window: 'minute' });
  });

  it('forward: what is more than a day old is dropped', () => {
    const { clock, open } = world();
    repeat(5, () => open().record());
    clock.now += DAY;
    expect(open(3, 3).usage().perDay.used).toBe(0);
    clock.now = 0;
    expect(granted(open(), 9)).toBe(3);
  });

  it('while a request is reserved: it is judged again by the new time', () => {
    const { open, folder } = world();
    const times = [START, START + 10 * SECOND, START + 10 * SECOND];
    const slow = openLedger({
      stateDir: join(folder, '..'),
      key: 'sk_service_a',
      endpoint: 'https://x.example/api/mcp',
      // now(), then once for what to read, twice while the claim is judged.
      now: () => times.shift() ?? START + 10 * SECOND,
      perMinute: 1,
      perDay: 0,
    });
    expect(slow.reserve()).toEqual({ granted: true });
    expect(open(1).reserve()).toMatchObject({ granted: false, freeAt: START + 10 * SECOND + MINUTE });
  });
});

describe('a damaged ledger', () => {
  it.each<[string, (file: string) => void, number]>([
    [
      'a torn last record',
      (file) =>
        appendFileSync(file, encodeRecord({ type: 'claim', at: START, until: 0, id: 5 }).subarray(0, 11)),
      2,
    ],
    ['noise at the end', (file) => appendFileSync(file, Buffer.alloc(1001, 0xb7)), 2],
    ['cut inside a record', (file) => truncateSync(file, 50), 1],
    ['empty', (file) => truncateSync(file, 0), 0],
    ['deleted', (file) => rmSync(file), 0],
    ['noise alone', (file) => writeFileSync(file, Buffer.alloc(5000, 'restaurant')), 0],
    ['its folder deleted', (file) => rmSync(join(file, '..'), { recursive: true }), 0],
  ])('%s: the good records count and it goes on', (_name, spoil, left) => {
    const { open, folder, told } = world();
    const running = open();
    repeat(2, () => running.record());
    spoil(onlyFile(folder));
    expect(open().usage().perMinute.used).toBe(left);
    expect(running.usage().perMinute.used).toBe(left);
    expect(granted(running, 9)).toBe(3 - left);
    expect(granted(open(), 9)).toBe(0);
    expect(told).toEqual([]);
  });

  it('of a terabyte is read at its end alone and is followed by a new file', () => {
    const { open, folder } = world();
    open().record();
    const file = onlyFile(folder);
    truncateSync(file, 1024 ** 4);
    expect(open().usage().perMinute.used).toBe(0);
    expect(granted(open(), 9)).toBe(3);
    expect(granted(open(), 9)).toBe(0);
    expect(
      readdirSync(folder)
        .map((name) => name.slice(64))
        .sort(),
    ).toEqual(['.0', '.1']);
  });
});

describe('a ledger that grows', () => {
  it('goes on in a new file, forgets nothing of the day, and deletes what is two files back', () => {
    const { clock, open, folder } = world();
    const running = open(10, 10);
    running.record();
    const name = onlyFile(folder).slice(0, -2);
    const old = encodeRecord({ type: 'request', at: START - 2 * DAY, until: 0, id: 9 });
    const fill = (generation: number) =>
      appendFileSync(
        `${name}.${generation}`,
        Buffer.alloc(MAX_FILE_BYTES - 64 - statSync(`${name}.${generation}`).size, old),
      );
    fill(0);
    repeat(4, () => running.record());
    expect(readdirSync(folder)).toHaveLength(2);
    expect(statSync(`${name}.1`).size).toBe(2 * 32);
    expect(running.usage().perMinute.used).toBe(5);
    expect(open(10, 10).usage().perDay.used).toBe(5);
    clock.now += SECOND;
    fill(1);
    repeat(3, () => running.record());
    expect(
      readdirSync(folder)
        .map((file) => file.slice(64))
        .sort(),
    ).toEqual(['.1', '.2']);
    expect(granted(running, 20)).toBe(5);
    expect(granted(open(10, 10), 20)).toBe(0);
  });

  it('stays quick with a hundred thousand requests a day', () => {
    const { open, folder } = world();
    open().record();
    const file = onlyFile(folder);
    const bytes = Buffer.concat(
      Array.from({ length: 60_000 }, (_, i) =>
        encodeRecord({ type: 'request', at: START - i * 800, until: 0, id: i }),
      ),
    );
    writeFileSync(file, bytes);
    writeFileSync(file.replace(/\.0$/, '.1'), bytes.subarray(0, 40_000 * 32));
    const ledger = open(0, 0);
    ledger.reserve();
    const before = process.cpuUsage();
    repeat(20, () => ledger.reserve());
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 20_000).toBeLessThan(25);
    expect(statSync(file.replace(/\.0$/, '.1')).size).toBe((40_000 + 21) * 32);
  });
});

describe('a state folder that does not serve', () => {
  it('is done without when there is none', () => {
    const { clock, told } = world();
    const ledger = openLedger({
      stateDir: undefined,
      key: 'k',
      endpoint: 'e',
      now: () => clock.now,
      perMinute: 3,
      perDay: 0,
      warn: (message) => told.push(message),
    });
    ledger.record();
    expect(granted(ledger, 9)).toBe(2);
    clock.now += MINUTE;
    expect(ledger.usage().perMinute.used).toBe(0);
    expect(told).toEqual([]);
  });

  it('leaves the count to this process, with one warning', () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const { open, told } = world(file);
    const ledger = open();
    ledger.record();
    expect(granted(ledger, 9)).toBe(2);
    ledger.pauseUntil(START + 5);
    ledger.record();
    expect(ledger.usage().perMinute.used).toBe(4);
    expect(told).toEqual([
      expect.stringMatching(
        /^requests are counted for this run alone: .*a part of the path is not a folder$/,
      ),
    ]);
  });

  it.runIf(process.getuid?.() === 0)(
    'still counts what others wrote there, when it is read-only',
    async () => {
      const { open, folder } = world();
      repeat(2, () => open().record());
      const worker = await bundleWorker(
        tempFolder(),
        `import { openLedger } from '../../../src/storage/ledger.ts';
       const told = [];
       const ledger = openLedger({
         stateDir: process.argv[2], key: 'sk_service_a', endpoint: 'https://x.example/api/mcp', now: () => ${START},
         perMinute: 4, perDay: 0, warn: (message) => told.push(message),
       });
       const results = [1, 2, 3].map(() => ledger.reserve().granted);
       console.log(JSON.stringify({ results, told }));`,
      );
      for (const path of [join(worker, '..'), join(folder, '..'), folder]) chmodSync(path, 0o755);
      chmodSync(onlyFile(folder), 0o644);
      const { stdout, stderr } = await startWorker(worker, [join(folder, '..')], { uid: 65534, gid: 65534 })
        .ended;
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toEqual({
        results: [true, true, false],
        told: [expect.stringMatching(/^requests are counted for this run alone: .*permission denied$/)],
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
  // A busy machine may need longer: until nothing has been granted for a while.
  for (let denied = 0; Date.now() < end || denied < 50; denied += 1) {
    if (!ledger.reserve().granted) continue;
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
  folder = tempFolder(),
): Promise<number[]> {
  const worker = await bundleWorker(tempFolder(), GREEDY);
  const args = [folder, speed, milliseconds, perMinute, Date.now()].map(String);
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

  it('are granted exactly the limit also while the file is full and the next begins', async () => {
    const folder = tempFolder();
    openLedger({
      stateDir: folder,
      key: 'k',
      endpoint: 'e',
      now: Date.now,
      perMinute: 0,
      perDay: 0,
    }).record();
    const file = onlyFile(join(folder, 'budget'));
    const old = encodeRecord({ type: 'request', at: START, until: 0, id: 9 });
    writeFileSync(file, Buffer.alloc(MAX_FILE_BYTES - 40 * 32, old));
    expect(await greed(8, 1, 600, 100, folder)).toHaveLength(100);
    expect(readdirSync(join(folder, 'budget'))).toHaveLength(2);
  });

  it('are never granted more in any window of 60 seconds', async () => {
    // A clock sixty times as fast: a minute is a second.
    const times = await greed(8, 60, 1800, 40);
    const most = Math.max(
      ...times.map((from, i) => times.filter((at, j) => j >= i && at < from + 60_000).length),
    );
    expect(most).toBeLessThanOrEqual(40);
    expect(times.length).toBeGreaterThan(40);
  });
});
