import {
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomic } from '../../../src/storage/atomic.ts';
import { errorOf, modeOf } from '../../helpers/files.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

let folder = '';
beforeEach(() => {
  folder = tempFolder();
});

describe('writeFileAtomic', () => {
  it('writes text and bytes, with mode 0600 by default, and leaves nothing else', () => {
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
    const path = join(folder, 'a');
    writeFileSync(path, 'old', { mode: 0o644 });
    writeFileAtomic(path, 'new');
    expect(modeOf(path)).toBe('600');
  });

  it('accepts the longest file name that the file system allows', () => {
    const path = join(folder, 'n'.repeat(255));
    writeFileAtomic(path, 'x');
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  it('writes through symbolic links, also dangling and relative ones', () => {
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
    const path = join(folder, 'a');
    writeFileSync(path, 'old');
    const worker = await bundleWorker(`import { writeFileAtomic } from '../../../src/storage/atomic.ts';
       try { writeFileAtomic(${JSON.stringify(path)}, 'x'.repeat(100_000)); }
       catch (error) { console.log(error.code, error.message); }`);
    const { stdout, stderr } = await startWorker(worker, [], { limit: '-f 20' }).ended;
    expect(stderr).toBe('');
    expect(stdout).toBe(`io_error cannot write ${path}: the file would be larger than the system allows\n`);
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['a']);
  });
});
