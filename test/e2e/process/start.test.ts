import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BIN, start } from '../../helpers/process.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { env } = newHome();
const script = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Prints every loaded file of the program on stderr at exit: those that Node loaded, and the chunks that were read. */
const LISTING = script(`
  import fs from 'node:fs';
  import { createRequire } from 'node:module';
  const { readFileSync, writeSync } = fs;
  const { cache } = createRequire(process.execPath);
  const chunks = [];
  fs.readFileSync = (path, ...options) => {
    if (String(path).endsWith('.cjs')) chunks.push(path);
    return readFileSync(path, ...options);
  };
  const print = (path) => writeSync(2, 'loaded ' + path + '\\n');
  process.on('exit', () => [...Object.keys(cache), ...chunks].forEach(print));`);

/** Libraries that are slow to load, with strings of theirs that a minifier keeps. */
const MARKS = { undici: 'undici:request:create', conf: 'Use `delete()` to clear values' } as const;

/** Runs Node. */
const node = (...words: readonly string[]) => start(process.execPath, words, { env }).ended;

/** Returns the paths of the files that a command loads. */
async function loadedFiles(words: readonly string[]): Promise<string[]> {
  const { exit, stderr } = await node('--import', LISTING, BIN, ...words);
  expect([words, exit]).toEqual([words, 0]);
  const paths = [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(1);
  return paths;
}

/** Returns which of these libraries a command loads. */
async function slowParts(words: readonly string[]): Promise<string[]> {
  const files = (await loadedFiles(words)).map((path) => readFileSync(path, 'utf8'));
  return Object.entries(MARKS).flatMap(([name, mark]) =>
    files.some((text) => text.includes(mark)) ? [name] : [],
  );
}

describe('starting', () => {
  it.each([
    [['help', 'exit-codes']],
    [['schema']],
    [['completion', 'zsh']],
    [['completion', '--complete', 'zsh', '--', 'lookup', '']],
    [[]],
  ])('%j loads neither the HTTP client nor the config writer', async (words) => {
    expect(await slowParts(words)).toEqual([]);
  });

  it('loads only the library that a command needs', async () => {
    expect(await slowParts(['find', 'Nopa', '--city', 'SF', '--demo'])).toEqual(['undici']);
    expect(await slowParts(['config', 'set', 'city', 'SF'])).toEqual(['conf']);
    expect(await slowParts(['status'])).toEqual([]);
    // Both strings occur in the bundle.
    const folder = join(ROOT, 'dist/chunks');
    const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    for (const mark of Object.values(MARKS)) expect(text.join('')).toContain(mark);
  });

  it.each([
    [['--version'], ['restaurant', 'start']],
    [['--help'], ['restaurant', 'start']],
    [
      ['find', '--help'],
      ['find', 'help', 'program', 'restaurant', 'rolldown-runtime', 'start'],
    ],
  ])('%j loads only these files', async (words, names) => {
    const files = (await loadedFiles(words)).map((path) => basename(path).replace(/(-.{8})?\.c?js$/, ''));
    expect([...new Set(files)].toSorted()).toEqual(names);
  });

  it('loads no stream of Node', async () => {
    const list = join(tempFolder(), 'list.cjs');
    const print = "require('node:fs').writeSync(2, process.moduleLoadList.join('\\n'))";
    writeFileSync(list, `process.on('exit', () => ${print});`);
    const { stderr } = await node('--require', list, BIN, 'find', '--help');
    expect(stderr.match(/^NativeModule (fs|stream)$/gm)).toEqual(['NativeModule fs']);
  });

  it('on an old version of Node prints one sentence', async () => {
    for (const version of ['18.20.4', '20.18.3', '16.0.0']) {
      const older = script(
        `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
      );
      const { exit, stdout, stderr } = await node('--import', older, BIN, 'find', 'x');
      expect([version, exit, stdout]).toEqual([version, 1, '']);
      expect(stderr).toMatch(/^error: restaurant needs Node\.js 20\.19 or later; this is v\d.*\n$/);
    }
  });

  it('without a build prints the command that builds', async () => {
    const folder = tempFolder();
    cpSync(dirname(BIN), join(folder, 'bin'), { recursive: true });
    expect(await node(join(folder, 'bin/restaurant.js'), 'find', 'x')).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: 'error: restaurant is not built yet\nhint: npm ci && npm run build\n',
    });
  });

  it('prints the prerendered help exactly as the program does', async () => {
    const rendered = await runCli(['--help']);
    for (const word of ['--help', '-h']) expect(await node(BIN, word)).toMatchObject(rendered);
    const withService = { env: { RESTAURANT_BASE_URL: 'https://api.example.com' } };
    expect(await runCli(['--help'], withService)).toEqual(rendered);
    const full = start('sh', ['-c', `"${process.execPath}" "${BIN}" --help >/dev/full`], { env });
    expect(await full.ended).toMatchObject({
      exit: 9,
      stderr: expect.stringMatching(/^error: .*disk is full/),
    });
  });

  it('uses an executable as npm requires it', () => {
    const bin = readFileSync(BIN, 'utf8');
    expect(bin.startsWith('#!/usr/bin/env node\n')).toBe(true);
    expect(bin).not.toContain('\r');
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(manifest.bin).toEqual({ restaurant: 'bin/restaurant.js' });
  });
});
