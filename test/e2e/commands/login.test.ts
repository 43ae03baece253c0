import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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
  it('verifies the key with one request, and saves the key and the service for the next command', async () => {
    const user = newUser();
    service.sent();
    const login = await user.run(['login', '--base-url', service.sandbox.baseUrl, '--key-stdin'], {
      stdin: `  ${PAID}\r\n`,
    });
    expect(login).toMatchObject({ exit: 0, stderr: '' });
    expect(login.stdout).toContain('Saved key …paid in');
    expect(service.sent()).toBe(1);
    expect(user.saved().profiles.default).toMatchObject({ key: PAID, base_url: service.sandbox.baseUrl });
    expect(statSync(user.config).mode & 0o777).toBe(0o600);
    expect(statSync(join(user.config, '..')).mode & 0o777).toBe(0o700);
    expect((await user.run(['find', 'Nopa', '--city', 'SF'])).stdout).toContain('560 Divisadero');
  });

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

  it('assumes a scheme for an address without one', async () => {
    const user = newUser();
    const address = service.sandbox.baseUrl.replace('http://', '');
    expect((await user.run(['login', '--base-url', address, '--key-stdin'], { stdin: PAID })).exit).toBe(0);
    expect(user.saved().profiles.default.base_url).toBe(service.sandbox.baseUrl);
  });

  it('binds a key that was saved without a service to the first one that accepts it', async () => {
    const user = newUser();
    await user.run(['login', '--key-stdin', '--no-verify'], { stdin: PAID });
    expect(user.saved().profiles.default).not.toHaveProperty('key_origin');
    const find = ['find', 'Nopa', '--city', 'SF'];
    expect((await user.run([...find, '--base-url', service.sandbox.baseUrl])).exit).toBe(0);
    expect(user.saved().profiles.default.key_origin).toBe(service.sandbox.baseUrl);
    const elsewhere = await user.run([...find, '--base-url', 'https://other.example']);
    expect([elsewhere.exit, elsewhere.stderr]).toEqual([4, expect.stringContaining('is not sent to')]);
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

  it('saves nothing when the service rejects the key', async () => {
    const user = newUser();
    const words = ['login', '--base-url', service.sandbox.baseUrl, '--key-stdin'];
    const { exit, stderr } = await user.run(words, { stdin: REVOKED });
    expect(exit).toBe(4);
    expect(stderr).toMatch(/rejected the key …oked; nothing was saved/);
    expect(existsSync(user.config)).toBe(false);
    expect((await user.run([...words, '--no-verify'], { stdin: REVOKED })).exit).toBe(0);
    expect(user.saved().profiles.default.key).toBe(REVOKED);
  });

  it('reports that a key in the environment takes precedence over the saved one', async () => {
    const user = newUser();
    const env = { RESTAURANT_API_KEY: REVOKED };
    const place = ['--base-url', service.sandbox.baseUrl];
    const login = await user.run(['login', ...place, '--key-stdin'], { stdin: FREE, env });
    expect(login.stdout).toMatch(/\nRESTAURANT_API_KEY overrides .*: unset RESTAURANT_API_KEY\n$/);
    await user.run(['login', ...place, '--profile', 'work', '--key-stdin'], { stdin: FREE });
    const search = ['find', 'Nopa', '--city', 'SF', '--profile', 'work', ...place];
    const refused = await user.run(search, { env });
    expect(refused.exit).toBe(4);
    expect(refused.stderr).toMatch(
      /hint: the key is from RESTAURANT_API_KEY: .* unset RESTAURANT_API_KEY and log in: restaurant login --profile work --base-url \S+\n$/,
    );
    const impossible = await user.run(search, { env: { RESTAURANT_API_KEY: 'key' } });
    expect(impossible.stderr).toMatch(/hint: the key is from RESTAURANT_API_KEY: /);
  });

  it('rejects an invalid key before any request, without repeating it', async () => {
    const user = newUser();
    service.sent();
    const wrong = [
      'sk_live_abcdef',
      'sk_service_a b',
      'sk_service_é',
      'sk_service_a\nb',
      'sk_service_',
      '',
      `Bearer ${PAID}`,
    ];
    for (const key of wrong) {
      const words = ['login', '--base-url', service.sandbox.baseUrl, '--key-stdin', '--json'];
      const { exit, stdout, stderr } = await user.run(words, { stdin: key });
      expect([key, exit, stdout]).toEqual([key, 4, '']);
      expect(JSON.parse(stderr).error.code).toBe('bad_key');
      if (key.length > 12) expect(stderr).not.toContain(key.slice(11));
    }
    expect(service.sent()).toBe(0);
    const other = { RESTAURANT_KEY_PREFIX: 'sk_live_' };
    const words = ['login', '--base-url', service.sandbox.baseUrl, '--key-stdin', '--no-verify'];
    expect((await user.run(words, { stdin: 'sk_live_abcdefgh', env: other })).exit).toBe(0);
  });

  it('reads a key file, and warns about one that other users can read', async () => {
    const user = newUser();
    const file = join(user.home, 'key.txt');
    writeFileSync(file, `${PAID}\n`);
    chmodSync(file, 0o644);
    const words = ['login', '--base-url', service.sandbox.baseUrl, '--key-file', 'key.txt'];
    const tty = { stderr: true };
    const { exit, stderr } = await user.run([...words, '--no-color'], { tty });
    expect(exit).toBe(0);
    expect(stderr).toMatch(/^warning: .*key\.txt can be read by other\s+users/);
    expect((await user.run(words)).stderr).toMatch(/^warning: .*key\.txt can be read by other\s+users/);
    expect((await user.run([...words, '--json'])).stderr).toBe('');
    expect((await user.run([...words, '--quiet'])).stderr).toBe('');
    chmodSync(file, 0o600);
    expect((await user.run(words, { tty })).stderr).toBe('');
    expect((await user.run(['login', ...words.slice(1, 3), '--key-file', 'none.txt'])).exit).toBe(2);
  });

  it('saves a key per profile, and deletes only that of the given profile', async () => {
    const user = newUser();
    const place = ['--base-url', service.sandbox.baseUrl, '--key-stdin'];
    await user.run(['login', ...place], { stdin: PAID });
    await user.run(['login', ...place, '--profile', 'work'], { stdin: FREE });
    const status = async (...words: string[]) =>
      JSON.parse((await user.run(['status', '--json', ...words])).stdout);
    expect((await status()).key).toEqual({ present: true, last4: 'paid', source: 'config' });
    expect((await status('--profile', 'work')).key.last4).toBe('free');
    expect((await user.run(['logout', '--profile', 'work'])).stdout).toContain(
      'Deleted the saved key of profile work',
    );
    expect((await status('--profile', 'work')).key.present).toBe(false);
    expect((await status()).key.present).toBe(true);
    const withEnv = await user.run(['logout'], { env: { RESTAURANT_API_KEY: PAID } });
    expect(withEnv.stdout).toContain('unset RESTAURANT_API_KEY');
    expect(readFileSync(user.config, 'utf8')).not.toContain(PAID);
  });

  it('does not send a saved key to another service', async () => {
    const user = newUser();
    await user.run(['login', '--base-url', 'https://api.example.com', '--key-stdin', '--no-verify'], {
      stdin: PAID,
    });
    service.sent();
    const words = ['find', 'x', '--city', 'SF', '--base-url', service.sandbox.baseUrl];
    const { exit, stderr } = await user.run(words);
    expect(exit).toBe(4);
    expect(stderr).toContain('belongs to https://api.example.com and is not sent to');
    expect(service.sent()).toBe(0);
    const clear = await user.run(words.with(-1, 'http://api.example.com'), {
      env: { RESTAURANT_API_KEY: PAID },
    });
    expect(clear.exit).toBe(2);
    expect(clear.stderr).toContain('--insecure-http');
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
    for (const content of ['', '{', '[]', 'null', '42', '{"settings": 3}']) {
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
