import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

const UTF16 = [
  ['little', Buffer.from(`\ufeff${PAID}\r\n`, 'utf16le')],
  ['big', Buffer.from(`\ufeff${PAID}\r\n`, 'utf16le').swap16()],
  ['no', Buffer.from(`\ufeff${PAID}\r\n`)],
] as const;

it.each(UTF16)('reads a key as PowerShell writes it, with %s endian UTF-16', async (_order, bytes) => {
  const { home, env } = newHome();
  writeFileSync(join(home, 'key.txt'), bytes, { mode: 0o600 });
  for (const how of [['--key-stdin'], ['--key-file', 'key.txt']]) {
    const words = ['login', '--base-url', service.sandbox.baseUrl, ...how];
    expect(await runCli(words, { env, cwd: home, stdin: bytes })).toMatchObject({ exit: 0, stderr: '' });
  }
});

it('names what to do about a key in another encoding', async () => {
  const { home, env } = newHome();
  const bytes = Buffer.from('sk_service_é', 'latin1');
  writeFileSync(join(home, 'key.txt'), bytes, { mode: 0o600 });
  for (const [how, name] of [
    [['--key-stdin'], 'stdin'],
    [['--key-file', 'key.txt'], 'key.txt'],
  ] as const) {
    const run = await runCli(['login', '--no-verify', ...how], { env, cwd: home, stdin: bytes });
    expect(run).toEqual({
      exit: 2,
      stdout: '',
      stderr: `error: ${name} is not UTF-8 text\nhint: save it as UTF-8\n`,
    });
  }
});

it('saves the key in a relative RESTAURANT_CONFIG_DIR', async () => {
  const { home, env } = newHome();
  const words = ['login', '--base-url', service.sandbox.baseUrl, '--key-stdin'];
  await runCli(words, { env: { ...env, RESTAURANT_CONFIG_DIR: './cfg' }, cwd: home, stdin: PAID });
  expect(readdirSync(join(home, 'cfg'))).toEqual(['config.json']);
  expect(readdirSync(home)).not.toContain('.config');
});

it('logout deletes the responses of a key that was pasted with blanks around it', async () => {
  const { home, env } = newHome();
  const folder = join(home, '.config', 'restaurant');
  const profile = { base_url: service.sandbox.baseUrl, key: ` ${PAID}\n` };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { default: profile } }), {
    mode: 0o600,
  });
  const responses = () => readdirSync(join(home, '.cache', 'restaurant', 'responses')).length;
  expect((await runCli(['find', 'Nopa', '--city', 'SF'], { env })).exit).toBe(0);
  expect(responses()).toBe(1);
  const { stdout } = await runCli(['logout'], { env });
  expect([stdout, responses()]).toEqual(['Deleted the saved key of profile default.\n', 0]);
});
