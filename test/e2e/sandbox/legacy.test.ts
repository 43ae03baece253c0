import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { ACCEPT, codeOf, eventsOf, HEADERS, NOPA, outputOf, post, send, start, toolCall } from './http.ts';

const startMcp = (options: SandboxOptions = {}) => start({ mode: 'mcp', perMinute: 0, ...options });
const initialize = (protocolVersion: unknown = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '0' } },
});
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const ask = (method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id: 7, method, params });

/** Starts a sandbox and initializes a session. */
async function connected(options: SandboxOptions = {}) {
  const sandbox = await startMcp(options);
  const opened = await post(sandbox, initialize(), ACCEPT);
  const session = { ...ACCEPT, 'mcp-session-id': String(opened.headers['mcp-session-id']) };
  const headers = { ...session, 'mcp-protocol-version': '2025-11-25' };
  expect((await post(sandbox, INITIALIZED, headers)).status).toBe(202);
  return {
    sandbox,
    headers,
    session,
    tell: (body: unknown, other: Record<string, string> = headers) => post(sandbox, body, other),
    end: () => send(sandbox, { method: 'DELETE', headers: { ...HEADERS, ...headers } }),
  };
}

describe('initialize', () => {
  it('returns the capabilities, the server, and a session id in the header', async () => {
    const reply = await post(await startMcp(), initialize(), ACCEPT);
    expect(reply.status).toBe(200);
    expect(reply.headers['mcp-session-id']).toMatch(/^[\x21-\x7e]{16,}$/);
    expect(JSON.parse(reply.text).result).toMatchObject({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: expect.any(String), version: expect.any(String) },
    });
  });

  it.each([
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    [7, undefined],
  ])('responds to %s with %s', async (requested, version) => {
    const reply = await post(await startMcp(), initialize(requested), ACCEPT);
    expect(JSON.parse(reply.text).result?.protocolVersion).toBe(version);
    expect(codeOf(reply)).toEqual([200, version === undefined ? -32602 : undefined]);
  });

  it.each(['application/json', 'text/event-stream', '*/*', ''])(
    'gets 406 if only %j is accepted',
    async (accept) => {
      expect((await post(await startMcp(), initialize(), { accept })).status).toBe(406);
    },
  );
});

describe('a session', () => {
  it('must be opened first', async () => {
    const reply = await post(await startMcp(), NOPA, ACCEPT);
    expect(codeOf(reply)).toEqual([400, -32000]);
    expect(reply.text).toContain('Server not initialized');
  });

  it('must be initialized', async () => {
    const sandbox = await startMcp();
    const opened = await post(sandbox, initialize(), ACCEPT);
    const headers = { ...ACCEPT, 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    expect(codeOf(await post(sandbox, NOPA, headers))).toEqual([400, -32000]);
    expect(JSON.parse((await post(sandbox, ask('ping'), headers)).text).result).toEqual({});
  });

  it('is 404 when it is unknown, belongs to another key, or has ended', async () => {
    const { sandbox, headers, tell, end } = await connected();
    expect(codeOf(await tell(NOPA, { ...headers, 'mcp-session-id': 'nobody' }))).toEqual([404, -32001]);
    const paid = { authorization: `Bearer ${sandbox.keys.paid}` };
    expect(codeOf(await tell(NOPA, { ...headers, ...paid }))).toEqual([404, -32001]);
    expect((await tell(NOPA)).status).toBe(200);
    expect((await end()).status).toBe(200);
    expect(codeOf(await tell(NOPA))).toEqual([404, -32001]);
    expect((await end()).status).toBe(404);
  });

  it('is required when a version is sent, and works without one, but not with an unsupported one', async () => {
    const { headers, session, tell } = await connected();
    const version = { 'mcp-protocol-version': '2025-11-25' };
    expect(codeOf(await tell(NOPA, { ...ACCEPT, ...version }))).toEqual([400, -32000]);
    expect((await tell(NOPA, session)).status).toBe(200);
    expect((await tell(NOPA, { ...headers, 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
  });

  it('is needed for DELETE', async () => {
    const reply = await send(await startMcp(), { method: 'DELETE', headers: { ...HEADERS, ...ACCEPT } });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
  });

  it('has no stream for messages of the server itself', async () => {
    const { sandbox, headers } = await connected();
    const reply = await send(sandbox, { method: 'GET', headers: { ...HEADERS, ...headers } });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST, DELETE']);
  });

  it('still requires the key, and counts requests', async () => {
    const sandbox = await startMcp({ perMinute: 1 });
    const unknown = { ...ACCEPT, authorization: 'Bearer x' };
    expect((await post(sandbox, initialize(), unknown)).status).toBe(401);
    expect((await post(sandbox, initialize(), ACCEPT)).status).toBe(200);
    expect((await post(sandbox, initialize(), ACCEPT)).status).toBe(429);
  });
});

describe('requests', () => {
  it('may be notifications and responses, which get no response, and may have strings as ids', async () => {
    const { tell } = await connected();
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } };
    expect((await tell(cancelled)).text).toBe('');
    expect((await tell({ jsonrpc: '2.0', id: 1, result: {} })).status).toBe(202);
    expect(JSON.parse((await tell({ ...ask('ping'), id: 'abc' })).text).id).toBe('abc');
  });

  it.each([
    ['an unknown method', ask('resources/subscribe'), -32601],
    ['an unknown tool', toolCall('cook', {}), -32602],
    ['an empty cursor', ask('tools/list', { cursor: '' }), -32602],
    ['an unknown cursor', ask('tools/list', { cursor: '2' }), -32602],
    ['a cursor that is null', ask('tools/list', { cursor: null }), -32602],
  ])('with %s are rejected', async (_what, body, code) => {
    const { tell } = await connected();
    expect(codeOf(await tell(body))).toEqual([200, code]);
  });

  it('get one page of tools', async () => {
    const { tell } = await connected();
    const { result } = JSON.parse((await tell(ask('tools/list'))).text);
    expect(Object.keys(result)).toEqual(['tools']);
    expect(result.tools).toHaveLength(3);
  });

  it('get progress in a stream if they have a token', async () => {
    const { tell } = await connected({ reply: 'sse' });
    const params = { ...(NOPA.params as object), _meta: { progressToken: 'p' } };
    const messages = eventsOf(await tell({ ...NOPA, params })).map(({ data }) => JSON.parse(data));
    const note = (progress: number) => ({
      method: 'notifications/progress',
      params: { progress, progressToken: 'p' },
    });
    expect(messages).toMatchObject([note(1), note(2), { id: NOPA.id, result: {} }]);
  });
});

it.each([
  [{ city: 'SF' }, { status: 'ok', city: 'San Francisco', neighborhood: null, total: 24 }],
  [{ city: 'SF', neighborhood: 'nopa' }, { total: 5 }],
  [
    { city: 'SF', neighborhood: 'Nowhere' },
    { total: 0, top: [], cuisines: [] },
  ],
  [{ city: 'Atlantis' }, { status: 'ok', total: 0 }],
])('explore_area counts %j, in text and structured content: %j', async (args, counted) => {
  const { tell } = await connected();
  const reply = await tell(toolCall('explore_area', args));
  expect(outputOf(reply).output).toMatchObject(counted);
  expect(JSON.parse(reply.text).result.structuredContent).toEqual(outputOf(reply).output);
});
