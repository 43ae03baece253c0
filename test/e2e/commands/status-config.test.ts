import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../../../src/settings/catalog.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { PAID, REVOKED, useService } from '../../helpers/service.ts';

const service = useService();

/** Three values of every setting that are not its default. */
const VALUES: Readonly<Record<SettingName, readonly [string, string, string]>> = {
  'base-url': ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3'],
  endpoint: ['http://127.0.0.1:1/x', 'http://127.0.0.1:2/x', 'http://127.0.0.1:3/x'],
  profile: ['one', 'two', 'three'],
  protocol: ['bare', '2025-11-25', '2026-07-28'],
  timeout: ['1s', '2s', '3s'],
  retries: ['1', '3', '4'],
  'max-wait': ['1s', '2s', '3s'],
  'max-age': ['1s', '2s', '3s'],
  format: ['csv', 'tsv', 'ndjson'],
  city: ['SF', 'Paris', 'Tokyo'],
  'per-minute': ['1', '2', '3'],
  'per-day': ['1', '2', '3'],
  'max-body': ['1MiB', '2MiB', '3000'],
  'key-command': ['one x', 'two', 'three'],
  'shared-state': ['redis://a:1', 'redis://b:2', 'redis://c:3'],
  'key-prefix': ['a_', 'b_', 'c_'],
  spinner: ['off', 'off', 'off'],
};

/** Settings that no option of status sets; the format is set by --json. */
const NOT_OPTIONS_OF_STATUS: readonly string[] = [
  'city',
  'format',
  'key-command',
  'key-prefix',
  'max-age',
  'per-day',
  'per-minute',
  'spinner',
];

describe('settings', () => {
  it('are numbers in JSON and in the config file where they are numeric; durations keep their unit', async () => {
    const env = {
      ...service.env,
      HOME: newHome().home,
      RESTAURANT_MAX_AGE: '',
    };
    const set = await runCli(['config', 'set', 'per-day', '500', '--json'], { env });
    expect(JSON.parse(set.stdout)).toEqual({ name: 'per-day', value: 500, source: 'config' });
    const path = (await runCli(['config', 'path'], { env })).stdout.trim();
    expect(JSON.parse(readFileSync(path, 'utf8')).settings).toEqual({ 'per-day': 500 });
    const { settings } = JSON.parse((await runCli(['status', '--json', '--all'], { env })).stdout);
    const changed = JSON.parse((await runCli(['status', '--json'], { env })).stdout).settings;
    expect(Object.keys(changed)).toEqual(['format', 'base-url', 'per-day']);
    expect(settings).toMatchObject({
      'per-day': { value: 500, source: 'config' },
      'per-minute': { value: 100, source: 'default' },
      retries: { value: 2, source: 'default' },
      timeout: { value: '30s', source: 'default' },
      'max-age': { value: '10m', source: 'default' },
      city: { value: null, source: 'default' },
    });
    expect(JSON.parse((await runCli(['config', 'list', '--json'], { env })).stdout)).toEqual(settings);
    expect((await runCli(['config', 'get', 'per-day'], { env })).stdout).toBe('500\n');
    const odd = await runCli(['status', '--json'], { env: { ...env, RESTAURANT_RETRIES: 'many' } });
    expect([odd.exit, odd.stdout.includes('"retries":{"value":"many","source":"env"}')]).toEqual([0, true]);
  });

  it.each(SETTING_NAMES)(
    '%s: an option overrides the environment, the config file and the default, in this order',
    async (name) => {
      const { home, env } = newHome();
      const { env: variable } = SETTINGS[name];
      const [first, second, third] = VALUES[name];
      const ask = async (words: string[], more: Record<string, string> = {}) => {
        const { exit, stdout, stderr } = await runCli(['status', '--json', '--all', ...words], {
          env: { ...env, ...more },
        });
        expect([exit, stderr]).toEqual([0, '']);
        const { value, source } = JSON.parse(stdout).settings[name];
        return { value: value === null ? null : String(value), source };
      };
      const { default: fallback } = SETTINGS[name] as { default?: string };
      // `--json` itself is a flag for the format.
      const forced = name === 'format' ? { value: 'json', source: 'flag' } : undefined;
      expect(await ask([])).toEqual(forced ?? { value: fallback ?? null, source: 'default' });
      if (name !== 'profile') {
        expect((await runCli(['config', 'set', name, first], { env })).exit).toBe(0);
        expect(await ask([])).toEqual(forced ?? { value: first, source: 'config' });
      }
      const fromEnv = { [variable]: second };
      expect(await ask([], fromEnv)).toEqual(forced ?? { value: second, source: 'env' });
      expect(await ask([], { [variable]: '' })).not.toEqual({ value: '', source: 'env' });
      if (!NOT_OPTIONS_OF_STATUS.includes(name)) {
        expect(await ask([`--${name}`, third], fromEnv)).toEqual({ value: third, source: 'flag' });
      }
      expect(home).not.toBe('');
    },
  );

  it('with an invalid value are rejected with the name of their source', async () => {
    const { env } = newHome();
    const wrong = await runCli(['config', 'set', 'timeout', '30 s'], { env });
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toMatch(/^error: config set timeout '30 s': expected a duration/);
    const words = ['find', 'x', '--city', 'SF'];
    const variable = await runCli([...words, '--json'], {
      env: { ...service.env, RESTAURANT_TIMEOUT: 'soon' },
    });
    expect(JSON.parse(variable.stderr).error).toMatchObject({
      code: 'bad_config',
      message: "RESTAURANT_TIMEOUT 'soon': expected a duration, such as 500ms, 30s or 2m",
    });
    const flag = await service.run([...words, '--timeout', '0', '--json']);
    expect(JSON.parse(flag.stderr).error.code).toBe('usage');
  });

  it('can be read, listed and removed', async () => {
    const { env, home } = newHome();
    const config = async (...words: string[]) => runCli(['config', ...words], { env });
    expect(await config('set', 'city', 'São Paulo')).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect((await config('get', 'city')).stdout).toBe('São Paulo\n');
    expect(JSON.parse((await config('list', '--json')).stdout).city).toEqual({
      value: 'São Paulo',
      source: 'config',
    });
    expect((await config('list')).stdout).toMatch(/^city +São Paulo +config$/m);
    expect((await config('unset', 'city')).exit).toBe(0);
    expect((await config('get', 'city')).stdout).toBe('');
    expect((await config('path')).stdout).toBe(`${join(home, '.config/restaurant/config.json')}\n`);
    const unknown = await config('set', 'citty', 'x');
    expect(unknown.exit).toBe(2);
    expect(unknown.stderr).toMatch(/^error: unknown setting 'citty'/);
    const secret = await config('set', 'api-key', 'sk_service_abcdefgh1234');
    expect(secret.exit).toBe(2);
    expect(secret.stderr).not.toContain('abcdefgh');
    expect(secret.stderr).toContain('restaurant login');
  });

  it('of a profile are named with the profile when they are invalid', async () => {
    const { env } = newHome();
    const words = ['--profile', 'work', '--json'];
    await runCli(['config', 'set', 'base-url', 'https://a.example', ...words], { env });
    const path = (await runCli(['config', 'path'], { env })).stdout.trim();
    writeFileSync(path, readFileSync(path, 'utf8').replace('https:', 'ftp:'));
    const { exit, stderr } = await runCli(['find', 'x', '--city', 'y', ...words], { env });
    expect([exit, JSON.parse(stderr).error]).toMatchObject([
      2,
      { code: 'bad_config', hint: 'restaurant config unset base-url --profile work' },
    ]);
  });

  it('of a profile that is not saved cannot be removed', async () => {
    const { env } = newHome();
    for (const name of ['base-url', 'header.X-Team']) {
      const { exit, stderr } = await runCli(['config', 'unset', name, '--profile', 'wrok'], { env });
      expect([exit, stderr]).toEqual([2, expect.stringMatching(/^error: no profile 'wrok'/)]);
    }
    expect((await runCli(['config', 'profiles', '--json'], { env })).stdout).toBe('{"profiles":[]}\n');
  });
});

