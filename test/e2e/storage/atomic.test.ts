import { lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writeFileAtomic } from '../../../src/storage/files.ts';
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

it('an atomic write replaces a symbolic link, and leaves its target', () => {
  folder.write('victim', 'text');
  for (const target of ['victim', 'missing']) {
    symlinkSync(target, folder.at('link'));
    write('link', 'x');
    expect([folder.read('link'), lstatSync(folder.at('link')).isFile()]).toEqual(['x', true]);
    rmSync(folder.at('link'));
  }
  expect([folder.read('victim'), folder.list()]).toEqual(['text', ['victim']]);
});

it.each([
  ['a missing folder', 'none/a', 'no such file or folder'],
  ['a file where a folder should be', 'file/a', 'a part of the path is not a folder'],
  ['a folder of that name', 'folder', 'it is a folder'],
  ['a name that is too long', 'n'.repeat(256), 'the name is too long'],
])('an atomic write reports %s', (_name, name, reason) => {
  mkdirSync(folder.at('folder'));
  folder.write('file');
  const message = `cannot write ${folder.at(name)}: ${reason}`;
  expect(errorOf(() => write(name, 'x'))).toMatchObject({ code: 'io_error', message });
  expect(folder.list()).toEqual(['file', 'folder']);
});

it('an atomic write keeps the old file and deletes its temporary file when the disk fills up', async () => {
  const path = folder.write('a', 'old');
  const worker = await bundleWorker(`import { writeFileAtomic } from '../../../src/storage/files.ts';
    try { writeFileAtomic(process.argv[2], 'x'.repeat(100_000)); }
    catch (error) { console.log(error.code, error.message); }`);
  expect(await startWorker(worker, [path], { limit: '-f 20' }).ended).toMatchObject({
    stdout: `io_error cannot write ${path}: the file would be larger than the system allows\n`,
    stderr: '',
  });
  expect([folder.read('a'), folder.list()]).toEqual(['old', ['a']]);
});
