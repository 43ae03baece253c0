import {
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { type AppError, attempt } from '../../../src/errors.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { tryLock, withLock } from '../../../src/storage/lock.ts';
import { currentProcess, stateOf } from '../../../src/storage/process.ts';
import { errorOf, onWindows, useFolder } from '../../helpers/files.ts';
import { replaceFs } from '../../helpers/replace-fs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const HOLDER = `
  import { tryLock } from '../../../src/storage/lock.ts';
  tryLock(process.argv[2]);
  console.log('held');
  setInterval(() => {}, 1000);
`;

/** Increments a number in a file many times without atomicity: loses updates unless the lock excludes other processes. */
const COUNTER = `
  import { readFileSync, writeFileSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { withLock } from '../../../src/storage/lock.ts';
  const path = process.argv[2];
  for (let i = 0; i < 15; i += 1) {
    await withLock(path, async () => {
      const count = Number(readFileSync(path, 'utf8'));
      if (i % 5 === 0) await sleep(1);
      writeFileSync(path, String(count + 1));
    }, 60_000);
  }
`;

/** Has no file descriptor left when it tries to take the lock. */
const POOR = `
  import { openSync } from 'node:fs';
  import { attempt } from '../../../src/errors.ts';
  import { tryLock } from '../../../src/storage/lock.ts';
  while (attempt(() => openSync('/dev/null')) !== undefined);
  try { tryLock(process.argv[2]); } catch (error) { process.stderr.write(error.message); }
`;

/** Takes and releases the lock many times. */
const TURNS = `
  import { existsSync } from 'node:fs';
  import { withLock } from '../../../src/storage/lock.ts';
  const [path, enough] = process.argv.slice(2);
  for (let i = 0; i < 200 || !existsSync(enough); i += 1) await withLock(path, () => {}, 60_000);
`;

const KEY = '0123456789abcdef';
const ENDED = { ...currentProcess(), pid: 2 ** 22 + 1 };
const textOf = (more: object = {}) => JSON.stringify({ key: KEY, ...ENDED, ...more });

const LOCK = 'a.lock';
const folder = useFolder();
const pathOf = () => folder.at('a');
const write = (text: string) => folder.write(LOCK, text);
const setTime = (ms: number) => utimesSync(folder.at(LOCK), ms / 1000, ms / 1000);
/** Takes and releases the lock. */
const take = () => tryLock(pathOf()).release();
const failure = (): AppError => errorOf(take);

describe('tryLock', () => {
  it('excludes a second holder until release, and leaves no file', () => {
    const lock = tryLock(pathOf());
    expect(failure()).toMatchObject({ code: 'in_use', retryable: true });
    expect(failure().message).toContain(`process ${process.pid}`);
    lock.release();
    lock.release();
    expect(folder.list()).toEqual([]);
    take();
  });

  it('takes over from a killed process at once', async () => {
    const child = startWorker(await bundleWorker(HOLDER), [pathOf()]);
    await child.printed('held');
    expect(failure().message).toContain(`process ${child.process.pid}`);
    child.process.kill('SIGKILL');
    await child.ended;
    expect(folder.list()).toEqual([LOCK]);
    take();
    expect(folder.list()).toEqual([]);
  });

  it('takes over from an ended process, also after a takeover that was killed', () => {
    write(textOf());
    folder.write(`.restaurant-${KEY}.lock`, textOf({ key: 'fedcba9876543210' }));
    take();
    expect(folder.list()).toEqual([]);
  });

  it('deletes what killed processes left when it takes over from one', () => {
    const names = ['1', '2', '3'].map((digit) => `.restaurant-${digit.repeat(16)}.lock`);
    const [old, young, other] = names as [string, string, string];
    for (const name of [old, young, other]) folder.write(name, textOf());
    for (const name of [old, other]) utimesSync(folder.at(name), 1, 1);
    renameSync(folder.at(other), folder.at(`${other}.txt`));
    take();
    expect(folder.list()).toContain(old);
    write(textOf());
    take();
    expect(folder.list()).toEqual([young, `${other}.txt`]);
  });

  it('gives up on locks that stand for each other', () => {
    for (const name of [LOCK, `.restaurant-${KEY}.lock`]) folder.write(name, textOf());
    expect(failure().code).toBe('in_use');
  });

  it.each([
    ['a process of another machine', textOf({ ...currentProcess(), host: 'elsewhere' })],
    ['a process of another container', textOf({ ...currentProcess(), namespace: 'pid:[1]' })],
    ['an unknown process, whose lock a power failure emptied', ''],
  ])('takes over from %s if the lock was not touched for ten minutes', (_who, text) => {
    for (const [age, isHeld] of [
      [590_000, true],
      [-3_600_000, true],
      [601_000, false],
    ] as const) {
      write(text);
      setTime(Date.now() - age);
      if (isHeld) expect(failure()).toMatchObject({ code: 'in_use' });
      else take();
      expect(folder.list()).toEqual(isHeld ? [LOCK] : []);
    }
  });

  it('is touched once a minute while it is held, and not after', () => {
    const isTouched = () => {
      setTime(1000);
      vi.advanceTimersByTime(60_000);
      return statSync(folder.at(LOCK)).mtimeMs > 1000;
    };
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const lock = tryLock(pathOf());
    expect(isTouched()).toBe(true);
    write(textOf());
    expect(isTouched()).toBe(false);
    lock.release();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    take();
  });

  it('never shows a lock without its owner, or to two processes', async () => {
    const worker = await bundleWorker(TURNS);
    const enough = join(tempFolder(), 'enough');
    const children = Array.from({ length: 3 }, () => startWorker(worker, [pathOf(), enough]));
    let isDone = false;
    const ended = Promise.all(children.map((child) => child.ended)).finally(() => {
      isDone = true;
    });
    const seen = new Set<string>();
    for (; !isDone; await setImmediate()) {
      seen.add(attempt(() => folder.read(LOCK)) ?? '{}');
      if (seen.size > 10) writeFileSync(enough, '');
    }
    for (const { exit, stderr } of await ended) expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    for (const text of seen) expect(() => JSON.parse(text)).not.toThrow();
    expect(folder.list()).toEqual([]);
  });

  it.each([
    ['an empty file from the future', '', 'is in use by another process'],
    ['a process of another machine', textOf({ host: 'elsewhere' }), 'on elsewhere'],
  ])('keeps the lock of %s, and names the command that removes it', (_what, text, message) => {
    write(text);
    setTime(Date.now() + 3_600_000);
    expect(failure().message).toContain(message);
    expect(hintText(failure().details.hint ?? [])).toContain(`rm ${folder.at(LOCK)}`);
    expect(folder.read(LOCK)).toBe(text);
  });

  it.each(['x'.repeat(1_048_577), 'my notes', '{}', 'null', textOf({ key: '/../other' })])(
    'does not delete a file that is not a lock file: %.60s',
    (text) => {
      const message = `${write(text)} exists and is not a lock file of this program`;
      folder.write('other.lock', textOf());
      expect(failure()).toMatchObject({ code: 'in_use', message });
      expect([folder.read(LOCK), folder.read('other.lock')]).toEqual([text, textOf()]);
    },
  );

  it('follows no symbolic link and opens only regular files', () => {
    folder.write('victim', 'text');
    for (const target of ['missing', 'victim']) {
      symlinkSync(target, folder.at(LOCK));
      expect(failure().code).toBe('in_use');
      rmSync(folder.at(LOCK));
    }
    mkdirSync(folder.at(LOCK));
    expect(failure().code).toBe('in_use');
    expect([folder.list(), folder.read('victim')]).toEqual([[LOCK, 'victim'], 'text']);
  });

  it.runIf(process.getuid?.() === 0)('names the owner of a lock file of another user', () => {
    const path = write(textOf({ pid: process.pid }));
    chownSync(path, 65534, 65534);
    expect(failure()).toMatchObject({
      code: 'io_error',
      message: `refusing to use ${path}: it belongs to user 65534`,
    });
    expect(folder.read(LOCK)).toBe(textOf({ pid: process.pid }));
  });

  it('does not release a lock that another took after the file was removed by hand', () => {
    const first = tryLock(pathOf());
    rmSync(folder.at(LOCK));
    const second = tryLock(pathOf());
    first.release();
    expect(failure().code).toBe('in_use');
    second.release();
  });

  it.runIf(process.platform === 'linux')('deletes no lock when it has no file descriptors', async () => {
    const lock = tryLock(pathOf());
    const { stderr } = await startWorker(await bundleWorker(POOR), [pathOf()], { limit: '-n 100' }).ended;
    expect(stderr).toBe(`cannot lock ${pathOf()}: too many open files`);
    expect(failure().code).toBe('in_use');
    lock.release();
  });

  it('keeps a new empty lock that got the place on the disk of a stale one', () => {
    write('');
    setTime(Date.now() - 3_600_000);
    replaceFs('linkSync', (link) => (...words) => {
      setTime(Date.now());
      return link(...words);
    });
    expect(failure().code).toBe('in_use');
    expect(folder.list()).toEqual([LOCK]);
  });

  it('waits on Windows while the lock of another process is being deleted', () => {
    let left = 3;
    replaceFs('lstatSync', (lstat) => (...words) => {
      left -= 1;
      if (left >= 0) throw Object.assign(new Error('pending'), { code: 'EPERM' });
      return lstat(...words);
    });
    onWindows();
    take();
    expect(left).toBeLessThan(0);
  });

  it('names the path when the folder is missing', () => {
    const { message } = errorOf(() => tryLock('/does/not/exist'));
    expect(message).toBe('cannot lock /does/not/exist: no such file or folder');
  });
});

describe('withLock', () => {
  it('returns the result and releases the lock also after a failure', async () => {
    expect(await withLock(pathOf(), () => 7)).toBe(7);
    const failing = withLock(pathOf(), () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    take();
  });

  it('gives up after its timeout', async () => {
    const held = tryLock(pathOf());
    const start = Date.now();
    await expect(withLock(pathOf(), () => 1, 200)).rejects.toMatchObject({ code: 'in_use' });
    expect(Date.now() - start).toBeGreaterThanOrEqual(199);
    held.release();
  });

  it('runs one at a time, within a process and between eight', async () => {
    const path = folder.write('a', '0');
    const worker = await bundleWorker(COUNTER);
    const children = Array.from({ length: 8 }, () => startWorker(worker, [path]));
    const own = Array.from({ length: 10 }, () =>
      withLock(path, () => folder.write('a', String(Number(folder.read('a')) + 1)), 60_000),
    );
    await Promise.all(own);
    for (const child of children) expect(await child.ended).toMatchObject({ exit: 0, stderr: '' });
    expect([folder.read('a'), folder.list()]).toEqual([String(8 * 15 + 10), ['a']]);
  });
});

/** Without hard links, as on FAT and on some network drives. */
const withoutLinks = (code: string) => `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  fs.linkSync = () => { throw Object.assign(new Error('no links'), { code: '${code}' }); };
  syncBuiltinESMExports();
`;

it.each([
  ['with', ''],
  ['without', withoutLinks('EPERM')],
  ['on Android, which forbids', withoutLinks('EACCES')],
])('%s hard links, one process at a time holds the lock, and no file is left', async (_how, start) => {
  const path = folder.write('a', '0');
  const worker = await bundleWorker(`${start}${COUNTER}`);
  const children = Array.from({ length: 4 }, () => startWorker(worker, [path]));
  for (const child of children) expect(await child.ended).toMatchObject({ exit: 0, stderr: '' });
  expect([folder.read('a'), folder.list()]).toEqual([String(4 * 15), ['a']]);
});

/** Notes when it has the lock, and leaves a lock that looks like that of a killed process behind in place of its own. */
const TAKER = `
  import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { withLock } from '../../../src/storage/lock.ts';
  const [path, stale] = process.argv.slice(2);
  for (let i = 0; i < 3; i += 1) {
    await withLock(path, async () => {
      appendFileSync(path, process.pid + ' in\\n');
      await sleep(1);
      appendFileSync(path, process.pid + ' out\\n');
      writeFileSync(path + process.pid, stale);
      renameSync(path + process.pid, path + '.lock');
    }, 60_000);
  }
`;

it('one of twenty processes at a time takes over a stale lock', async () => {
  const path = folder.write('a', '');
  const stale = write(textOf()) && textOf();
  const worker = await bundleWorker(TAKER);
  const children = Array.from({ length: 20 }, () => startWorker(worker, [path, stale]));
  for (const child of children) expect(await child.ended).toMatchObject({ exit: 0, stderr: '' });
  const lines = folder.read('a').trimEnd().split('\n');
  expect(lines).toHaveLength(20 * 3 * 2);
  for (let at = 0; at < lines.length; at += 2) expect(lines[at + 1]).toBe(lines[at]?.replace('in', 'out'));
  expect(folder.list()).toEqual(['a', LOCK]);
}, 60_000);

describe('stateOf', () => {
  const self = currentProcess();
  const { start } = self;

  it('knows this process, and not those of other machines and containers', () => {
    expect(stateOf(self)).toBe('running');
    expect(stateOf({ ...self, host: 'elsewhere' })).toBe('unknown');
    if (self.namespace !== undefined) expect(stateOf({ ...ENDED, namespace: 'pid:[1]' })).toBe('unknown');
  });

  it.runIf(start !== undefined)(
    'a reused process ID, also of before a restart, is that of an ended process',
    () => {
      for (const other of ['1', start?.replace(/^\S+/, 'earlier') ?? ''])
        expect(stateOf({ ...self, start: other })).toBe('ended');
    },
  );
});
