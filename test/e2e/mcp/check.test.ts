import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS } from '../../../src/mcp/client-config/clients.ts';
import { freshHome, runCli } from '../../helpers/program.ts';
import { PAID, REVOKED, useService } from '../../helpers/service.ts';
import { useInstalled } from './installed.ts';

const installed = useInstalled();
const HTTP_CLIENTS = MCP_CLIENTS.filter(({ reference, httpByVariable }) => reference ?? httpByVariable);

describe('--check with http', () => {
  const plain = useService();
  const mcp = useService({ mode: 'mcp' });

  it.each(HTTP_CLIENTS.map(({ name }) => name))('makes the call that %s would make', async (name) => {
    mcp.sent();
    const { exit, stdout, stderr } = await mcp.run(['mcp', 'config', name, '--check', '--json']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ written: false, check: { ok: true, tools: 3 } });
    expect(mcp.sent()).toBeGreaterThan(0);
    expect(mcp.sandbox.requests.at(-1)?.key).toBe('paid');
  });

  it('says where the service has no list of tools', async () => {
    const { exit, stdout, stderr } = await plain.run(['mcp', 'config', 'cursor', '--check']);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/\ncheck: the service answered; it lists no tools.*--via stdio/);
    expect(stderr).toBe('');
  });

  it('fails with what the call failed with, and writes nothing', async () => {
    const { exit, stdout, stderr } = await plain.run(
      ['mcp', 'config', 'cursor', '--check', '--write', '--json'],
      {
        env: { RESTAURANT_API_KEY: REVOKED },
      },
    );
    expect({ exit, stdout }).toEqual({ exit: 4, stdout: '' });
    expect(JSON.parse(stderr).error.code).toBe('unauthorized');
    expect((await plain.run(['mcp', 'config', 'cursor', '--json', '--write'])).stdout).toContain(
      '"written":true',
    );
  });

  it('says that the variable is missing where the saved login helped out', async () => {
    const { env } = freshHome();
    const base = ['--base-url', mcp.sandbox.baseUrl];
    await runCli(['login', ...base, '--key-stdin'], { env, stdin: PAID });
    const { exit, stdout } = await runCli(['mcp', 'config', 'cursor', '--check'], { env });
    expect(exit).toBe(0);
    expect(stdout).toContain('has 3 tools; RESTAURANT_API_KEY is not set here');
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

  it('fails where the client will hide the key from the program', async () => {
    const { exit, stderr } = await check('claude-desktop');
    expect(exit).toBe(4);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'no_key',
      hint: expect.stringContaining('restaurant login'),
    });
  });

  it('fails with what the search failed with', async () => {
    const { exit, stderr } = await check('cursor', { RESTAURANT_API_KEY: REVOKED });
    expect(exit).toBe(4);
    expect(JSON.parse(stderr).error.code).toBe('unauthorized');
  });

  it('says that the command is not on the PATH', async () => {
    const { exit, stderr } = await check('cursor', { PATH: '/nonexistent' });
    expect(exit).toBe(9);
    expect(stderr).toContain('PATH');
  });

  /** A program called `restaurant` that is none of ours. */
  function impostor(script: string): string {
    const bin = join(freshHome().home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'restaurant'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, 'restaurant'), 0o755);
    return `${bin}:${installed.path}`;
  }

  it('tells a command that ends, and what it said last', async () => {
    const { exit, stderr } = await check('cursor', { PATH: impostor('echo "no such option" >&2; exit 3') });
    expect(exit).toBe(7);
    expect(JSON.parse(stderr).error.message).toMatch(/ended before it answered \(3\): no such option/);
  });

  it('gives up on a command that says nothing, and leaves none behind', async () => {
    const { exit, stderr } = await check('cursor', {
      PATH: impostor('exec sleep 30'),
      RESTAURANT_TIMEOUT: '200ms',
    });
    expect(exit).toBe(6);
    expect(JSON.parse(stderr).error.code).toBe('timeout');
  });
});
