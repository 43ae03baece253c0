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
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { tryLock, withLock } from '../../../src/storage/lock.ts';
import { currentProcess, isRunning } from '../../../src/storage/process.ts';
import { start } from '../../helpers/process.ts';
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

function failure(path: string): AppError | undefined {
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
    const path = join(tempFolder(), 'a');
    const lock = tryLock(path);
    expect(failure(path)).toMatchObject({ code: 'in_use', retryable: true });
    expect(failure(path)?.message).toContain(`process ${process.pid}`);
    lock.release();
    lock.release();
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(failure(path)).toBeUndefined();
  });

  it('takes over from a killed process at once', async () => {
    const folder = tempFolder();
    const path = join(folder, 'a');
    const child = startWorker(await bundleWorker(tempFolder(), HOLDER), [path]);
    await child.printed('held');
    expect(failure(path)?.message).toContain(`process ${child.process.pid}`);
    child.process.kill('SIGKILL');
    await child.ended;
    expect(existsSync(`${path}.lock`)).toBe(true);
    expect(failure(path)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes over from an ended process, also after a takeover that was killed', () => {
    const folder = tempFolder();
    const path = join(folder, 'a');
    const ended = { ...currentProcess(), pid: 2 ** 22 + 1 };
    writeFileSync(`${path}.lock`, JSON.stringify({ key: KEY, ...ended }));
    writeFileSync(
      join(folder, `.restaurant-${KEY}.lock`),
      JSON.stringify({ key: 'fedcba9876543210', ...ended }),
    );
    expect(failure(path)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('waits for the creator of an empty lock file, and takes it over two seconds later', () => {
    const path = join(tempFolder(), 'a');
    writeFileSync(`${path}.lock`, '');
    const createdAt = Date.now() - 1800;
    utimesSync(`${path}.lock`, createdAt / 1000, createdAt / 1000);
    expect(failure(path)).toBeUndefined();
    expect(Date.now()).toBeGreaterThan(createdAt + 1999);
  });

  it('keeps an empty lock file with a time in the future, without waiting for it', () => {
    const path = join(tempFolder(), 'a');
    writeFileSync(`${path}.lock`, '');
    const createdAt = Date.now() / 1000 + 3600;
    utimesSync(`${path}.lock`, createdAt, createdAt);
    expect(failure(path)?.message).toContain('is in use by another process');
    expect(hintText(failure(path)?.details.hint ?? [])).toContain(`rm ${path}.lock`);
    expect(existsSync(`${path}.lock`)).toBe(true);
  });

  it('does not delete a file that is not a lock file', () => {
    const path = join(tempFolder(), 'a');
    for (const text of ['x'.repeat(1_048_577), 'my notes', '{}', 'null']) {
      writeFileSync(`${path}.lock`, text);
      expect(failure(path)).toMatchObject({
        code: 'in_use',
        message: `${path}.lock exists and is not a lock file of this program`,
      });
      expect(readFileSync(`${path}.lock`, 'utf8')).toBe(text);
    }
  });

  it('uses no path that a lock file of others names', () => {
    const folder = tempFolder();
    const ended = { ...currentProcess(), pid: 2 ** 22 + 1 };
    const other = JSON.stringify({ key: KEY, ...ended });
    writeFileSync(join(folder, 'other.lock'), other);
    writeFileSync(join(folder, 'a.lock'), JSON.stringify({ key: '/../other', ...ended }));
    expect(failure(join(folder, 'a'))).toMatchObject({ code: 'in_use' });
    expect(readFileSync(join(folder, 'other.lock'), 'utf8')).toBe(other);
  });

  it('gives up when stale locks name each other', () => {
    const folder = tempFolder();
    const ended = { ...currentProcess(), pid: 2 ** 22 + 1 };
    const keyOf = (index: number) => index.toString(16).padStart(16, '0');
    writeFileSync(join(folder, 'a.lock'), JSON.stringify({ key: keyOf(0), ...ended }));
    for (let i = 0; i < 2000; i += 1) {
      const text = JSON.stringify({ key: keyOf((i + 1) % 2000), ...ended });
      writeFileSync(join(folder, `.restaurant-${keyOf(i)}.lock`), text);
    }
    expect(failure(join(folder, 'a'))).toMatchObject({ code: 'in_use' });
  });

  it('follows no symbolic link and opens only regular files', () => {
    const folder = tempFolder();
    const path = join(folder, 'a');
    for (const target of ['missing', 'victim']) {
      writeFileSync(join(folder, 'victim'), 'text');
      symlinkSync(target, `${path}.lock`);
      expect(failure(path)).toMatchObject({ code: 'in_use' });
      rmSync(`${path}.lock`);
    }
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('text');
    expect(existsSync(join(folder, 'missing'))).toBe(false);
    mkdirSync(`${path}.lock`);
    expect(failure(path)).toMatchObject({ code: 'in_use' });
  });

  it.runIf(process.getuid?.() === 0)('names the owner of a lock file of another user', () => {
    const path = join(tempFolder(), 'a');
    writeFileSync(`${path}.lock`, JSON.stringify({ key: KEY, ...currentProcess() }));
    chownSync(`${path}.lock`, 65534, 65534);
    expect(failure(path)).toMatchObject({
      code: 'io_error',
      message: `refusing to use ${path}.lock: it belongs to user 65534`,
      details: { hint: { text: 'choose a directory that you own' } },
    });
  });

  it('fails while a process of another machine may hold it, with a hint to continue', () => {
    const path = join(tempFolder(), 'a');
    const other = { ...currentProcess(), host: 'elsewhere' };
    writeFileSync(`${path}.lock`, JSON.stringify({ key: KEY, ...other }));
    expect(failure(path)?.message).toContain('on elsewhere');
    expect(hintText(failure(path)?.details.hint ?? [])).toContain(`rm ${path}.lock`);
  });

  it('does not release a lock that another took after the file was removed by hand', () => {
    const path = join(tempFolder(), 'a');
    const first = tryLock(path);
    rmSync(`${path}.lock`);
    const second = tryLock(path);
    first.release();
    expect(failure(path)?.code).toBe('in_use');
    second.release();
  });

  it.runIf(process.platform === 'linux')('deletes no lock when it has no file descriptors', async () => {
    const path = join(tempFolder(), 'a');
    const lock = tryLock(path);
    const command = [process.execPath, await bundleWorker(tempFolder(), POOR), path];
    const { stderr } = await start('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', ...command]).ended;
    expect(stderr).toBe(`cannot lock ${path}: too many open files`);
    expect(failure(path)).toMatchObject({ code: 'in_use' });
    lock.release();
  });

  it('names the path when the folder is missing', () => {
    expect(failure('/does/not/exist')?.message).toBe('cannot lock /does/not/exist: no such file or folder');
  });
});

describe('withLock', () => {
  it('returns the result and releases the lock also after a failure', async () => {
    const path = join(tempFolder(), 'a');
    expect(await withLock(path, () => 7)).toBe(7);
    await expect(
      withLock(path, () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(failure(path)).toBeUndefined();
  });

  it('gives up after its timeout', async () => {
    const path = join(tempFolder(), 'a');
    const held = tryLock(path);
    const start = Date.now();
    await expect(withLock(path, () => 1, 200)).rejects.toMatchObject({ code: 'in_use' });
    expect(Date.now() - start).toBeGreaterThanOrEqual(199);
    held.release();
    expect(failure(path)).toBeUndefined();
  });

  it('runs one at a time, within a process and between eight', async () => {
    const path = join(tempFolder(), 'count');
    writeFileSync(path, '0');
    const worker = await bundleWorker(tempFolder(), COUNTER);
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

  it('returns true for this process', () => {
    expect(isRunning(self)).toBe(true);
  });

  it('recognizes a process ID that was reused', () => {
    if (self.start !== undefined) expect(isRunning({ ...self, start: '1' })).toBe(false);
  });

  it.runIf(self.start !== undefined)(
    'returns false for a process from before a restart of the machine',
    () => {
      const start = self.start?.replace(/^\S+/, 'earlier');
      expect(isRunning({ ...self, ...(start === undefined ? {} : { start }) })).toBe(false);
    },
  );

  it('returns true for processes of other machines and containers', () => {
    expect(isRunning({ ...self, host: 'elsewhere' })).toBe(true);
    if (self.namespace !== undefined)
      expect(isRunning({ ...self, namespace: 'pid:[1]', pid: 2 ** 22 + 1 })).toBe(true);
  });
});
