import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../helpers/process.ts';
import { useService } from '../../helpers/service.ts';
import { inTerminal } from '../../helpers/terminal.ts';

const service = useService();
const FIND = ['find', 'Nopa', '--city', 'SF'];
const run = (...words: string[]) => service.run([...FIND, ...words]);

it('shows JSON in color on a terminal when a setting selects it; --json never contains an escape', async () => {
  const tty = { stdout: true };
  const env = { TERM: 'xterm', RESTAURANT_FORMAT: 'json' };
  const { stdout } = await service.run(FIND, { tty, env });
  expect(stdout).toContain('\u001b[36m"status"\u001b[39m: \u001b[32m"ok"\u001b[39m');
  expect((await service.run([...FIND, '--no-color'], { tty, env })).stdout).not.toContain('\u001b');
  expect((await service.run([...FIND, '--json'], { tty, env })).stdout).not.toContain('\u001b');
  expect((await run('--json')).stdout).not.toContain('\u001b');
});

describe('the pager', () => {
  const LONG = ['find', 'a', '--city', 'SF', '--demo', '--json'];
  const pager = "sed 's/^/paged /'";
  const shown = async (words: readonly string[], env: Record<string, string>): Promise<string> => {
    const [program = '', ...first] = PROGRAM;
    const terminal = inTerminal(program, [...first, ...words], { env: { ...env, HOME: service.home } });
    return (await terminal.ended).output;
  };

  it('shows output that is longer than the terminal, from RESTAURANT_PAGER or PAGER', async () => {
    expect(await shown(LONG, { PAGER: 'false', RESTAURANT_PAGER: pager })).toContain('paged {');
    expect(await shown(LONG, { PAGER: pager })).toContain('paged {');
    expect(await shown(LONG, { PAGER: pager, RESTAURANT_PAGER: '' })).toContain('paged {');
  });

  it.each([
    ['output fits', ['tools', '--demo'], {}],
    ['the pager cannot be started', LONG, { PAGER: 'no-such-pager' }],
    ['it is cat', LONG, { RESTAURANT_PAGER: 'cat' }],
    ['CI is set', LONG, { CI: '1' }],
  ])('is not used if %s', async (_, words, env) => {
    const output = await shown(words, { PAGER: pager, ...env });
    expect(output).not.toContain('paged');
    expect(output.length).toBeGreaterThan(100);
  });
});
