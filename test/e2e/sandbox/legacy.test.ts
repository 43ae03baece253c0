import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { eventsOf, HEADERS, type HttpReply, outputOf, post, sandboxes, send, toolCall } from './http.ts';

const start = sandboxes();
const ACCEPT = { accept: 'application/json, text/event-stream' };
const FIND = toolCall('find_restaurant', { name: 'Nopa', city: 'SF' }, 2);
const initializeBody = (protocolVersion: unknown = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '0' } },
});
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const ask = (method: string, params: unknown = {}, id: unknown = 7) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const codeOf = ({ status, text }: HttpReply) => [status, JSON.parse(text).error?.code];

/** Starts a sandbox and initializes a session. @returns the headers of its requests */
async function connected(options: SandboxOptions = {}, version = '2025-11-25') {
  const sandbox = await start({ mode: 'mcp', perMinute: 0, ...options });
  const reply = await post(sandbox, initializeBody(version), ACCEPT);
  const session = reply.headers['mcp-session-id'];
  const headers = {
    ...ACCEPT,
    'mcp-protocol-version': version,
    ...(typeof session === 'string' && { 'mcp-session-id': session }),
  };
  expect((await post(sandbox, INITIALIZED, headers)).status).toBe(202);
  return { sandbox, headers };
}

describe('initialize', () => {
  it('returns the capabilities, the server, and a session id in the header', async () => {
    const reply = await post(await start({ mode: 'mcp' }), initializeBody(), ACCEPT);
    expect(reply.status).toBe(200);
    expect(reply.headers['mcp-session-id']).toMatch(/^[\x21-\x7e]{16,}$/);
    const { result } = JSON.parse(reply.text);
    expect(result).toMatchObject({ protocolVersion: '2025-11-25', capabilities: { tools: {} } });
    expect(result.serverInfo).toMatchObject({ name: expect.any(String), version: expect.any(String) });
  });

  it.each([
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
  ])('responds to %s with %s', async (requested, version) => {
    const reply = await post(await start({ mode: 'mcp' }), initializeBody(requested), ACCEPT);
    expect(JSON.parse(reply.text).result.protocolVersion).toBe(version);
  });

  it('requires a version', async () => {
    expect(codeOf(await post(await start({ mode: 'mcp' }), initializeBody(7), ACCEPT))).toEqual([
      200, -32602,
    ]);
  });
});

describe('a session', () => {
  it('must be opened first', async () => {
    const reply = await post(await start({ mode: 'mcp' }), FIND, ACCEPT);
    expect(codeOf(reply)).toEqual([400, -32000]);
    expect(reply.text).toContain('Server not initialized');
  });

  it('must be initialized', async () => {
    const sandbox = await start({ mode: 'mcp' });
    const opened = await post(sandbox, initializeBody(), ACCEPT);
    const headers = { ...ACCEPT, 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    expect(codeOf(await post(sandbox, FIND, headers))).toEqual([400, -32000]);
    expect(JSON.parse((await post(sandbox, ask('ping'), headers)).text).result).toEqual({});
  });

  it('is 404 when it is unknown, belongs to another key, or has ended', async () => {
    const { sandbox, headers } = await connected();
    expect(codeOf(await post(sandbox, FIND, { ...headers, 'mcp-session-id': 'nobody' }))).toEqual([
      404, -32001,
    ]);
    const paid = { authorization: `Bearer ${sandbox.keys.paid}` };
    expect(codeOf(await post(sandbox, FIND, { ...headers, ...paid }))).toEqual([404, -32001]);
    expect((await post(sandbox, FIND, headers)).status).toBe(200);
    expect((await send(sandbox, { method: 'DELETE', headers: { ...HEADERS, ...headers } })).status).toBe(200);
    expect(codeOf(await post(sandbox, FIND, headers))).toEqual([404, -32001]);
    expect((await send(sandbox, { method: 'DELETE', headers: { ...HEADERS, ...headers } })).status).toBe(404);
  });

  it('is required when a version is sent', async () => {
    const { sandbox, headers } = await connected();
    const { 'mcp-session-id': _, ...rest } = headers;
    expect(codeOf(await post(sandbox, FIND, rest))).toEqual([400, -32000]);
  });

  it('rejects an unsupported version, and works without one', async () => {
    const { sandbox, headers } = await connected();
    expect((await post(sandbox, FIND, { ...headers, 'mcp-protocol-version': '1999-01-01' })).status).toBe(
      400,
    );
    const { 'mcp-protocol-version': _, ...rest } = headers;
    expect((await post(sandbox, FIND, rest)).status).toBe(200);
  });

  it('is needed for DELETE', async () => {
    const sandbox = await start({ mode: 'mcp' });
    const reply = await send(sandbox, { method: 'DELETE', headers: { ...HEADERS, ...ACCEPT } });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
  });

  it('still requires the key, and counts requests', async () => {
    const sandbox = await start({ mode: 'mcp', perMinute: 1 });
    expect((await post(sandbox, initializeBody(), { ...ACCEPT, authorization: 'Bearer x' })).status).toBe(
      401,
    );
    expect((await post(sandbox, initializeBody(), ACCEPT)).status).toBe(200);
    expect((await post(sandbox, initializeBody(), ACCEPT)).status).toBe(429);
  });
});

describe('requests', () => {
  it.each(['application/json', 'text/event-stream', '*/*', ''])(
    '406 when only %j is accepted',
    async (accept) => {
      expect((await post(await start({ mode: 'mcp' }), initializeBody(), { accept })).status).toBe(406);
    },
  );

  it('may be notifications and responses, which get no response, and may have strings as ids', async () => {
    const { sandbox, headers } = await connected();
    expect(
      (
        await post(
          sandbox,
          { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } },
          headers,
        )
      ).text,
    ).toBe('');
    expect((await post(sandbox, { jsonrpc: '2.0', id: 1, result: {} }, headers)).status).toBe(202);
    expect(JSON.parse((await post(sandbox, ask('ping', {}, 'abc'), headers)).text).id).toBe('abc');
  });

  it('-32601 for an unknown method', async () => {
    const { sandbox, headers } = await connected();
    expect(codeOf(await post(sandbox, ask('resources/subscribe'), headers))).toEqual([200, -32601]);
  });

  it('-32602 for an unknown tool', async () => {
    const { sandbox, headers } = await connected();
    expect(codeOf(await post(sandbox, toolCall('cook', {}), headers))).toEqual([200, -32602]);
  });
});

