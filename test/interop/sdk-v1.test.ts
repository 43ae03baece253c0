import { describe, expect, it } from 'vitest';
import { newHome } from '../helpers/program.ts';
import { ANYWHERE, methodsOf, useServer } from './real-server.ts';

const sample = (name: string) =>
  useServer(ANYWHERE, `node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/${name}.js`);
const HANDSHAKE = ['initialize', 'notifications/initialized'];

describe('the sample with sessions', () => {
  const server = sample('simpleStreamableHttp');

  it('gets a handshake after its first refusal, and later immediately', async () => {
    const home = newHome();
    const tools = await server.run('tools --json', { home });
    expect([tools.exit, tools.stderr]).toEqual([0, '']);
    expect(JSON.parse(tools.stdout).tools).toContainEqual(expect.objectContaining({ name: 'greet' }));
    expect(methodsOf(server.passed())).toEqual(['tools/list', ...HANDSHAKE, 'tools/list', 'DELETE']);

    const call = await server.run('call greet name=Ada', { home });
    expect(call).toEqual({ exit: 0, stdout: 'Hello, Ada!\n', stderr: '' });
    const passed = server.passed();
    expect(methodsOf(passed)).toEqual([...HANDSHAKE, 'tools/call', 'DELETE']);
    const session = passed[1]?.headers['mcp-session-id'];
    expect(session).toMatch(/^[0-9a-f-]{36}$/);
    for (const { headers } of passed.slice(1)) {
      expect(headers).toMatchObject({ 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' });
    }
  });

  it('gets one handshake for all requests of a command', async () => {
    const { exit, stdout } = await server.run('call greet name=Ada --protocol 2025-11-25 --json');
    expect([exit, JSON.parse(stdout)]).toEqual([0, 'Hello, Ada!']);
    expect(methodsOf(server.passed())).toEqual([...HANDSHAKE, 'tools/list', 'tools/call', 'DELETE']);
  });

  it('rejects --protocol bare, which the error explains', async () => {
    const { exit, stderr } = await server.run('call greet name=Ada --protocol bare');
    expect(exit).toBe(7);
    expect(stderr).toMatch(/^error: .*No valid session ID.*\nhint: .*--protocol auto .*\n$/);
  });

  it('sends a request, is rejected, and still responds', async () => {
    server.passed();
    const { exit, stdout } = await server.run('call collect-user-info infoType=contact');
    expect([exit, stdout]).toEqual([0, expect.stringContaining('-32601: Method not found')]);
    expect(methodsOf(server.passed()).slice(-3)).toEqual(['tools/call', 'POST', 'DELETE']);
  });
});

describe('the sample without sessions', () => {
  const server = sample('simpleStatelessStreamableHttp');

  it('receives one request per command', async () => {
    const home = newHome();
    expect((await server.run('tools', { home })).stdout).toContain('start-notification-stream');
    expect(methodsOf(server.passed())).toEqual(['tools/list']);
    const call = await server.run('call start-notification-stream interval=5 count=2', { home });
    expect(call).toMatchObject({ exit: 0, stderr: '' });
    const passed = server.passed();
    expect(methodsOf(passed)).toEqual(['tools/call']);
    expect(passed[0]?.params).toEqual({
      name: 'start-notification-stream',
      arguments: { interval: 5, count: 2 },
    });
  });

  it('works with the handshake, too', async () => {
    const { exit } = await server.run('call start-notification-stream count=1 --protocol 2025-11-25');
    expect(exit).toBe(0);
    expect(methodsOf(server.passed())).toEqual([...HANDSHAKE, 'tools/list', 'tools/call']);
  });
});

describe('the sample that replies in JSON', () => {
  const server = sample('jsonResponseStreamableHttp');

  it.each(['auto', '2025-11-25'])('works with --protocol %s', async (protocol) => {
    expect((await server.run(`tools greet --protocol ${protocol}`)).exit).toBe(0);
    const { exit, stdout } = await server.run(`call greet name=Ada --protocol ${protocol}`);
    expect([exit, stdout]).toEqual([0, 'Hello, Ada!\n']);
  });
});

describe('the sample that closes its streams and responds later', () => {
  const server = sample('ssePollingExample');

  it('is called again to resume its stream', async () => {
    const home = newHome();
    await server.run('tools', { home });
    server.passed();
    const { exit, stdout } = await server.run('call long-task', { home });
    expect([exit, stdout]).toEqual([0, 'Long task completed successfully!\n']);
    const passed = server.passed();
    expect(methodsOf(passed)).toEqual([...HANDSHAKE, 'tools/call', 'GET', 'DELETE']);
    expect(passed[3]?.headers).toMatchObject({
      accept: 'text/event-stream',
      'last-event-id': expect.stringMatching(/./),
      'mcp-session-id': passed[2]?.headers['mcp-session-id'],
    });
  });
});

describe.each([
  'honoWebStandardStreamableHttp',
  'sseAndStreamableHttpCompatibleServer',
  'elicitationFormExample',
])('the sample %s', (name) => {
  const server = sample(name);

  it('lists its tools', async () => {
    const { exit, stderr, stdout } = await server.run('tools --json');
    expect([exit, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toHaveProperty('tools');
  });
});
