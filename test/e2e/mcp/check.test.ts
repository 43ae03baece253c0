import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS } from '../../../src/mcp/client-config/clients.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { PAID, REVOKED, useService } from '../../helpers/service.ts';
import { useInstalled } from './installed.ts';

const installed = useInstalled();
const HTTP_CLIENTS = MCP_CLIENTS.filter(({ reference, namesVariables }) => reference ?? namesVariables);

describe('--check with http', () => {
  const plain = useService();
  const mcp = useService({ mode: 'mcp' });

  it.each(HTTP_CLIENTS.map(({ name }) => name))('connects as %s does', async (name) => {
    mcp.sent();
    const { exit, stdout, stderr } = await mcp.run([
      'mcp',
      'config',
      name,
      '--via',
      'http',
      '--check',
      '--json',
    ]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ written: false, check: { ok: true, tools: 3 } });
    expect(mcp.sent()).toBeGreaterThan(0);
    expect(mcp.sandbox.requests.at(-1)?.key).toBe('paid');
  });

  it('fails for a service that supports only plain requests, and writes nothing', async () => {
    const words = ['mcp', 'config', 'cursor', '--via', 'http', '--check', '--write', '--json'];
    const { exit, stdout, stderr } = await plain.run(words);
    expect({ exit, stdout }).toEqual({ exit: 7, stdout: '' });
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'rpc_error',
      message: expect.stringContaining('cursor cannot connect with this URL'),
      hint: expect.stringMatching(/use the bridge: restaurant mcp config cursor .*--write --via stdio$/),
    });
    const own = await plain.run([...words, '--base-url', plain.sandbox.baseUrl]);
    expect(JSON.parse(own.stderr).error.hint).toContain(`--base-url ${plain.sandbox.baseUrl} `);
    const again = await plain.run(['mcp', 'config', 'cursor', '--via', 'http', '--json', '--write']);
    expect(JSON.parse(again.stdout)).toMatchObject({ written: true });
    expect(JSON.parse(again.stdout)).not.toHaveProperty('backup');
  });

  it('fails with the error of the connection, and writes nothing', async () => {
    const { exit, stdout, stderr } = await mcp.run(
      ['mcp', 'config', 'cursor', '--check', '--write', '--json'],
      { env: { RESTAURANT_API_KEY: REVOKED } },
    );
    expect({ exit, stdout }).toEqual({ exit: 4, stdout: '' });
    expect(JSON.parse(stderr).error.code).toBe('unauthorized');
    expect((await mcp.run(['mcp', 'config', 'cursor', '--json', '--write'])).stdout).toContain(
      '"written":true',
    );
  });

  it('fails without the variable that the client reads, even when a login is saved', async () => {
    const { env } = newHome();
    const base = ['--base-url', mcp.sandbox.baseUrl];
    await runCli(['login', ...base, '--key-stdin'], { env, stdin: PAID });
    const { exit, stderr } = await runCli(['mcp', 'config', 'cursor', '--via', 'http', '--check'], { env });
    expect(exit).toBe(4);
    expect(stderr).toContain('cursor reads the key from RESTAURANT_API_KEY, which is not set');
    const prompts = await runCli(['mcp', 'config', 'vscode', '--via', 'http', '--check'], { env });
    expect(prompts).toMatchObject({ exit: 0 });
    const literal = ['mcp', 'config', 'zed', '--via', 'http', '--literal-key', '--check'];
    expect(await runCli(literal, { env })).toMatchObject({ exit: 0 });
  });

  it('keeps stdout to the entry', async () => {
    const { stdout, stderr } = await mcp.run(['mcp', 'config', 'cursor', '--check'], {
      tty: { stderr: true },
    });
    expect(JSON.parse(stdout)).toHaveProperty('mcpServers');
    expect(stderr).toContain('check: cursor can connect; the service has 3 tools');
  });
});