describe('tools/list', () => {
  it('describes every tool and every argument', async () => {
    const { sandbox, headers } = await connected();
    const { result } = JSON.parse((await post(sandbox, ask('tools/list'), headers)).text);
    expect(Object.keys(result)).toEqual(['tools']);
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual([
      'find_restaurant',
      'lookup_restaurant',
      'explore_area',
    ]);
    for (const { description, inputSchema } of result.tools) {
      expect(description).toMatch(/\w/);
      expect(inputSchema.type).toBe('object');
      for (const property of Object.values(inputSchema.properties)) {
        expect(property).toMatchObject({ type: 'string', description: expect.any(String) });
      }
    }
  });

  it('has one page', async () => {
    const { sandbox, headers } = await connected();
    const { result } = JSON.parse((await post(sandbox, ask('tools/list'), headers)).text);
    expect(result.tools).toHaveLength(3);
    expect(result).not.toHaveProperty('nextCursor');
    for (const cursor of ['', '2', null]) {
      expect(codeOf(await post(sandbox, ask('tools/list', { cursor }), headers))).toEqual([200, -32602]);
    }
  });
});

describe('explore_area', () => {
  it('counts a city, in text and structured content', async () => {
    const { sandbox, headers } = await connected();
    const reply = await post(sandbox, toolCall('explore_area', { city: 'SF' }), headers);
    const { output } = outputOf(reply);
    expect(JSON.parse(reply.text).result.structuredContent).toEqual(output);
    expect(output).toMatchObject({ status: 'ok', city: 'San Francisco', neighborhood: null, total: 24 });
    expect(output.top).toHaveLength(5);
    expect((output.grades as { count: number }[]).reduce((sum, { count }) => sum + count, 0)).toBe(24);
  });

  it('counts a neighborhood, and nothing for an unknown one', async () => {
    const { sandbox, headers } = await connected();
    const explore = async (args: unknown) =>
      outputOf(await post(sandbox, toolCall('explore_area', args), headers)).output;
    expect(await explore({ city: 'SF', neighborhood: 'nopa' })).toMatchObject({ total: 5 });
    expect(await explore({ city: 'SF', neighborhood: 'Nowhere' })).toMatchObject({
      total: 0,
      top: [],
      cuisines: [],
    });
    expect(await explore({ city: 'Atlantis' })).toMatchObject({ status: 'ok', total: 0 });
  });
});

describe('streams', () => {
  it('report progress if the request has a token', async () => {
    const { sandbox, headers } = await connected({ reply: 'sse' });
    const params = { ...(FIND.params as object), _meta: { progressToken: 'p' } };
    const messages = eventsOf(await post(sandbox, { ...FIND, params }, headers));
    const parsed = messages.map(({ data }) => JSON.parse(data));
    expect(parsed.map(({ method }) => method)).toEqual([
      'notifications/progress',
      'notifications/progress',
      undefined,
    ]);
    expect(parsed.map(({ params }) => params?.progress)).toEqual([1, 2, undefined]);
    expect(parsed[0].params.progressToken).toBe('p');
    expect(parsed[2]).toMatchObject({ id: 2 });
  });

  it('are not available for messages of the server itself', async () => {
    const { sandbox, headers } = await connected();
    const reply = await send(sandbox, { method: 'GET', headers: { ...HEADERS, ...headers } });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST, DELETE']);
  });
});
