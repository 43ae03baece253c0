import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { ensurePrivateFolder, sweepTemps, writeFileAtomic } from '../../../src/storage/atomic.ts';
import { start } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker } from '../../helpers/worker.ts';

function errorOf(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('did not fail');
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8);
}

describe('writeFileAtomic', () => {
  it('writes text and bytes, with mode 0600 by default, and leaves nothing else', () => {
    const folder = tempFolder();
    const path = join(folder, 'a.json');
    writeFileAtomic(path, 'é🍜');
    expect(readFileSync(path, 'utf8')).toBe('é🍜');
    expect(modeOf(path)).toBe('600');
    writeFileAtomic(path, Uint8Array.of(0, 255), { mode: 0o640 });
    expect([...readFileSync(path)]).toEqual([0, 255]);
    expect(modeOf(path)).toBe('640');
    writeFileAtomic(path, '', { durable: false });
    expect(readFileSync(path, 'utf8')).toBe('');
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  it('replaces a file that others can read by a private one', () => {
    const path = join(tempFolder(), 'a');
    writeFileSync(path, 'old', { mode: 0o644 });
    writeFileAtomic(path, 'new');
    expect(modeOf(path)).toBe('600');
  });

  it('accepts the longest file name that the file system allows', () => {
    const path = join(tempFolder(), 'n'.repeat(255));
    writeFileAtomic(path, 'x');
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  it('writes through symbolic links, also dangling and relative ones', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'real'));
    symlinkSync('real/second', join(folder, 'first'));
    symlinkSync('target', join(folder, 'real/second'));
    for (const text of ['one', 'two']) {
      writeFileAtomic(join(folder, 'first'), text);
      expect(readFileSync(join(folder, 'real/target'), 'utf8')).toBe(text);
    }
    expect(lstatSync(join(folder, 'first')).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(folder, 'real/second')).isSymbolicLink()).toBe(true);
  });

  it.runIf(process.getuid?.() === 0)('does not write through a link of another user', () => {
    const folder = tempFolder();
    for (const target of ['victim', 'missing']) {
      writeFileSync(join(folder, 'victim'), 'text');
      symlinkSync(target, join(folder, target === 'victim' ? 'a' : 'b'));
    }
    for (const link of ['a', 'b']) {
      lchownSync(join(folder, link), 65534, 65534);
      expect(errorOf(() => writeFileAtomic(join(folder, link), 'x')).code).toBe('io_error');
    }
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('text');
    expect(existsSync(join(folder, 'missing'))).toBe(false);
  });

  it('does not replace a device', () => {
    writeFileAtomic('/dev/null', 'gone');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it.each([
    ['a missing folder', 'none/a', 'no such file or folder'],
    ['a file where a folder should be', 'file/a', 'a part of the path is not a folder'],
    ['a folder of that name', 'folder', 'it is a folder'],
    ['a name that is too long', 'n'.repeat(256), 'the name is too long'],
    ['a loop of links', 'loop', 'too many symbolic links'],
  ])('reports %s', (_name, relative, reason) => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'file'), '');
    symlinkSync('loop', join(folder, 'loop'));
    const path = join(folder, relative);
    const error = errorOf(() => writeFileAtomic(path, 'x'));
    expect(error.code).toBe('io_error');
    expect(error.message).toBe(`cannot write ${path}: ${reason}`);
    expect(readdirSync(folder).sort()).toEqual(['file', 'folder', 'loop']);
  });

  it.runIf(existsSync('/dev/full'))('names a full disk', () => {
    expect(errorOf(() => writeFileAtomic('/dev/full', 'x')).message).toBe(
      'cannot write /dev/full: the disk is full',
    );
  });

  it('keeps the old file and deletes its temporary file when the disk fills up', async () => {
    const folder = tempFolder();
    const path = join(folder, 'a');
    writeFileSync(path, 'old');
    const worker = await bundleWorker(
      tempFolder(),
      `import { writeFileAtomic } from '../../../src/storage/atomic.ts';
       try { writeFileAtomic(${JSON.stringify(path)}, 'x'.repeat(100_000)); }
       catch (error) { console.log(error.code, error.message); }`,
    );
    const command = `ulimit -f 20; exec "${process.execPath}" "${worker}"`;
    const { stdout, stderr } = await start('bash', ['-c', command], { env: { HOME: folder } }).ended;
    expect(stderr).toBe('');
    expect(stdout).toBe(`io_error cannot write ${path}: the file would be larger than the system allows\n`);
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['a']);
  });
});

