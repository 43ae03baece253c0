import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { tryLock, withLock } from '../../../src/storage/lock.ts';
import { currentProcess, isRunning } from '../../../src/storage/process.ts';
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
  import { tryLock } from '../../../src/storage/lock.ts';
  try {
    for (;;) openSync('/dev/null');
  } catch {}
  try {
    tryLock(process.argv[2]);
  } catch (error) {
    process.stderr.write(error.message);
  }
`;

const KEY = '0123456789abcdef';
const ENDED = { ...currentProcess(), pid: 2 ** 22 + 1 };
const textOf = (more: object = {}) => JSON.stringify({ key: KEY, ...ENDED, ...more });

let folder = '';
let path = '';
beforeEach(() => {
  folder = tempFolder();
  path = join(folder, 'a');
});
const write = (text: string) => writeFileSync(`${path}.lock`, text);
const setTime = (ms: number) => utimesSync(`${path}.lock`, ms / 1000, ms / 1000);

/** Returns why the lock cannot be acquired, if so. */
function failure(): AppError | undefined {
  try {
    tryLock(path).release();
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

describe('tryLock', () => {
  it('excludes a second holder until release, and leaves no file', () => {
    const lock = tryLock(path);
    expect(failure()).toMatchObject({ code: 'in_use', retryable: true });
    expect(failure()?.message).toContain(`process ${process.pid}`);
    lock.release();
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
    expect(failure()).toBeUndefined();
  });

  it('takes over from a killed process at once', async () => {
    const child = startWorker(await bundleWorker(HOLDER), [path]);
    await child.printed('held');
    expect(failure()?.message).toContain(`process ${child.process.pid}`);
    child.process.kill('SIGKILL');
    await child.ended;
    expect(existsSync(`${path}.lock`)).toBe(true);
    expect(failure()).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes over from an ended process, also after a takeover that was killed', () => {
    write(textOf());
    writeFileSync(join(folder, `.restaurant-${KEY}.lock`), textOf({ key: 'fedcba9876543210' }));
    expect(failure()).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('waits for the creator of an empty lock file, and takes it over two seconds later', () => {
    const createdAt = Date.now() - 1800;
    write('');
    setTime(createdAt);
    expect(failure()).toBeUndefined();
    expect(Date.now()).toBeGreaterThan(createdAt + 1999);
  });

  it.each([
    ['an empty file from the future', '', 'is in use by another process'],
    ['a process of another machine', textOf({ host: 'elsewhere' }), 'on elsewhere'],
  ])('keeps the lock of %s, and names the command that removes it', (_what, text, message) => {
    write(text);
    setTime(Date.now() + 3_600_000);
    expect(failure()?.message).toContain(message);
    expect(hintText(failure()?.details.hint ?? [])).toContain(`rm ${path}.lock`);
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(text);
  });

  it.each(['x'.repeat(1_048_577), 'my notes', '{}', 'null', textOf({ key: '/../other' })])(
    'does not delete a file that is not a lock file: %.60s',
    (text) => {
      write(text);
      writeFileSync(join(folder, 'other.lock'), textOf());
      expect(failure()).toMatchObject({
        code: 'in_use',
        message: `${path}.lock exists and is not a lock file of this program`,
      });
      expect(readFileSync(`${path}.lock`, 'utf8')).toBe(text);
      expect(readFileSync(join(folder, 'other.lock'), 'utf8')).toBe(textOf());
    },
  );

  it('gives up when stale locks name each other', () => {
    const keyOf = (index: number) => index.toString(16).padStart(16, '0');
    write(textOf({ key: keyOf(0) }));
    for (let i = 0; i < 2000; i += 1)
      writeFileSync(join(folder, `.restaurant-${keyOf(i)}.lock`), textOf({ key: keyOf((i + 1) % 2000) }));
    expect(failure()).toMatchObject({ code: 'in_use' });
  });

  it('follows no symbolic link and opens only regular files', () => {
    writeFileSync(join(folder, 'victim'), 'text');
    for (const target of ['missing', 'victim']) {
      symlinkSync(target, `${path}.lock`);
      expect(failure()).toMatchObject({ code: 'in_use' });
      rmSync(`${path}.lock`);
    }
    mkdirSync(`${path}.lock`);
    expect(failure()).toMatchObject({ code: 'in_use' });
    expect(readdirSync(folder)).toEqual(['a.lock', 'victim']);
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('text');
  });

  it.runIf(process.getuid?.() === 0)('names the owner of a lock file of another user', () => {
    write(textOf({ pid: process.pid }));
    chownSync(`${path}.lock`, 65534, 65534);
    expect(failure()).toMatchObject({
      code: 'io_error',
      message: `refusing to use ${path}.lock: it belongs to user 65534`,
      details: { hint: { text: 'choose a directory that you own' } },
    });
  });

  it('does not release a lock that another took after the file was removed by hand', () => {
    const first = tryLock(path);
    rmSync(`${path}.lock`);
    const second = tryLock(path);
    first.release();
    expect(failure()?.code).toBe('in_use');
    second.release();
  });

  it.runIf(process.platform === 'linux')('deletes no lock when it has no file descriptors', async () => {
    const lock = tryLock(path);
    const { stderr } = await startWorker(await bundleWorker(POOR), [path], { limit: '-n 100' }).ended;
    expect(stderr).toBe(`cannot lock ${path}: too many open files`);
    expect(failure()).toMatchObject({ code: 'in_use' });
    lock.release();
  });

  it('names the path when the folder is missing', () => {
    path = '/does/not/exist';
    expect(failure()?.message).toBe('cannot lock /does/not/exist: no such file or folder');
  });
});

describe('withLock', () => {
  it('returns the result and releases the lock also after a failure', async () => {
    expect(await withLock(path, () => 7)).toBe(7);
    const failing = withLock(path, () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(failure()).toBeUndefined();
  });

  it('gives up after its timeout', async () => {
    const held = tryLock(path);
    const start = Date.now();
    await expect(withLock(path, () => 1, 200)).rejects.toMatchObject({ code: 'in_use' });
    expect(Date.now() - start).toBeGreaterThanOrEqual(199);
    held.release();
  });

  it('runs one at a time, within a process and between eight', async () => {
    writeFileSync(path, '0');
    const worker = await bundleWorker(COUNTER);
    const children = Array.from({ length: 8 }, () => startWorker(worker, [path]));
    const own = Array.from({ length: 10 }, () =>
      withLock(path, () => writeFileSync(path, String(Number(readFileSync(path, 'utf8')) + 1)), 60_000),
    );
    await Promise.all(own);
    for (const child of children) expect(await child.ended).toMatchObject({ exit: 0, stderr: '' });
    expect(readFileSync(path, 'utf8')).toBe(String(8 * 15 + 10));
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('isRunning', () => {
  const self = currentProcess();
  const { start } = self;

  it('returns true for this process, and for those of other machines and containers', () => {
    expect(isRunning(self)).toBe(true);
    expect(isRunning({ ...self, host: 'elsewhere' })).toBe(true);
    if (self.namespace !== undefined) expect(isRunning({ ...ENDED, namespace: 'pid:[1]' })).toBe(true);
  });

  it.runIf(start !== undefined)('returns false for a reused process ID, also of before a restart', () => {
    for (const other of ['1', start?.replace(/^\S+/, 'earlier') ?? ''])
      expect(isRunning({ ...self, start: other })).toBe(false);
  });
});
