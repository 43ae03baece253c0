import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BIN, start } from '../helpers/process.ts';
import { freshHome } from '../helpers/program.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { env } = freshHome();
const script = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Tells every module that is loaded, on stderr. */
const HOOK = script(`
  import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    if (url.startsWith('file:')) writeSync(2, 'loaded ' + url + '\\n');
    return next(url, context);
  }`);
const REGISTER = script(`import { register } from 'node:module'; register(${JSON.stringify(HOOK)});`);

/** The libraries that are slow to load, by words of theirs that a minifier keeps. */
const MARKS = { undici: 'undici:request:create', conf: 'Use `delete()` to clear values' } as const;

/** Which of these libraries a command loads. */
async function slowParts(words: readonly string[]): Promise<string[]> {
  const { exit, stderr } = await start(process.execPath, ['--import', REGISTER, BIN, ...words], { env })
    .ended;
  expect([words, exit]).toEqual([words, 0]);
  const files = [...stderr.matchAll(/^loaded (file:.*)$/gm)].map(([, url = '']) =>
    readFileSync(fileURLToPath(url), 'utf8'),
  );
  expect(files.length).toBeGreaterThan(1);
  return Object.entries(MARKS).flatMap(([name, mark]) =>
    files.some((text) => text.includes(mark)) ? [name] : [],
  );
}

describe('starting', () => {
  it.each([
    [['--help']],
    [['--version']],
    [['find', '--help']],
    [['help', 'exit-codes']],
    [['schema']],
    [['completion', 'zsh']],
    [['completion', '--complete', 'zsh', '--', 'lookup', '']],
    [[]],
  ])('%j loads neither the HTTP client nor the config writer', async (words) => {
    expect(await slowParts(words)).toEqual([]);
  });

  it('loads the one that a command needs, and not the other', async () => {
    expect(await slowParts(['find', 'Nopa', '--city', 'SF', '--demo'])).toEqual(['undici']);
    expect(await slowParts(['config', 'set', 'city', 'SF'])).toEqual(['conf']);
    expect(await slowParts(['status'])).toEqual([]);
    // The marks are true: both libraries are in the bundle.
    const chunks = readdirSync(join(ROOT, 'dist', 'chunks')).map((name) =>
      readFileSync(join(ROOT, 'dist', 'chunks', name), 'utf8'),
    );
    for (const mark of Object.values(MARKS))
      expect(chunks.filter((text) => text.includes(mark)).length).toBeGreaterThan(0);
  });

  it('on a Node that is too old is one sentence', async () => {
    for (const version of ['18.20.4', '20.17.0', '16.0.0']) {
      const older = script(
        `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
      );
      const { exit, stdout, stderr } = await start(process.execPath, ['--import', older, BIN, 'find', 'x'], {
        env,
      }).ended;
      expect([version, exit, stdout]).toEqual([version, 1, '']);
      expect(stderr).toMatch(/^error: restaurant needs Node\.js 20\.18 or later; this is v\d.*\n$/);
    }
  });

  it('is set up as npm wants it', () => {
    const bin = readFileSync(BIN, 'utf8');
    expect(bin.startsWith('#!/usr/bin/env node\n')).toBe(true);
    expect(bin).not.toContain('\r');
    const { bin: bins, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(bins).toEqual({ restaurant: 'bin/restaurant.js' });
    for (const name of ['preinstall', 'install', 'postinstall']) expect(scripts).not.toHaveProperty(name);
  });
});
