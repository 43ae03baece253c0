import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../../../src/settings/catalog.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { PAID, useService } from '../../helpers/service.ts';

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
  'key-command': ['one x', 'two', 'three'],
  'shared-state': ['redis://a:1', 'redis://b:2', 'redis://c:3'],
  'key-prefix': ['a_', 'b_', 'c_'],
  spinner: ['off', 'off', 'off'],
};

/** Settings that no option of status sets; the format is set by --json. */
const NOT_OPTIONS_OF_STATUS = 'city format key-command key-prefix max-age per-day per-minute spinner'.split(
  ' ',
);

describe('a setting', () => {
  it.each(SETTING_NAMES)(
    '%s: an option overrides the environment, the config file and the default, in this order',
    async (name) => {
      const { env } = newHome();
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
    },
  );
});

describe('status', () => {
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

  it('says how far a wrong clock is behind', async () => {
    const now = () => Date.now() - 3 * 3_600_000;
    const { stdout } = await service.run(['status', '--check'], { now });
    expect(stdout).toMatch(/clock +problem: 3 hours behind the service\n/);
  });
});

it('does not take a folder on the PATH for the command', async () => {
  const { home, env } = newHome();
  mkdirSync(join(home, 'bin', 'restaurant'), { recursive: true });
  const words = ['status', '--check', '--demo'];
  const { stdout } = await runCli(words, { env: { ...env, PATH: join(home, 'bin') } });
  expect(stdout).toMatch(/^command +problem: restaurant is not on the PATH$/m);
});
