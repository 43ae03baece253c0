import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { FREE, PAID, useService } from '../../helpers/service.ts';

const service = useService();

async function userWithProfiles() {
  const { home, env } = newHome();
  const run = (words: readonly string[], options: RunOptions = {}) =>
    runCli(words, { ...options, env: { ...env, ...options.env } });
  for (const [profile, key] of [
    ['default', FREE],
    ['paid', PAID],
  ] as const) {
    const words = ['login', '--profile', profile, '--base-url', service.sandbox.baseUrl, '--key-stdin'];
    expect((await run(words, { stdin: key })).exit).toBe(0);
  }
  return { home, run, config: join(home, '.config', 'restaurant', 'config.json') };
}

describe('profiles', () => {
  it('are listed with their service and the last four characters of the key', async () => {
    const { run } = await userWithProfiles();
    const { stdout } = await run(['config', 'profiles', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      profiles: [
        { name: 'default', service: service.sandbox.baseUrl, last4: 'free' },
        { name: 'paid', service: service.sandbox.baseUrl, last4: 'paid' },
      ],
    });
    expect((await run(['config', 'profiles'])).stdout).not.toContain(PAID);
    expect((await runCli(['config', 'profiles', '--json'])).stdout).toBe('{"profiles":[]}\n');
  });

  it('are deleted one by one, or all', async () => {
    const { run, config } = await userWithProfiles();
    expect((await run(['logout', '--all'])).stdout).toBe(
      'Deleted the saved keys of profiles default, paid.\n',
    );
    expect(readFileSync(config, 'utf8')).not.toMatch(/sk_service_/);
    expect(JSON.parse((await run(['logout', '--all', '--json'])).stdout)).toEqual({
      profiles: [],
      removed: false,
      key_in_environment: false,
    });
  });

  it('are suggested when a name is unknown', async () => {
    const { run } = await userWithProfiles();
    for (const words of [
      ['find', 'x', '--city', 'y', '--profile', 'pai'],
      ['find', 'x', '--city', 'y', '--profile', 'pai', '--base-url', service.sandbox.baseUrl],
      ['logout', '--profile', 'pai'],
      ['config', 'set', 'profile', 'pai'],
    ]) {
      const { exit, stderr } = await run(words);
      expect([words, exit]).toEqual([words, 2]);
      expect(stderr).toMatch(/no profile 'pai'; saved: default, paid\nhint: did you mean paid\?/);
    }
    expect((await run(['config', 'set', 'profile', 'paid'])).exit).toBe(0);
  });
});

describe('status --check', () => {
  it('checks the program, its files and the service with one request', async () => {
    const { run } = await userWithProfiles();
    service.sent();
    const { exit, stdout } = await run(['status', '--check', '--json']);
    expect([exit, service.sent()]).toEqual([0, 1]);
    const { check, checks } = JSON.parse(stdout);
    expect(check).toEqual({ ok: true, ms: expect.any(Number) });
    const names = checks.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'version',
        'command',
        'config',
        'proxy',
        'certificates',
        'service',
        'protocol',
        'clock',
      ]),
    );
  });

  it('names files that other users can read, with the command that restricts them', async () => {
    const { run, config } = await userWithProfiles();
    chmodSync(config, 0o644);
    const { stdout } = await run(['status', '--check', '--json'], {
      env: { NODE_EXTRA_CA_CERTS: '/none.pem' },
    });
    const problems = JSON.parse(stdout).checks.filter(({ ok }: { ok: boolean }) => !ok);
    expect(problems).toEqual(
      expect.arrayContaining([
        {
          name: 'config',
          ok: false,
          detail: `${config} is accessible to other users`,
          hint: `chmod 600 ${config}`,
        },
        expect.objectContaining({
          name: 'certificates',
          detail: expect.stringContaining('/none.pem does not exist'),
        }),
      ]),
    );
  });

  it('says how far a wrong clock is behind', async () => {
    const { run } = await userWithProfiles();
    const { stdout } = await run(['status', '--check'], { now: () => Date.now() - 3 * 3_600_000 });
    expect(stdout).toMatch(/clock +problem: 3 hours behind the service\n/);
  });

  it('shows the other checks when the service fails, and exits with its code', async () => {
    const { run } = await userWithProfiles();
    const words = ['status', '--check', '--retries', '0', '--base-url', 'http://127.0.0.1:1'];
    const { exit, stdout, stderr } = await run(words);
    expect(exit).toBe(6);
    expect(stdout).toMatch(/service +problem: network: /);
    expect(stderr).toMatch(/^error: /);
    const json = await run([...words, '--json']);
    expect([JSON.parse(json.stdout).check.ok, JSON.parse(json.stderr).error.code]).toEqual([
      false,
      'network',
    ]);
  });
});

describe('words of other tools', () => {
  it.each([
    [['config', 'set', 'tmeout', '10s'], /did you mean timeout\?/],
    [['tools', 'a', 'extra'], /tools takes one argument, got 'extra' too/],
    [['find', 'x', '--city', 'y', '--format', 'jsn'], /expected one of .*; did you mean json\?/],
    [['status', '--format', 'csv'], /--format csv: status prints table, json/],
  ] as const)('%j', async (words, message) => {
    const { exit, stderr } = await runCli([...words]);
    expect(exit).toBe(2);
    expect(stderr).toMatch(message);
  });

  it('accept --format json wherever RESTAURANT_FORMAT has an effect', async () => {
    const { run } = await userWithProfiles();
    const json = await run(['config', 'path', '--json']);
    expect(await run(['config', 'path', '--format', 'json'])).toEqual(json);
    expect(await run(['config', 'path'], { env: { RESTAURANT_FORMAT: 'json' } })).toEqual(json);
  });
});