describe('ensurePrivateFolder', () => {
  it('creates a chain of folders with mode 0700', () => {
    const folder = tempFolder();
    ensurePrivateFolder(join(folder, 'a/b/c'));
    ensurePrivateFolder(join(folder, 'a/b/c'));
    for (const part of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(folder, part))).toBe('700');
  });

  it('keeps the mode of an existing folder, also behind a link', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'shared'));
    chmodSync(join(folder, 'shared'), 0o1777);
    symlinkSync('shared', join(folder, 'link'));
    ensurePrivateFolder(join(folder, 'shared'));
    ensurePrivateFolder(join(folder, 'link'));
    expect(modeOf(join(folder, 'shared'))).toBe('1777');
  });

  it.runIf(process.getuid?.() === 0)('rejects a folder or link of another user', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'home'));
    mkdirSync(join(folder, 'target'));
    symlinkSync('../target', join(folder, 'home/link'));
    lchownSync(join(folder, 'home/link'), 65534, 65534);
    expect(errorOf(() => ensurePrivateFolder(join(folder, 'home/link/a'))).message).toBe(
      `will not use ${folder}/home/link/a: the symbolic link ${folder}/home/link belongs to user 65534`,
    );
    chownSync(join(folder, 'home'), 65534, 65534);
    expect(errorOf(() => ensurePrivateFolder(join(folder, 'home/a/b'))).message).toBe(
      `will not use ${folder}/home/a/b: ${folder}/home belongs to user 65534`,
    );
    expect(readdirSync(join(folder, 'target'))).toEqual([]);
    expect(readdirSync(join(folder, 'home'))).toEqual(['link']);
  });

  it.runIf(existsSync('/proc/self'))('fails when a folder cannot be created in an existing parent', () => {
    expect(errorOf(() => ensurePrivateFolder('/proc/restaurant/a')).message).toContain(
      'no such file or folder',
    );
    const folder = tempFolder();
    symlinkSync('nowhere', join(folder, 'dangling'));
    expect(errorOf(() => ensurePrivateFolder(join(folder, 'dangling/a'))).code).toBe('io_error');
  });

  it('reports a file in the place of a folder', () => {
    const path = join(tempFolder(), 'file');
    writeFileSync(path, '');
    expect(errorOf(() => ensurePrivateFolder(path)).message).toContain(
      `create the folder ${path}: it exists`,
    );
    expect(errorOf(() => ensurePrivateFolder(join(path, 'sub'))).code).toBe('io_error');
  });
});

describe('sweepTemps', () => {
  it('deletes our temporary files older than an hour and nothing else', () => {
    const folder = tempFolder();
    const names = [
      '.restaurant-0123456789abcdef.tmp',
      '.restaurant-0123456789abcdef.lock',
      '.restaurant-fedcba9876543210.tmp',
      'config.json',
      '.restaurant-x.tmp',
    ];
    for (const name of names) writeFileSync(join(folder, name), '');
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const name of names) if (!name.includes('fedc')) utimesSync(join(folder, name), old, old);
    sweepTemps(folder);
    expect(readdirSync(folder).sort()).toEqual([
      '.restaurant-fedcba9876543210.tmp',
      '.restaurant-x.tmp',
      'config.json',
    ]);
  });

  it('deletes the others when one has vanished or is a folder', () => {
    const folder = tempFolder();
    const nameOf = (digit: string) => join(folder, `.restaurant-${digit.repeat(16)}.tmp`);
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const digit of '0123456789abcdef') {
      const path = nameOf(digit);
      if (digit < '3') symlinkSync('vanished', path);
      else if (digit < '6') mkdirSync(path);
      else writeFileSync(path, '');
      if (digit >= '3') utimesSync(path, old, old);
    }
    sweepTemps(folder);
    expect(
      readdirSync(folder)
        .sort()
        .map((name) => join(folder, name)),
    ).toEqual([...'012345'].map(nameOf));
  });

  it('ignores a missing folder', () => {
    expect(() => sweepTemps('/does/not/exist')).not.toThrow();
  });
});
