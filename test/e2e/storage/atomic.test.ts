import { existsSync, lchownSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writeFileAtomic } from '../../../src/storage/atomic.ts';
import { errorOf, useFolder } from '../../helpers/files.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const folder = useFolder();
const write = (name: string, data: string | Uint8Array, options = {}) =>
  writeFileAtomic(folder.at(name), data, options);

it('an atomic write of text or bytes leaves one file, with mode 0600 by default', () => {
  folder.write('a.json', 'old', 0o644);
  write('a.json', 'é🍜');
  expect([folder.read('a.json'), folder.modes('a.json')]).toEqual(['é🍜', ['600']]);
  write('a.json', Uint8Array.of(0, 255), { mode: 0o640 });
  expect([folder.read('a.json'), folder.modes('a.json')]).toEqual(['\0\ufffd', ['640']]);
  write('a.json', '', { durable: false });
  expect([folder.read('a.json'), folder.list()]).toEqual(['', ['a.json']]);
});

it('an atomic write accepts the longest file name that the file system allows', () => {
  const name = 'n'.repeat(255);
  write(name, 'x');
  expect(folder.read(name)).toBe('x');
});

it('an atomic write goes through symbolic links, also dangling and relative ones', () => {
  mkdirSync(folder.at('real'));
  symlinkSync('real/second', folder.at('first'));
  symlinkSync('target', folder.at('real/second'));
  for (const text of ['one', 'two']) {
    write('first', text);
    expect(folder.read('real/target')).toBe(text);
  }
  for (const link of ['first', 'real/second']) expect(lstatSync(folder.at(link)).isSymbolicLink()).toBe(true);
});

it.runIf(process.getuid?.() === 0)('an atomic write does not go through a link of another user', () => {
  folder.write('victim', 'text');
  for (const target of ['victim', 'missing']) {
    const link = folder.at(`link to ${target}`);
    symlinkSync(target, link);
    lchownSync(link, 65534, 65534);
    expect(errorOf(() => writeFileAtomic(link, 'x')).code).toBe('io_error');
  }
  expect([folder.read('victim'), existsSync(folder.at('missing'))]).toEqual(['text', false]);
});

it.each([
  ['a missing folder', 'none/a', 'no such file or folder'],
  ['a file where a folder should be', 'file/a', 'a part of the path is not a folder'],
  ['a folder of that name', 'folder', 'it is a folder'],
  ['a name that is too long', 'n'.repeat(256), 'the name is too long'],
  ['a loop of links', 'loop', 'too many symbolic links'],
])('an atomic write reports %s', (_name, name, reason) => {
  mkdirSync(folder.at('folder'));
  folder.write('file');
  symlinkSync('loop', folder.at('loop'));
  const message = `cannot write ${folder.at(name)}: ${reason}`;
  expect(errorOf(() => write(name, 'x'))).toMatchObject({ code: 'io_error', message });
  expect(folder.list()).toEqual(['file', 'folder', 'loop']);
});

it('an atomic write keeps the old file and deletes its temporary file when the disk fills up', async () => {
  const path = folder.write('a', 'old');
  const worker = await bundleWorker(`import { writeFileAtomic } from '../../../src/storage/atomic.ts';
    try { writeFileAtomic(process.argv[2], 'x'.repeat(100_000)); }
    catch (error) { console.log(error.code, error.message); }`);
  expect(await startWorker(worker, [path], { limit: '-f 20' }).ended).toMatchObject({
    stdout: `io_error cannot write ${path}: the file would be larger than the system allows\n`,
    stderr: '',
  });
  expect([folder.read('a'), folder.list()]).toEqual(['old', ['a']]);
});
