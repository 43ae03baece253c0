import { describe, expect, it } from 'vitest';
import { realSleep, runCli } from '../helpers/program.ts';
import { useService } from '../helpers/service.ts';

const { env, run } = useService({ latencyMs: 300 });
const terminal = { stdout: true, stderr: true, columns: 80 };
const FIND = ['find', 'nopa', '--city', 'SF', '--max-age', '0'];

describe('a terminal that cannot replace a line', () => {
  const find = async (more: Readonly<Record<string, string | undefined>>) =>
    (await run(FIND, { env: { ...env, NO_COLOR: '1', ...more }, tty: terminal, sleep: realSleep })).stderr;

  it('shows a spinner only where its characters can be shown and replaced', async () => {
    expect(await find({})).toMatch(/\r. searching nopa in SF/);
    const others = [
      { TERM: 'dumb' },
      { LANG: 'C' },
      { LC_ALL: 'de_DE.ISO-8859-1' },
      { RESTAURANT_SPINNER: 'off' },
    ];
    const texts = await Promise.all(others.map(find));
    expect(texts.map((text) => text.includes('\r'))).toEqual(others.map(() => false));
  });

  it('gets notes in ASCII', async () => {
    expect(await find({ LANG: 'C' })).toBe('3 matches - restaurant lookup 1 for details\n');
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

describe('a narrow terminal', () => {
  it('gets the summary of a list wrapped at words', async () => {
    const list = {
      env: { ...env, TERM: 'dumb' },
      stdin: 'name,city\nNopalina,SF\nNowhere,SF\n',
      tty: { ...terminal, columns: 40 },
    };
    const { stderr } = await run(['enrich', '-', '-o', 'narrow.csv', '--loose'], list);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.slice(0, 2)).toEqual([
      '2 rows in narrow.csv: 0 matched, 1',
      'likely, 0 ambiguous, 1 not found, 0',
    ]);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  });
});

describe('--format list', () => {
  it('prints one field per line, without those that are empty', async () => {
    const { stdout } = await runCli([...FIND, '--demo', '--format', 'list', '--limit', '2'], { env });
    expect(stdout).toBe(
      [
        'Name: Nopa',
        'Grade: A',
        'Cuisine tags: californian',
        'Neighborhood: NoPa',
        'City: San Francisco',
        'Address: 560 Divisadero St, San Francisco, CA 94117',
        '',
        'Name: Nopa Corner',
        'Grade: B+',
        'Cuisine tags: californian; brunch',
        'Neighborhood: NoPa',
        'City: San Francisco',
        'Address: 701 Divisadero St, San Francisco, CA 94117',
        '',
      ].join('\n'),
    );
  });

  it('numbers the items of lists', async () => {
    const words = ['lookup', 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53', '--fields', 'standard', '--demo'];
    const { stdout } = await runCli([...words, '--format', 'list'], { env });
    expect(stdout).toContain('\nHours tuesday 1 open: 18:00\nHours tuesday 1 close: 23:30\n');
    expect(stdout).toContain('\nSignature dishes 2 name: braised greens\n');
    expect(stdout).not.toMatch(/[[{]/);
  });
});
