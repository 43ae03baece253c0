import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { currentProcess, isRunning, tryLock, withLock } from '../../../src/storage/lock.ts';
import { bundleWorker, startWorker, tempFolder } from '../../helpers/worker.ts';

const HOLDER = `
  import { tryLock } from '../../../src/storage/lock.ts';
  tryLock(process.argv[2]);
  console.log('held');
  setInterval(() => {}, 1000);
`;

/** Adds one to a number in a file, many times, in the clumsiest way: lost unless the lock excludes. */
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
    }, { waitMs: 30_000 });
  }
`;

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
  it('excludes a second holder until it is released, and leaves no file', () => {
    const path = join(tempFolder(), 'a');
    const lock = tryLock(path);
    expect(failure(path)).toMatchObject({ code: 'in_use', retryable: true });
    expect(failure(path)?.message).toContain(`process ${process.pid}`);
    lock.release();
    lock.release();
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(failure(path)).toBeUndefined();
  });

  it('takes over from a process that was killed, at once', async () => {
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

  it('passes over noise, half lines and claims of processes that are gone', () => {
    const path = join(tempFolder(), 'a');
    const gone = { ...currentProcess(0), pid: 2 ** 22 + 1 };
    writeFileSync(`${path}.lock`, Buffer.from([0, 255, 10, 123, 10]));
    appendFileSync(`${path}.lock`, `{"token":"t1","process":${JSON.stringify(gone)}}\n{"token":"half`);
    expect(failure(path)).toBeUndefined();
  });

  it('refuses while a process of another machine may hold it, and says how to go on', () => {
    const path = join(tempFolder(), 'a');
    const other = { ...currentProcess(0), boot: 'other', host: 'elsewhere' };
    writeFileSync(`${path}.lock`, `{"token":"t1","process":${JSON.stringify(other)}}\n`);
    expect(failure(path)?.message).toContain('on elsewhere');
    expect(failure(path)?.hint).toContain(`rm ${path}.lock`);
  });

  it('does not release a lock that another took after the file was removed by hand', () => {
    const path = join(tempFolder(), 'a');
    const first = tryLock(path);
    writeFileSync(`${path}.lock`, '');
    expect(failure(path)).toBeUndefined();
    const second = tryLock(path);
    first.release();
    expect(failure(path)?.code).toBe('in_use');
    second.release();
  });

  it('is not granted by an overfull lock file', () => {
    const path = join(tempFolder(), 'a');
    writeFileSync(`${path}.lock`, 'x'.repeat(1_048_577));
    expect(failure(path)).toMatchObject({ code: 'in_use' });
  });

  it('names the path when the folder is missing', () => {
    expect(failure('/does/not/exist')?.message).toBe('cannot lock /does/not/exist: no such file or folder');
  });
});

describe('withLock', () => {
  it('gives back what ran and releases also after a failure', async () => {
    const path = join(tempFolder(), 'a');
    expect(await withLock(path, () => 7)).toBe(7);
    await expect(
      withLock(path, () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(failure(path)).toBeUndefined();
  });

  it('gives up after its time, by the clock it is given, and leaves the queue', async () => {
    const path = join(tempFolder(), 'a');
    const held = tryLock(path);
    let now = 0;
    const clock = {
      now: () => now,
      sleep: async (ms: number) => {
        now += ms;
      },
    };
    await expect(withLock(path, () => 1, { waitMs: 500, clock })).rejects.toMatchObject({ code: 'in_use' });
    expect(now).toBe(500);
    held.release();
    expect(failure(path)).toBeUndefined();
  });

  it('lets one at a time through, within a process and between eight', async () => {
    const path = join(tempFolder(), 'count');
    writeFileSync(path, '0');
    const worker = await bundleWorker(tempFolder(), COUNTER);
    const children = Array.from({ length: 8 }, () => startWorker(worker, [path]));
    const own = Array.from({ length: 10 }, () =>
      withLock(path, () => writeFileSync(path, String(Number(readFileSync(path, 'utf8')) + 1)), {
        waitMs: 30_000,
      }),
    );
    await Promise.all(own);
    for (const child of children) expect(await child.ended).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(path, 'utf8')).toBe(String(8 * 15 + 10));
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('isRunning', () => {
  const self = currentProcess(Date.now());

  it('knows this process', () => {
    expect(isRunning(self)).toBe(true);
  });

  it('is not fooled by a number that was given out again', () => {
    if (self.start !== undefined) expect(isRunning({ ...self, start: '1' })).toBe(false);
    else expect(isRunning({ ...self, at: 0 })).toBe(false);
  });

  it('knows that nothing outlives a restart of the machine', () => {
    expect(isRunning({ ...self, boot: 'earlier' })).toBe(false);
  });

  it('leaves other machines and containers alone', () => {
    expect(isRunning({ ...self, boot: 'x', host: 'elsewhere' })).toBe(true);
    if (self.space !== undefined)
      expect(isRunning({ ...self, space: 'pid:[1]', pid: 2 ** 22 + 1 })).toBe(true);
  });
});