describe('--check with stdio', () => {
  const service = useService();
  const check = (name: string, env: Record<string, string> = {}) =>
    service.run(['mcp', 'config', name, '--via', 'stdio', '--check', '--json'], {
      env: { PATH: installed.path, ...env },
    });

  it('starts the command of the entry and searches through it', async () => {
    service.sent();
    const { exit, stdout, stderr } = await check('cursor');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ via: 'stdio', check: { ok: true, tools: 2 } });
    expect(service.sandbox.requests.at(-1)?.body).toMatchObject({ params: { name: 'find_restaurant' } });
  });

  it('fails when the client does not pass the key to the program', async () => {
    const { exit, stderr } = await check('claude-desktop');
    expect(exit).toBe(4);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'no_key',
      hint: expect.stringContaining('restaurant login'),
    });
  });

  it('passes on the variables of saved headers, or says that the client does not', async () => {
    const { env } = newHome();
    const own = { ...env, PATH: installed.path, GATE: 'open' };
    const base = ['--base-url', service.sandbox.baseUrl];
    await runCli(['login', ...base, '--key-stdin'], { env: own, stdin: PAID });
    await runCli(['config', 'set', 'header.x-gate', '${GATE}'], { env: own });
    const words = (name: string) => ['mcp', 'config', name, '--via', 'stdio', '--check', '--json'];
    expect(await runCli(words('codex'), { env: own })).toMatchObject({ exit: 0 });
    expect(service.sandbox.requests.at(-1)?.headers['x-gate']).toBe('open');
    const { exit, stderr } = await runCli(words('claude-desktop'), { env: own });
    expect(exit).toBe(2);
    expect(JSON.parse(stderr).error.hint).toContain('claude-desktop does not pass GATE to the bridge');
  });

  it('fails with the error of the search', async () => {
    const { exit, stderr } = await check('cursor', { RESTAURANT_API_KEY: REVOKED });
    expect(exit).toBe(4);
    expect(JSON.parse(stderr).error.code).toBe('unauthorized');
  });

  it('fails when the command is not on the PATH, and names no package', async () => {
    const { exit, stderr } = await check('cursor', { PATH: '/nonexistent' });
    expect(exit).toBe(9);
    expect(JSON.parse(stderr).error.message).toContain('not on the PATH');
    expect(stderr).toContain('npm install --global .');
    expect(stderr).not.toMatch(/restaurant-(cli|data)/);
  });

  it('starts no command of another package', async () => {
    const { home } = newHome();
    const path = impostor(`touch ${home}/started`);
    const [bin = ''] = path.split(':');
    writeFileSync(join(bin, 'package.json'), '{"name":"x","bin":{"restaurant":"restaurant"}}');
    const { exit, stderr } = await check('cursor', { PATH: path });
    expect(exit).toBe(9);
    expect(JSON.parse(stderr).error.message).toContain('is another program, and cursor would start it');
    expect(existsSync(join(home, 'started'))).toBe(false);
  });

  it('gives the program no more variables than the client does', async () => {
    const dump = join(newHome().home, 'env');
    const path = impostor(`env > ${dump}; exit 3`);
    const secrets = { RESTAURANT_API_KEY: PAID, EXTRA_CERT: 'c', XDG_STATE_HOME: '/s' };
    const passed = async (name: string) => {
      await check(name, { ...secrets, PATH: path });
      return readFileSync(dump, 'utf8')
        .split('\n')
        .map((line) => line.split('=')[0] ?? '')
        .filter((name) => Object.hasOwn(secrets, name))
        .sort();
    };
    expect(await passed('claude-desktop')).toEqual([]);
    expect(await passed('codex')).toEqual(['RESTAURANT_API_KEY']);
    expect(await passed('gemini')).toEqual(['XDG_STATE_HOME']);
    expect(await passed('cursor')).toEqual(['EXTRA_CERT', 'RESTAURANT_API_KEY', 'XDG_STATE_HOME']);
  });

  it('uses the login in a config folder that the client does not know', async () => {
    const { home, env } = newHome();
    const own = { ...env, XDG_CONFIG_HOME: join(home, 'conf'), PATH: installed.path };
    const base = ['--base-url', service.sandbox.baseUrl];
    await runCli(['login', ...base, '--key-stdin'], { env: own, stdin: PAID });
    const words = ['mcp', 'config', 'codex', '--via', 'stdio', '--check'];
    expect(await runCli(words, { env: own })).toMatchObject({ exit: 0 });
  });

  it('fails when the command is another MCP server', async () => {
    const reply = '{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"other"}}}';
    const { exit, stderr } = await check('cursor', { PATH: impostor(`read line; echo '${reply}'; cat`) });
    expect(exit).toBe(7);
    expect(stderr).toContain('the restaurant on the PATH is another program');
  });

  /** A program named `restaurant` that is not ours. */
  function impostor(script: string): string {
    const bin = join(newHome().home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'restaurant'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, 'restaurant'), 0o755);
    return `${bin}:${installed.path}`;
  }

  it('reports a command that exits, with its last line on stderr', async () => {
    const { exit, stderr } = await check('cursor', { PATH: impostor('echo "no such option" >&2; exit 3') });
    expect(exit).toBe(7);
    expect(JSON.parse(stderr).error.message).toMatch(/exited before it responded \(3\): no such option/);
  });

  it('starts nothing when the timeout is invalid', async () => {
    const { exit, stderr } = await check('cursor', {
      PATH: impostor('exec sleep 30'),
      RESTAURANT_TIMEOUT: 'x',
    });
    expect([exit, JSON.parse(stderr).error.code]).toEqual([2, 'bad_config']);
  });

  it('stops a command that does not respond', async () => {
    const { exit, stderr } = await check('cursor', {
      PATH: impostor('exec sleep 30'),
      RESTAURANT_TIMEOUT: '200ms',
    });
    expect(exit).toBe(6);
    expect(JSON.parse(stderr).error.code).toBe('timeout');
  });
});
