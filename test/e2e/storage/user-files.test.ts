import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ioError } from '../../../src/storage/files.ts';
import { writeUserFile } from '../../../src/storage/user-files.ts';
import { resolveOutput } from '../../../src/storage/user-paths.ts';
import { onWindows, useFolder } from '../../helpers/files.ts';
import { contextOf, runCli } from '../../helpers/program.ts';
import { replaceFs } from '../../helpers/replace-fs.ts';
import { useService } from '../../helpers/service.ts';

const folder = useFolder();
let whenAsked = () => {};
const service = useService({ onRequest: () => whenAsked() });
const context = contextOf({});
const target = (name: string) => resolveOutput(folder.at(name), context, { force: true });
const FIND = ['find', 'Nopa', '--city', 'SF', '-o'];
const find = (...words: string[]) =>
  runCli([...FIND, ...words], { env: { ...service.env, HOME: folder.path }, cwd: folder.path });

describe('a file that is replaced', () => {
  it.each([0o600, 0o640, 0o666, 0o400])('keeps its mode %o, whatever the umask', async (mode) => {
    folder.write('p.json', '{}', mode);
    expect(await find('p.json', '--force')).toMatchObject({ exit: 0, stderr: '' });
    expect(folder.modes('p.json')).toEqual([mode.toString(8)]);
    expect(folder.read('p.json')).toContain('Nopa');
  });

  it('keeps its content until all of the new content is there', async () => {
    folder.write('a.csv', 'old');
    async function* parts() {
      yield 'new';
      expect(folder.read('a.csv')).toBe('old');
      throw new Error('stopped');
    }
    await expect(writeUserFile(target('a.csv'), parts(), context)).rejects.toThrow('stopped');
    expect([folder.read('a.csv'), folder.list()]).toEqual(['old', ['a.csv']]);
  });

  it.each<[string, () => boolean]>([
    ['is not confirmed', () => false],
    [
      'fails',
      () => {
        throw new Error('edited');
      },
    ],
  ])('is not replaced if the last check before %s', async (how, confirm) => {
    folder.write('a.csv', 'old');
    const written = writeUserFile(target('a.csv'), 'new', { ...context, confirm });
    if (how === 'fails') await expect(written).rejects.toThrow('edited');
    else await written;
    expect([folder.read('a.csv'), folder.list()]).toEqual(['old', ['a.csv']]);
  });
});

describe('a new file', () => {
  it('consists of text and bytes in order, and is readable for others', async () => {
    async function* parts() {
      yield 'é';
      yield Uint8Array.of(65, 10);
      yield 'x'.repeat(100_000);
      yield Uint8Array.of(66);
    }
    await writeUserFile(target('a'), parts(), context);
    expect(folder.read('a')).toBe(`éA\n${'x'.repeat(100_000)}B`);
    expect([folder.modes('a'), folder.list()]).toEqual([['644'], ['a']]);
  });

  it.each<[string, () => void]>([
    ['a file', () => void folder.write('a', 'mine')],
    ['a link', () => symlinkSync(folder.at('other'), folder.at('a'))],
    ['a folder', () => mkdirSync(folder.at('a'))],
  ])('does not replace %s that appeared meanwhile', async (_what, appear) => {
    const path = target('a');
    appear();
    const before = folder.list();
    await expect(writeUserFile(path, 'new', context)).rejects.toMatchObject({
      code: 'io_error',
      message: `cannot write ${folder.at('a')}: it exists already`,
    });
    expect(folder.list()).toEqual(before);
  });

  it.each([
    ['with', true],
    ['without', false],
  ])(
    '%s its temporary file, replaces nothing in a folder that was exchanged for a link',
    async (_how, moves) => {
      mkdirSync(folder.at('shared'));
      folder.write('out.csv', 'mine');
      async function* exchange() {
        yield 'new';
        renameSync(folder.at('shared'), folder.at('away'));
        for (const name of moves ? folder.list('away') : [])
          renameSync(folder.at('away', name), folder.at(name));
        symlinkSync(folder.path, folder.at('shared'));
      }
      await expect(writeUserFile(target('shared/out.csv'), exchange(), context)).rejects.toMatchObject({
        code: 'io_error',
      });
      expect(folder.read('out.csv')).toBe('mine');
    },
  );

  it('is not left empty if it cannot be put in place without hard links', async () => {
    const fail = (code: string) => () => () => {
      throw Object.assign(new Error(), { code });
    };
    replaceFs('linkSync', fail('EPERM'));
    replaceFs('renameSync', fail('EIO'));
    await expect(writeUserFile(target('a'), 'new', context)).rejects.toMatchObject({ code: 'io_error' });
    expect(folder.list()).toEqual([]);
  });

  it('that another program creates during a search is kept, with a hint', async () => {
    whenAsked = () => void folder.write('out.csv', 'mine');
    const { exit, stderr } = await find('out.csv', '--columns', 'name');
    whenAsked = () => {};
    expect([exit, folder.read('out.csv')]).toEqual([2, 'mine']);
    expect(stderr).toBe(
      `error: out.csv exists\nhint: add --force to overwrite it: restaurant find Nopa -o out.csv --columns name --city SF --force; or write to another file: restaurant find Nopa --columns name --city SF -o <file>\n`,
    );
  });
});

describe('on Windows, a file that is open in another program', () => {
  const reported = (code: string, name: string) =>
    ioError('write', folder.at(name), Object.assign(new Error(), { code }));

  it.each(['EPERM', 'EBUSY', 'EACCES'])('is distinguished from other causes of %s', (code) => {
    folder.write('held.csv');
    folder.write('read-only.csv', '', 0o444);
    expect(reported(code, 'held.csv').code).toBe('io_error');
    onWindows();
    expect(reported(code, 'held.csv')).toMatchObject({
      code: 'in_use',
      message: `cannot write ${folder.at('held.csv')}: it is open in another program`,
      details: { hint: { text: 'close it and run the same command' } },
    });
    expect(reported('ENOSPC', 'held.csv').code).toBe('io_error');
    for (const name of ['none', '', 'read-only.csv']) expect(reported(code, name).code).toBe('io_error');
  });
});
