import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../src/util/sha256.ts';
import { listOf, useLists } from '../../helpers/enrich.ts';
import { ON_WINDOWS } from '../../helpers/process.ts';

const { service, path, read, write, enrich } = useLists();
const NOTES = 'name,city\nmy own notes,\n';

/** Writes answers whose last run has these members. */
function writeRun(run: object, ...others: readonly object[]): void {
  write('in.csv', listOf(2));
  const header = { restaurant: 'answers', version: 1, service: service.sandbox.endpoint };
  const lines = [{ run: { list: 'in.csv', options: {}, files: [], ...run } }, ...others];
  const dated = lines.map((line, index) => ({
    id: `line-${index}`,
    at: '2026-01-01T00:00:00.000Z',
    ...line,
  }));
  write('out.answers.ndjson', [header, ...dated].map((line) => `${JSON.stringify(line)}\n`).join(''));
}

const makePipe = (name: string): void => {
  expect(spawnSync('mkfifo', [path(name)]).status).toBe(0);
};

const review = (words: string, file = 'out.answers.ndjson') =>
  service.run(['review', file, ...words.split(' ')], { cwd: path(''), stdin: 'row,decision\n1,none\n' });

/** The ways to write views. */
const WRITES = ['--apply -', '--undo'];

describe.each(WRITES)('review %s of answers from a stranger', (words) => {
  const decided = { decide: { name: 'Place 1', city: 'Testville' }, restaurant: null };

  it.each([
    ['without a checksum', [], 'exists'],
    [
      'with the checksum of another text',
      [{ wrote: { file: 'notes.csv', sha256: 'a'.repeat(64) } }],
      'was changed by hand',
    ],
    [
      'with the checksum of another file',
      [{ wrote: { file: 'other.csv', sha256: sha256Hex(NOTES) } }],
      'exists',
    ],
  ])('writes no file of the folder %s', async (_, lines, problem) => {
    write('notes.csv', NOTES);
    writeRun({ files: ['new.csv', 'notes.csv'] }, decided, ...lines);
    const before = read('out.answers.ndjson');
    const { exit, stderr } = await review(words);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`notes.csv ${problem}\n`)]);
    expect([read('notes.csv'), read('out.answers.ndjson')]).toEqual([NOTES, before]);
    expect(existsSync(path('new.csv'))).toBe(false);
  });

  it.skipIf(ON_WINDOWS)('writes to no pipe, device, or link', async () => {
    write('notes.csv', NOTES);
    makePipe('pipe.csv');
    symlinkSync('/dev/null', path('null.csv'));
    symlinkSync('notes.csv', path('link.csv'));
    for (const file of ['pipe.csv', 'null.csv', 'link.csv']) {
      writeRun({ files: [file] }, decided, { wrote: { file, sha256: sha256Hex(NOTES) } });
      const before = read('out.answers.ndjson');
      expect((await review(words)).exit).toBe(2);
      expect([read('notes.csv'), read('out.answers.ndjson')]).toEqual([NOTES, before]);
    }
  });
});

describe.skipIf(ON_WINDOWS)('review reads no list of answers from a stranger that is', () => {
  it.each([
    ['a pipe', () => makePipe('list.csv')],
    ['a folder', () => write('list.csv/in.csv', listOf(2))],
    ['a link to a device without an end', () => symlinkSync('/dev/zero', path('list.csv'))],
    ['a link out of the folder', () => symlinkSync(write('../outside.csv', listOf(2)), path('list.csv'))],
  ])('%s', async (_, make) => {
    make();
    writeRun({ list: 'list.csv' });
    const { exit, stdout, stderr } = await review('--json');
    expect([exit, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'bad_input' });
  });

  it('a pipe in place of a view', async () => {
    makePipe('view.csv');
    writeRun({ list: 'gone.csv', files: ['view.csv'] });
    const { exit, stderr } = await review('--json');
    expect([exit, JSON.parse(stderr).error.code]).toEqual([2, 'bad_input']);
  });
});

it('review reads the list that a person names', async () => {
  write('in.csv', listOf(2));
  expect((await enrich('in.csv -o out.csv')).exit).toBe(0);
  expect((await review('--json --list in.csv', 'out.csv')).stdout).toBe('[]\n');
});
