import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
    home,
    config,
    env,
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

  it('does not prompt without a terminal, with --no-input or in CI', async () => {
    const user = newUser();
    const place = ['--base-url', service.sandbox.baseUrl];
    for (const [words, options] of [
      [['login', ...place], {}],
      [['login', ...place, '--no-input'], { tty: terminal }],
      [['login', ...place], { tty: terminal, env: { CI: 'true' } }],
    ] as const) {
      const { exit, stderr } = await user.run(words, options);
      expect(exit).toBe(2);
      expect(stderr).toMatch(/restaurant\s+login\s[^;]*--key-stdin\s+<\s+key\.txt/);
    }
    expect((await user.run(['login', '--key-stdin'], { stdin: PAID })).stderr).toMatch(/^error: no service/);
    expect(existsSync(user.config)).toBe(false);
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

  it('reports a damaged config file and leaves it unchanged', async () => {
    const user = newUser();
    mkdirSync(join(user.config, '..'), { recursive: true, mode: 0o700 });
    for (const content of [
      '',
      '{',
      '[]',
      'null',
      '42',
      '\u0000',
      '{"settings": 3}',
      '{"profiles":{"default":3}}',
    ]) {
      writeFileSync(user.config, content, { mode: 0o600 });
      const { exit, stderr } = await user.run(['find', 'x', '--city', 'SF']);
      expect([content, exit]).toEqual([content, 2]);
      expect(stderr).toContain(user.config);
      expect(stderr).toMatch(/hint: .*restaurant login/);
      expect((await user.run(['login', '--key-stdin', '--no-verify'], { stdin: PAID })).exit).toBe(2);
      expect(readFileSync(user.config, 'utf8')).toBe(content);
      const env = { RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
      expect((await user.run(['find', 'Nopa', '--city', 'SF'], { env })).exit).toBe(0);
    }
  });
});
