import { describe, expect, it } from 'vitest';
import { newHome } from '../helpers/program.ts';
import { methodsOf, useServer } from './real-server.ts';

const V2 = 'test/interop/servers/v2.mjs';
const HELLO = { exit: 0, stdout: 'Hello, Ada! Hello, Ada!\n', stderr: '' };

describe('a server of the official SDK v2', () => {
  const server = useServer(V2);

  it.each(['auto', 'bare', '2025-11-25', '2026-07-28'])('works with --protocol %s', async (protocol) => {
    const tools = await server.run(`tools --json --protocol ${protocol}`);
    expect(JSON.parse(tools.stdout).tools[0].name).toBe('greet');
    expect(await server.run(`call greet name=Ada times=2 --protocol ${protocol}`)).toEqual(HELLO);
  });

  it('requires no handshake', async () => {
    const home = newHome();
    server.passed();
    await server.run('tools', { home });
    await server.run('call greet name=Ada', { home });
    expect(methodsOf(server.passed())).toEqual(['tools/list', 'tools/call']);
  });
});

describe('a server of the official SDK v2 that rejects older clients', () => {
  const server = useServer(V2, 'reject');

  it('is detected once and then receives one request per command', async () => {
    const home = newHome();
    expect(await server.run('call greet name=Ada times=2', { home })).toEqual(HELLO);
    expect(methodsOf(server.passed())).toEqual(['tools/list', 'tools/list', 'tools/call']);

    expect(await server.run('call greet name=Ada times=2', { home })).toEqual(HELLO);
    const [call, ...others] = server.passed();
    expect(others).toEqual([]);
    expect(call?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'greet',
      'mcp-param-name': 'Ada',
    });
  });

  it('accepts names in any script', async () => {
    const { stdout } = await server.run('call greet name=Zoë-鮨 --protocol 2026-07-28');
    expect(stdout).toBe('Hello, Zoë-鮨!\n');
  });

  it.each(['2025-11-25', 'bare'])('rejects --protocol %s with a hint', async (protocol) => {
    const { exit, stderr } = await server.run(`tools --json --protocol ${protocol}`);
    expect(exit).toBe(7);
    const { error } = JSON.parse(stderr);
    expect(error).toMatchObject({ code: 'rpc_error', rpc_code: -32022 });
    expect(error.hint).toContain('--protocol auto');
  });

  it('receives no request that its schema does not allow', async () => {
    server.passed();
    const { exit, stderr } = await server.run('call greet name=Ada times=9');
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^error: times 9: must be <= 3\nhint: restaurant tools greet .*\n$/);
    expect(methodsOf(server.passed())).not.toContain('tools/call');
  });
});

describe('a server of the official SDK v2 that always streams', () => {
  const server = useServer(V2, 'reject', 'sse');

  it('responds in a stream, with progress before the response', async () => {
    expect(await server.run('call greet name=Ada times=2')).toEqual(HELLO);
    const { exit, stdout } = await server.run('call greet name=Ada times=2', { tty: { stderr: true } });
    expect([exit, stdout]).toEqual([0, HELLO.stdout]);
    const { _meta: meta } = server.passed().at(-1)?.params ?? {};
    expect(meta).toHaveProperty('progressToken');
  });
});
