import { describe, expect, it } from 'vitest';
import { realSleep } from '../helpers/program.ts';
import { useService } from '../helpers/service.ts';

const { env, run } = useService({ latencyMs: 300 });
const terminal = { stdout: true, stderr: true, columns: 80 };
const FIND = ['find', 'nopa', '--city', 'SF', '--max-age', '0'];

describe('a terminal that cannot replace a line', () => {
  const find = async (more: Readonly<Record<string, string | undefined>>) =>
    (await run(FIND, { env: { ...env, NO_COLOR: '1', ...more }, tty: terminal, sleep: realSleep })).stderr;

  it('shows a spinner only where its characters can be shown and replaced, and notes in ASCII', async () => {
    expect(await find({})).toMatch(/\r. searching nopa in SF/);
    const others = [
      { TERM: 'dumb' },
      { LANG: 'C' },
      { LC_ALL: 'de_DE.ISO-8859-1' },
      { RESTAURANT_SPINNER: 'off' },
    ];
    const texts = await Promise.all(others.map(find));
    expect(texts[1]).toBe('3 matches - restaurant lookup 1 for details\n');
    expect(texts.map((text) => text.includes('\r'))).toEqual(others.map(() => false));
  });

  it('gets the next command after numbered rows for a screen reader', async () => {
    const own = { ...env, NO_COLOR: '1' };
    const { stderr } = await run([...FIND, '--format', 'list'], { env: own, tty: terminal });
    expect(stderr).toContain('3 matches · restaurant lookup 1 for details\n');
  });

  it('shows no progress bar after config set spinner off', async () => {
    const own = { ...env, RESTAURANT_CONFIG_DIR: `${env.HOME}/own` };
    const settings = { env: own, tty: terminal, sleep: realSleep };
    expect((await run(['config', 'set', 'spinner', 'off'], settings)).exit).toBe(0);
    const list = { ...settings, stdin: 'name,city\nNopa,SF\nZuni,SF\n' };
    const { exit, stderr } = await run(['enrich', '-', '-o', 'out.csv'], list);
    expect(exit).toBe(0);
    expect(stderr).not.toContain('\r');
    expect((await run(['config', 'set', 'spinner', 'sometimes'], settings)).exit).toBe(2);
  });
});

it('a narrow terminal gets the summary of a list wrapped at words', async () => {
  const list = {
    env: { ...env, TERM: 'dumb' },
    stdin: 'name,city\nNopalina,SF\nNowhere,SF\n',
    tty: { ...terminal, columns: 40 },
  };
  const { stderr } = await run(['enrich', '-', '-o', 'narrow.csv', '--loose'], list);
  const lines = stderr.trimEnd().split('\n');
  expect(lines.slice(0, 3)).toEqual([
    '2 of 2 rows are due: 2 new; 2 requests',
    '2 rows in narrow.csv: 0 matched, 1',
    'likely, 0 ambiguous, 1 not found, 0',
  ]);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
});
