import { expect, it } from 'vitest';
import { newHome, runCli } from '../../helpers/program.ts';
import { PAID, useService } from '../../helpers/service.ts';

const service = useService();

it('login to a sandbox causes a warning a day at a terminal', async () => {
  const { env } = newHome();
  const { baseUrl } = service.sandbox;
  await runCli(['login', '--base-url', baseUrl, '--key-stdin'], { env, stdin: PAID });
  const find = ['find', 'Nopa', '--city', 'SF', '--no-color'];
  const at = Date.now();
  const shown = (words: string[], days = 0) =>
    runCli(words, { env, tty: { stderr: true }, now: () => at + days * 86_400_000 });
  const warning = `warning: sandbox data: the saved service ${new URL(baseUrl).host} is the sandbox`;
  expect((await runCli(find, { env })).stderr).toBe('');
  expect((await shown([...find, '--json'])).stderr).toBe('');
  expect((await shown([...find, '--base-url', baseUrl])).stderr).not.toContain('sandbox data');
  expect((await shown(find)).stderr).toContain(warning);
  expect((await shown(find, 0.9)).stderr).not.toContain('sandbox data');
  expect((await shown(find, 1)).stderr).toContain(warning);
});
