import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { FREE, PAID, REVOKED, useService } from '../../helpers/service.ts';

const service = useService();
const terminal = { stdin: true, stdout: true, stderr: true };

/** Creates a home, without a key in the environment. */
function newUser() {
  const { home, env } = newHome();
  const config = join(home, '.config', 'restaurant', 'config.json');
  return {
    run: (words: readonly string[], options: RunOptions = {}) =>
      runCli(words, { ...options, env: { ...env, ...options.env } }),
    saved: () => JSON.parse(readFileSync(config, 'utf8')),
  };
}

describe('login', () => {
  it('prompts for missing values at a terminal', async () => {
    const user = newUser();
    const answers = { text: service.sandbox.baseUrl, secret: FREE };
    const login = await user.run(['login'], { tty: terminal, answers });
    expect(login.exit).toBe(0);
    expect(user.saved().profiles.default).toMatchObject({ key: FREE, base_url: service.sandbox.baseUrl });
  });

  it('prompts for the key again when the service rejects it at a terminal', async () => {
    const user = newUser();
    const words = ['login', '--base-url', service.sandbox.baseUrl];
    const login = await user.run(words, { tty: terminal, answers: { secret: [REVOKED, PAID] } });
    expect(login.exit).toBe(0);
    expect(login.stderr).toMatch(/rejected the key …oked; nothing was saved; try again/);
    expect(user.saved().profiles.default.key).toBe(PAID);
    service.sent();
    const never = await newUser().run(words, { tty: terminal, answers: { secret: REVOKED } });
    expect([never.exit, service.sent()]).toEqual([4, 3]);
    expect(never.stderr.split('hint:')[1]).toContain(service.sandbox.baseUrl);
  });

  it.each<[how: string, words: readonly string[], env: Readonly<Record<string, string>>]>([
    ['--no-input', ['--no-input'], {}],
    ['CI', [], { CI: 'true' }],
  ])('does not prompt for the address or the key with %s', async (_how, words, env) => {
    const { home: cwd } = newHome();
    writeFileSync(join(cwd, 'key.txt'), PAID, { mode: 0o600 });
    const answers = { text: service.sandbox.baseUrl, secret: PAID };
    const login = (...more: readonly string[]) =>
      newUser().run(['login', ...words, ...more], { tty: terminal, env, answers, cwd });
    const refusal = (reason: string) => ({ exit: 2, stdout: '', stderr: expect.stringContaining(reason) });
    expect(await login('--key-file', 'key.txt')).toEqual(refusal('no service is configured'));
    expect(await login('--base-url', service.sandbox.baseUrl)).toEqual(refusal('cannot prompt for the key'));
  });

  it('to a sandbox causes a warning a day at a terminal', async () => {
    const user = newUser();
    const { baseUrl } = service.sandbox;
    await user.run(['login', '--base-url', baseUrl, '--key-stdin'], { stdin: PAID });
    const find = ['find', 'Nopa', '--city', 'SF', '--no-color'];
    const at = Date.now();
    const shown = (words: string[], days = 0) =>
      user.run(words, { tty: { stderr: true }, now: () => at + days * 86_400_000 });
    const warning = `warning: sandbox data: the saved service ${new URL(baseUrl).host} is the sandbox`;
    expect((await user.run(find)).stderr).toBe('');
    expect((await shown([...find, '--json'])).stderr).toBe('');
    expect((await shown([...find, '--base-url', baseUrl])).stderr).not.toContain('sandbox data');
    expect((await shown(find)).stderr).toContain(warning);
    expect((await shown(find, 0.9)).stderr).not.toContain('sandbox data');
    expect((await shown(find, 1)).stderr).toContain(warning);
  });
});
