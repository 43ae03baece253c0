import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXTENSIONS } from '../../src/output/formats.ts';
import { newHome } from '../helpers/program.ts';
import { useService } from '../helpers/service.ts';
import { everyCommand, isGroup, readTree } from '../helpers/tree.ts';

const service = useService({ mode: 'mcp' });
const BROWSER = ['svg', 'xhtml', 'shtml', 'mht'];
const UNKNOWN = ['pdf', 'xls', 'constructor'];
const ALL = ['', 'txt', 'TXT', 'HTML', 'html.', ...EXTENSIONS.keys(), ...BROWSER, ...UNKNOWN];

const TEXT = ['', 'txt', 'TXT', 'json', 'ndjson', 'jsonl', 'csv', 'tsv', 'tab', 'md', 'markdown', 'geojson'];
const RECORDS = [...TEXT, 'xlsx', 'parquet'];
const PAGE = [...RECORDS, 'html', 'htm', 'HTML', 'html.'];
const TABLES = ['csv', 'tsv', 'tab', 'ndjson', 'jsonl', 'geojson', 'xlsx', 'parquet'];
const LIST = [...TABLES, 'html', 'htm', 'HTML', 'html.'];
const DOCUMENT = ['', 'txt', 'TXT', 'json'];

/** Command lines, with the extensions that their output can have. */
const OUTPUTS: readonly (readonly [line: string, extensions: readonly string[]])[] = [
  ['find Nopa --city SF', PAGE],
  ['find Nopa --city SF --fields standard', RECORDS],
  ['find Nopa --city SF --jq .results[].name', TEXT],
  ['find Nopa --city SF --dry-run', DOCUMENT],
  ['find Nopa --city SF --curl', ['', 'txt', 'TXT']],
  ['find Nopa --city SF --format tsv', [...TEXT, ...UNKNOWN]],
  ['find Nopa --city SF --json', [...TEXT, ...UNKNOWN]],
  ['lookup a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53', PAGE],
  ['lookup a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53 --jq .', TEXT],
  ['last', PAGE],
  ['saved', PAGE],
  ['saved --refresh', RECORDS],
  ['changes', RECORDS],
  ['enrich places.csv', LIST],
  ['call find_restaurant name=Nopa city=SF', RECORDS],
  ['tools', RECORDS],
  ['raw tools/list', [...DOCUMENT, ...UNKNOWN]],
  ['raw tools/list --jq .', TEXT],
  ['schema find', DOCUMENT],
];

/** The beginning of every binary format or page, by extension. */
const SIGNATURES = new Map([
  ['html', '<!doctype html>'],
  ['htm', '<!doctype html>'],
  ['xlsx', 'PK'],
  ['parquet', 'PAR1'],
]);

it('knows every command that writes a file', async () => {
  const { commands } = await readTree();
  const writing = everyCommand(commands).filter(
    (command) => !isGroup(command) && command.global_options.includes('--output'),
  );
  const tested = new Set(OUTPUTS.map(([line]) => line.split(' ')[0]));
  expect(writing.map(({ name }) => name).sort()).toEqual([...tested].sort());
});

describe.each(OUTPUTS)('%s', (line, possible) => {
  it.each(ALL.map((extension) => [extension]))('-o file.%s', async (extension) => {
    const { env, home } = newHome();
    const file = join(home, extension === '' ? 'file' : `file.${extension}`);
    writeFileSync(join(home, 'places.csv'), 'name,city\nNopa,SF\n');
    service.sent();
    const { exit, stdout, stderr } = await service.run([...line.split(' '), '-o', file], {
      cwd: home,
      env: { ...service.env, ...env },
    });
    expect(stdout).toBe('');
    if (possible.includes(extension)) {
      expect([exit, stderr]).toEqual([0, expect.not.stringMatching(/^error|"error"/m)]);
      const signature = SIGNATURES.get(extension.toLowerCase().replace('.', ''));
      const text = readFileSync(file, 'latin1');
      if (signature === undefined) expect(text).not.toMatch(/^\s*<|^PK|^PAR1/);
      else expect(text.slice(0, signature.length)).toBe(signature);
    } else {
      expect({ exit, sent: service.sent(), written: existsSync(file) }).toEqual({
        exit: 2,
        sent: 0,
        written: false,
      });
      expect(stderr).toMatch(/hint.+restaurant /);
    }
  });
});

it('does not follow a link to a file of another format, even with --force', async () => {
  const { env, home } = newHome();
  const run = (words: string) =>
    service.run([...words.split(' '), '--force'], { cwd: home, env: { ...service.env, ...env } });
  for (const name of ['page.html', 'book.xlsx', 'image.svg', 'data.csv']) writeFileSync(join(home, name), '');
  for (const [link, target] of [
    ['a', 'page.html'],
    ['b.csv', 'book.xlsx'],
    ['c.txt', 'image.svg'],
    ['d.html', 'page.html'],
    ['e', 'data.csv'],
  ] as const)
    symlinkSync(target, join(home, link));
  service.sent();
  for (const words of [
    '-o a',
    '-o b.csv',
    '-o c.txt',
    '-o a --format csv',
    '-o a --jq .',
    '-o a --dry-run',
  ]) {
    const { exit, stderr } = await run(`find Nopa --city SF ${words}`);
    expect([words, exit, stderr]).toEqual([words, 2, expect.stringContaining('is a link to')]);
  }
  expect(service.sent()).toBe(0);
  for (const words of ['-o d.html', '-o e']) expect((await run(`find Nopa --city SF ${words}`)).exit).toBe(0);
  expect(readFileSync(join(home, 'page.html'), 'utf8')).toMatch(/^<!doctype html>/);
});
