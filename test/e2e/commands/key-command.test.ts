import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runKeyCommand } from '../../../src/app/key-command.ts';
import { splitWords } from '../../../src/util/shell.ts';
import { runCli } from '../../helpers/program.ts';
import type { ReceivedRequest } from '../../helpers/servers.ts';
import { serviceWithHome } from './service-with-home.ts';

const KEY = 'sk_service_vault_0123456789';
const FIND = ['find', 'Nopa', '--city', 'SF', '--json'];

let home: string;
let env: Record<string, string>;
let base: string;
let requests: readonly ReceivedRequest[];

beforeEach(async () => {
  ({ home, env, base, requests } = await serviceWithHome());
  env.PATH = String(process.env.PATH);
});

const run = (words: string[], more: Record<string, string> = {}) =>
  runCli(words, { env: { ...env, ...more } });

/** Sets a program, given as text of sh, as the key command. */
async function useCommand(script: string, args = ''): Promise<void> {
  const path = join(home, 'my vault');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o700);
  await run(['config', 'set', 'base-url', base]);
  expect((await run(['config', 'set', 'key-command', `'${path}' ${args}`])).exit).toBe(0);
}

describe.skipIf(process.platform === 'win32')('key-command', () => {
  it('provides the key as the first line of its output', async () => {
    await useCommand(`echo "${KEY}"; echo other; echo note >&2`);
    expect((await run(FIND)).exit).toBe(0);
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('runs without a shell and without the key of the environment', async () => {
    await useCommand(`[ "$1" = '$(x) y' ] && [ -z "$RESTAURANT_API_KEY" ] && echo ${KEY}`, '"$(x) y"');
    expect((await run(FIND)).exit).toBe(0);
  });

  it('takes precedence over the saved login, and the environment over it', async () => {
    await useCommand('exit 9');
    expect((await run(FIND, { RESTAURANT_API_KEY: `${KEY}_env` })).exit).toBe(0);
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${KEY}_env`);
    await useCommand(`echo ${KEY}`);
    await runCli(['login', '--base-url', base, '--key-stdin', '--no-verify'], { env, stdin: `${KEY}_saved` });
    await run(FIND);
    expect(requests[1]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('is shown by status, which runs it only with --check', async () => {
    await useCommand(`echo run >> '${home}/log'; echo ${KEY}`);
    const before = JSON.parse((await run(['status', '--json'])).stdout);
    expect(before.key).toEqual({ present: true, last4: null, source: 'key-command' });
    const after = JSON.parse((await run(['status', '--check', '--json'])).stdout);
    expect(after.key).toEqual({ present: true, last4: '6789', source: 'key-command' });
  });

  it('is not run for a preview', async () => {
    await useCommand('exit 9');
    const { exit, stdout } = await run([...FIND, '--dry-run']);
    expect([exit, JSON.parse(stdout).headers.Authorization]).toEqual([0, 'Bearer sk_service_…****']);
  });

  it.each([
    [
      'fails',
      `echo "locked: sk_service_other_0123456789" >&2; exit 3`,
      'failed (exit 3): locked: sk_service_…6789',
    ],
    ['prints nothing', 'exit 0', 'printed no key'],
    ['prints an empty line first', `echo; echo ${KEY}`, 'printed no key'],
    ['prints too much', 'yes sk_service_x', 'more than 64 KiB'],
    ['is ended by a signal', 'kill -TERM $$', 'SIGTERM'],
  ])('that %s stops the command before a request', async (_name, script, expected) => {
    await useCommand(script);
    const { exit, stderr } = await run(FIND);
    expect(exit).toBe(4);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'no_key',
      message: expect.stringContaining(expected),
    });
    expect(requests).toEqual([]);
  });

  it('that prints bytes that are not a key is rejected', async () => {
    await useCommand(`printf 'sk_service_\\001\\377\\n'`);
    const { exit, stderr } = await run(FIND);
    expect([exit, JSON.parse(stderr).error.code]).toEqual([4, 'bad_key']);
  });

  it('that does not exist or has an unclosed quote is named in the error', async () => {
    await run(['config', 'set', 'base-url', base]);
    for (const [command, expected] of [
      ['/no/such/program', 'was not found'],
      ['"open', 'quotes closed'],
      ["''", 'expected a command'],
    ] as const) {
      const own = { RESTAURANT_KEY_COMMAND: command };
      expect((await run(FIND, own)).stderr).toContain(expected);
    }
    const { exit, stderr } = await run(['config', 'set', 'key-command', '"open']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('quotes closed')]);
  });

  it('is named by logout, also when it cannot be run', async () => {
    expect((await run(['logout'], { RESTAURANT_KEY_COMMAND: '"open' })).stdout).toMatch(
      /\nkey-command still prints a key: unset RESTAURANT_KEY_COMMAND\n$/,
    );
    await useCommand(`echo ${KEY}`);
    expect((await run(['logout'])).stdout).toMatch(/: restaurant config unset key-command\n$/);
  });

  it('provides no key for a service other than that of the profile', async () => {
    await useCommand(`echo ${KEY}`);
    const { exit, stderr } = await run([...FIND, '--base-url', 'https://other.example']);
    expect(exit).toBe(4);
    expect(stderr).toContain(`belongs to ${base}`);
  });
});

describe.skipIf(process.platform === 'win32')('runKeyCommand', () => {
  const appWith = (signal: AbortSignal) => ({
    context: { env: process.env, platform: process.platform, signal },
  });

  it('stops a command that does not end', async () => {
    const running = runKeyCommand(appWith(new AbortController().signal), ['sleep', '60'], 100);
    await expect(running).rejects.toMatchObject({
      code: 'no_key',
      message: expect.stringContaining('within 100ms'),
    });
  });

  it('stops its command when the run is aborted', async () => {
    const abort = new AbortController();
    const running = runKeyCommand(appWith(abort.signal), ['sleep', '60']);
    setTimeout(() => abort.abort(new Error('stopped')), 50);
    await expect(running).rejects.toThrow('stopped');
  });
});

describe('splitWords', () => {
  it.each([
    ['op read op://vault/key', ['op', 'read', 'op://vault/key']],
    [`  a 'b c' "d \\" e" f\\ g $HOME `, ['a', 'b c', 'd " e', 'f g', '$HOME']],
    [`''`, ['']],
    ['', []],
    ['a "b', undefined],
  ])('splits %j', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });
});