describe('status', () => {
  it('shows the source of each value, also without a key', async () => {
    const { home, env } = newHome();
    const { exit, stdout, stderr } = await runCli(['status', '--json'], { env });
    expect([exit, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      profile: 'default',
      endpoint: null,
      key: { present: false, last4: null, source: null },
      budget: { per_minute: { limit: 100, used: 0 }, per_day: { limit: 2000, used: 0 } },
      files: { config: join(home, '.config/restaurant/config.json') },
    });
    const text = await runCli(['status'], { env });
    expect(text.exit).toBe(0);
    expect(text.stdout).toContain('restaurant login');
  });

  it('counts the requests of the key', async () => {
    const before = JSON.parse((await service.run(['status', '--json'])).stdout).budget;
    await service.run(['find', 'Nopa', '--city', 'SF']);
    await service.run(['find', 'Nopa', '--city', 'SF']);
    const after = JSON.parse((await service.run(['status', '--json'])).stdout).budget;
    expect(after.per_day.used).toBe(before.per_day.used + 2);
    expect(after.per_minute.used).toBe(before.per_minute.used + 2);
  });

  it('sends a request to the service with --check', async () => {
    service.sent();
    const { exit, stdout } = await service.run(['status', '--check', '--json']);
    expect([exit, service.sent()]).toEqual([0, 1]);
    expect(JSON.parse(stdout).check.ok).toBe(true);
    const down = await service.run(['status', '--check', '--json', '--retries', '0'], {
      env: { RESTAURANT_BASE_URL: 'http://127.0.0.1:9' },
    });
    expect([down.exit, JSON.parse(down.stdout).check.ok]).toEqual([6, false]);
    const { RESTAURANT_BASE_URL: baseUrl = '' } = service.env;
    const typed = ['status', '--check', '--base-url', baseUrl];
    const env = { RESTAURANT_BASE_URL: '', RESTAURANT_API_KEY: REVOKED };
    const rejected = await service.run(typed, { env });
    expect(rejected.stdout.replace(/\s+/g, ' ')).toContain(`restaurant login --base-url ${baseUrl}`);
  });

  it('reports folders that cannot exist with --check, because the home is a file', async () => {
    const cwd = newHome().home;
    const HOME = join(cwd, 'file');
    writeFileSync(HOME, '');
    const { exit, stdout } = await runCli(['status', '--check', '--demo'], { env: { HOME }, cwd });
    expect([exit, stdout]).toEqual([0, expect.stringContaining('cannot be created:')]);
  });

  it('prints what it can if the shared state cannot be used', async () => {
    const env = { RESTAURANT_SHARED_STATE: 'redis://127.0.0.1:1' };
    const text = await service.run(['status'], { env });
    expect([text.exit, text.stderr]).toEqual([0, '']);
    expect(text.stdout).toMatch(/^Problem +cannot use the shared state at 127\.0\.0\.1:1/m);
    const json = await service.run(['status', '--json'], { env });
    expect([json.exit, JSON.parse(json.stdout).budget]).toMatchObject([
      0,
      { per_day: { used: null }, paused_until: null, problem: expect.stringContaining('cannot use') },
    ]);
    const check = await service.run(['status', '--check', '--json'], { env });
    expect([check.exit, JSON.parse(check.stderr).error.code]).toEqual([6, 'network']);
    expect(JSON.parse(check.stdout).checks).toContainEqual(
      expect.objectContaining({ name: 'shared state', ok: false, detail: expect.stringContaining('cannot') }),
    );
  });

  it('shows a pause that the service requested', async () => {
    const busy = await startSandbox({ perMinute: 1 });
    onTestFinished(() => busy.close());
    const { home } = newHome();
    const env = { RESTAURANT_BASE_URL: busy.baseUrl, RESTAURANT_API_KEY: PAID, HOME: home, NO_COLOR: '1' };
    const now = Date.now();
    const find = async (name: string) =>
      (await runCli(['find', name, '--city', 'SF', '--max-wait', '0'], { env })).exit;
    expect([await find('Nopa'), await find('Kokkari')]).toEqual([0, 5]);
    const until = JSON.parse((await runCli(['status', '--json'], { env })).stdout).budget.paused_until;
    expect(Date.parse(until) - now).toBeGreaterThan(0);
    const { stdout } = await runCli(['status'], { env, tty: { stdout: true } });
    expect(stdout).toMatch(/^Pause +paused until \w{3} \d\d:\d\d \(requested by the service\)$/m);
  });

  it('reports a password of the shared state that is not encoded', async () => {
    const env = { RESTAURANT_SHARED_STATE: 'redis://:5%@127.0.0.1:1', RESTAURANT_MAX_WAIT: '0' };
    const { exit, stderr } = await service.run(['find', 'Nopa', '--city', 'SF', '--max-age', '0'], { env });
    expect([exit, stderr]).toEqual([6, expect.stringContaining('cannot use the shared state')]);
  });

  it('config get prints a setting although the profile has an invalid name', async () => {
    const env = { ...newHome().env, RESTAURANT_PROFILE: 'a/b c', RESTAURANT_CITY: 'SF' };
    expect(await runCli(['config', 'get', 'city'], { env })).toEqual({ exit: 0, stdout: 'SF\n', stderr: '' });
  });

  it('shows at most the last four characters of the key', async () => {
    const { stdout } = await service.run(['status']);
    expect(stdout).toContain('…paid');
    expect(stdout).not.toContain(PAID);
  });

  it('warns that a damaged config file is ignored when the environment has the key and the service', async () => {
    const { env, home } = newHome();
    const file = join(home, 'config.json');
    writeFileSync(file, '{', { mode: 0o600 });
    const { exit, stdout, stderr } = await runCli(['find', 'Nopa', '--city', 'SF', '--demo'], {
      env: { ...env, RESTAURANT_CONFIG_DIR: home },
      tty: { stderr: true },
    });
    expect([exit, stdout.split('\n').length]).toEqual([0, 4]);
    expect(stderr.replace(/\n/g, ' ')).toContain(
      `cannot use the config file ${file}: it is not JSON; its settings are ignored`,
    );
  });

  it('names the damaged config file', async () => {
    const { env, home } = newHome();
    const file = join(home, 'config.json');
    writeFileSync(file, '{', { mode: 0o600 });
    const { exit, stderr } = await runCli(['status'], { env: { ...env, RESTAURANT_CONFIG_DIR: home } });
    expect(exit).toBe(2);
    expect(stderr).toContain(file);
    // The damaged file may contain the city.
    const own = { env: { ...env, ...service.env, RESTAURANT_CONFIG_DIR: home } };
    const search = await runCli(['find', 'Nopa'], own);
    expect([search.exit, search.stderr]).toEqual([2, expect.stringContaining(file)]);
  });
});
