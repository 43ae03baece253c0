import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import type { TraceEvent } from '../../../src/client/http/transport.ts';
import type { DetectedProtocol, ProtocolMemory } from '../../../src/client/mcp/protocol.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { VERSION } from '../../../src/version.ts';
import { clientFor, FOUND, failure, sendJson, serve, toolReply } from '../../helpers/client.ts';
import type { ReceivedRequest } from '../../helpers/servers.ts';

interface Message {
  id?: number;
  method: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number };
}

const QUERY = { name: 'Nopa', city: 'SF' };
const messageOf = ({ body }: ReceivedRequest) => (body === '' ? {} : JSON.parse(body)) as Message;
const refuse = (response: ServerResponse, status: number, error: object, id: unknown = null) =>
  sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, error }), status);
const reply = (
  response: ServerResponse,
  id: unknown,
  result: unknown,
  headers: Record<string, string> = {},
) =>
  response
    .writeHead(200, { 'Content-Type': 'application/json', ...headers })
    .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
const sse = (...events: string[]) => events.map((event) => `${event}\n\n`).join('');

/** Stores protocols in memory; `log` lists the operations. */
function memory(start?: DetectedProtocol): ProtocolMemory & { log: unknown[] } {
  let held = start;
  const log: unknown[] = [];
  return {
    log,
    read: () => held,
    write(value) {
      held = value;
      log.push(value);
    },
    forget() {
      held = undefined;
      log.push('forgotten');
    },
  };
}

/** A server of the legacy protocol. `onCall` responds to calls after the handshake. */
async function legacy(
  options: {
    version?: string;
    session?: string;
    onCall?: (message: Message, response: ServerResponse, seen: ReceivedRequest) => void;
    onGet?: (response: ServerResponse) => void;
  } = {},
) {
  const { version = '2025-11-25', session = 'session-1', onCall, onGet } = options;
  const open = new Set<string>();
  let sessions = 0;
  return {
    drop: () => open.clear(),
    ...(await serve((seen, response) => {
      if (seen.method === 'DELETE') return void response.writeHead(204).end();
      if (seen.method === 'GET') return onGet?.(response);
      const message = messageOf(seen);
      const given = String(seen.headers['mcp-session-id'] ?? '');
      if (message.method === 'initialize') {
        const id = session === '' ? '' : `${session}${sessions++ || ''}`;
        open.add(id);
        return reply(
          response,
          message.id,
          { protocolVersion: version, capabilities: {} },
          id === '' ? {} : { 'Mcp-Session-Id': id },
        );
      }
      if (given === '' && session !== '') {
        return refuse(response, 400, { code: -32000, message: 'Bad Request: Server not initialized' });
      }
      if (!open.has(given)) return refuse(response, 404, { code: -32001, message: 'Session not found' });
      if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end();
      if (onCall !== undefined) return onCall(message, response, seen);
      sendJson(response, toolReply(message.id, FOUND));
    })),
  };
}

/** A server of the modern protocol, which checks the metadata of every request. */
const modern = (onCall?: (message: Message, response: ServerResponse, seen: ReceivedRequest) => void) =>
  serve((seen, response) => {
    const message = messageOf(seen);
    const meta = (message.params?._meta ?? {}) as Record<string, unknown>;
    const version = meta['io.modelcontextprotocol/protocolVersion'];
    if (version !== '2026-07-28') {
      return refuse(
        response,
        400,
        { code: -32022, message: 'Unsupported', data: { supported: ['2026-07-28'] } },
        message.id,
      );
    }
    if (seen.headers['mcp-protocol-version'] !== version || seen.headers['mcp-method'] !== message.method) {
      return refuse(response, 400, { code: -32020, message: 'Header mismatch' }, message.id);
    }
    if (onCall !== undefined) return onCall(message, response, seen);
    sendJson(response, toolReply(message.id, FOUND));
  });

const methods = (requests: readonly ReceivedRequest[]) =>
  requests.map((seen) => messageOf(seen).method ?? seen.method);

describe('auto', () => {
  it('sends one request to a plain service, and stores the protocol', async () => {
    const { url, requests } = await serve((seen, response) =>
      sendJson(response, toolReply(messageOf(seen).id, FOUND)),
    );
    const session = memory();
    const { client } = clientFor(url, { protocol: 'auto', protocolMemory: session });
    await client.find(QUERY);
    await client.find(QUERY);
    await client.close();
    expect(methods(requests)).toEqual(['tools/call', 'tools/call']);
    expect(session.log).toEqual([{ era: 'bare' }]);
  });

  it('performs the handshake that a refusal demands, and starts with it the next time', async () => {
    const { url, requests } = await legacy();
    const session = memory();
    const { client } = clientFor(url, { protocol: 'auto', protocolMemory: session });
    await client.find(QUERY);
    await client.find(QUERY);
    await client.close();
    expect(methods(requests)).toEqual([
      'tools/call',
      'initialize',
      'notifications/initialized',
      'tools/call',
      'tools/call',
      'DELETE',
    ]);
    expect(session.log).toEqual([{ era: 'legacy', version: '2025-11-25' }]);
    requests.length = 0;
    await clientFor(url, { protocol: 'auto', protocolMemory: session }).client.find(QUERY);
    expect(methods(requests)).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
  });

  it('uses 2026-07-28 when a refusal demands it', async () => {
    const { url, requests } = await modern();
    const session = memory();
    const { client } = clientFor(url, { protocol: 'auto', protocolMemory: session });
    await client.find(QUERY);
    await client.find(QUERY);
    expect(methods(requests)).toEqual(['tools/call', 'tools/call', 'tools/call']);
    expect(session.log).toEqual([{ era: 'modern', version: '2026-07-28' }]);
  });

  it.each([
    [400, { code: -32020, message: 'x' }],
    [400, { code: -32021, message: 'x' }],
    [200, { code: -32602, message: 'x', data: { envelope: [] } }],
  ])('uses 2026-07-28 for status %d and %j', async (status, error) => {
    const { url, requests } = await serve((seen, response, count) =>
      count === 0
        ? refuse(response, status, error, messageOf(seen).id)
        : sendJson(response, toolReply(messageOf(seen).id, FOUND)),
    );
    await clientFor(url, { protocol: 'auto' }).client.find(QUERY);
    expect(requests[1]?.headers['mcp-protocol-version']).toBe('2026-07-28');
  });

  it.each([
    [400, 'text', ''],
    [404, '<html>', ''],
    [422, '{"error":"x"}', ''],
    [
      400,
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"x","data":{"supported":["2025-06-18"]}}}',
      '',
    ],
    [
      200,
      '{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"invalid during session initialization"}}',
      '',
    ],
    [200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"x"}}', ''],
  ])('performs the handshake for status %d and %s', async (status, body) => {
    const { url, requests } = await serve((seen, response, count) => {
      const message = messageOf(seen);
      if (count === 0) return sendJson(response, body, status);
      if (message.method === 'initialize')
        return reply(response, message.id, { protocolVersion: '2025-06-18' });
      if (message.id === undefined) return void response.writeHead(202).end();
      sendJson(response, toolReply(message.id, FOUND));
    });
    await clientFor(url, { protocol: 'auto' }).client.find(QUERY);
    expect(methods(requests)).toEqual([
      'tools/call',
      'initialize',
      'notifications/initialized',
      'tools/call',
    ]);
    expect(requests[3]?.headers['mcp-protocol-version']).toBe('2025-06-18');
  });

  it.each([401, 403, 429, 500, 503])('does not change the protocol for status %d', async (status) => {
    const { url, requests } = await serve((_seen, response) => response.writeHead(status).end());
    await failure(clientFor(url, { protocol: 'auto', retries: 0 }).client.find(QUERY));
    expect(requests).toHaveLength(1);
  });

  it('returns a tool error or JSON-RPC error without another request', async () => {
    const { url, requests } = await serve((seen, response) =>
      refuse(response, 200, { code: -32602, message: 'Unknown tool' }, messageOf(seen).id),
    );
    expect(await failure(clientFor(url, { protocol: 'auto' }).client.find(QUERY))).toMatchObject({
      code: 'rpc_error',
    });
    expect(requests).toHaveLength(1);
  });

  it('reports the first refusal when the handshake is refused, too, and tries it once', async () => {
    const { url, requests } = await serve((seen, response) =>
      response.writeHead(404).end(`no ${messageOf(seen).method} here`),
    );
    const { client } = clientFor(url, { protocol: 'auto' });
    for (const method of [['tools/call', 'initialize'], ['tools/call']]) {
      requests.length = 0;
      const error = await failure(client.find(QUERY));
      expect(error).toMatchObject({ code: 'http_error', details: { status: 404 } });
      expect(error.message).toContain('no tools/call here');
      expect(hintText(hintFor(error))).toContain('restaurant status');
      expect(methods(requests)).toEqual(method);
    }
  });

  it.each([{ era: 'legacy' }, { era: 'modern', version: '2026-07-28' }, { era: 'later' }])(
    'forgets %j when the service has become plain',
    async (before) => {
      const { url, requests } = await serve((seen, response) => {
        const { id, method, params } = messageOf(seen);
        if (method !== 'tools/call' || params?._meta !== undefined) {
          return refuse(response, 400, { code: -32601, message: 'no' });
        }
        sendJson(response, toolReply(id, FOUND));
      });
      const session = memory(before);
      await clientFor(url, { protocol: 'auto', protocolMemory: session }).client.find(QUERY);
      expect(session.log).toEqual(['forgotten', { era: 'bare' }]);
      expect(requests.length).toBeLessThanOrEqual(2);
    },
  );

  it('negotiates once after a refusal with our id, and keeps a protocol that is confirmed', async () => {
    const { url, requests } = await serve((seen, response) =>
      refuse(response, 400, { code: -32601, message: 'no' }, messageOf(seen).id),
    );
    const session = memory({ era: 'bare' });
    const { client } = clientFor(url, { protocol: 'auto', protocolMemory: session });
    expect(await client.request('x/y', {})).toMatchObject({ status: 400, failed: true });
    expect(methods(requests)).toEqual(['x/y', 'initialize']);
    expect(session.log).toEqual(['forgotten', { era: 'bare' }]);
    await client.request('x/y', {});
    expect(methods(requests)).toEqual(['x/y', 'initialize', 'x/y']);
  });

  it.each([
    ['find', 'tools/call'],
    ['listTools', 'tools/list'],
    ['check', 'tools/call'],
  ] as const)('%s recovers when an endpoint of 2026-07-28 has become one of 2025', async (name, method) => {
    const { url, requests } = await serve((seen, response) => {
      const { id, method: called, params } = messageOf(seen);
      // Refuses the unknown version with the id of the request, as some servers do.
      if (params?._meta !== undefined || seen.headers['mcp-protocol-version'] === '2026-07-28') {
        return refuse(response, 400, { code: -32600, message: 'Bad Request' }, id);
      }
      if (called === 'initialize') {
        return reply(response, id, { protocolVersion: '2025-11-25' }, { 'Mcp-Session-Id': 's' });
      }
      if (seen.headers['mcp-session-id'] !== 's')
        return refuse(response, 400, { code: -32000, message: 'x' });
      if (id === undefined) return void response.writeHead(202).end();
      if (called === 'tools/list') return reply(response, id, { tools: [{ name: 't' }] });
      sendJson(response, toolReply(id, FOUND));
    });
    const session = memory({ era: 'modern', version: '2026-07-28' });
    const { client } = clientFor(url, { protocol: 'auto', protocolMemory: session });
    await (name === 'find' ? client.find(QUERY) : client[name]());
    expect(methods(requests)).toEqual([method, method, 'initialize', 'notifications/initialized', method]);
    expect(session.log).toEqual(['forgotten', { era: 'legacy', version: '2025-11-25' }]);
  });

  it('leaves out tools with an invalid annotation if 2026-07-28 was detected before', async () => {
    const bad = { name: 'bad', inputSchema: { properties: { n: { type: 'number', 'x-mcp-header': 'N' } } } };
    const { url } = await modern((message, response) =>
      reply(response, message.id, { tools: [{ name: 'good' }, bad] }),
    );
    const session = memory({ era: 'modern', version: '2026-07-28' });
    const { client } = clientFor(url, { protocol: 'auto', protocolMemory: session });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['good']);
    expect(session.log).toEqual([]);
  });

  it('reports the refusal of a request that fails with every protocol', async () => {
    const { url, requests } = await modern((message, response) =>
      refuse(response, 400, { code: -32602, message: 'bad city' }, message.id),
    );
    const session = memory({ era: 'modern', version: '2026-07-28' });
    const { client } = clientFor(url, { protocol: 'auto', protocolMemory: session });
    for (const count of [3, 4]) {
      expect((await failure(client.find(QUERY))).message).toContain('bad city');
      expect(requests).toHaveLength(count);
    }
    expect(session.read()).toEqual({ era: 'modern', version: '2026-07-28' });
  });
});

describe('bare', () => {
  it('resumes a stream that has event ids', async () => {
    let received: Message = { method: '' };
    const { url, requests } = await serve((seen, response) => {
      response.setHeader('Content-Type', 'text/event-stream');
      if (seen.method === 'GET') return void response.end(sse(`data: ${toolReply(received.id, FOUND)}`));
      received = messageOf(seen);
      response.end(sse('id: a-1\nretry: 40\ndata:'));
    });
    const { client, slept } = clientFor(url);
    expect((await client.callTool('t', {})).content).toHaveLength(1);
    expect(slept).toEqual([40]);
    expect(requests.map(({ method, headers }) => [method, headers['last-event-id']])).toEqual([
      ['POST', undefined],
      ['GET', 'a-1'],
    ]);
    expect(requests[1]?.headers).not.toHaveProperty('mcp-session-id');
  });
});

describe('a configured protocol that the service does not use', () => {
  it.each(['bare', '2026-07-28'] as const)(
    'is refused with a hint to detect the right one (%s)',
    async (protocol) => {
      const { url, requests } = await legacy();
      const error = await failure(clientFor(url, { protocol }).client.callTool('t', {}));
      expect(error).toMatchObject({ code: 'rpc_error', details: { status: 400 } });
      expect(hintText(hintFor(error))).toContain('--protocol auto');
      expect(requests).toHaveLength(1);
    },
  );

  it('is refused with a hint when the handshake is refused (2025-11-25)', async () => {
    const { url, requests } = await modern();
    const error = await failure(clientFor(url, { protocol: '2025-11-25' }).client.callTool('t', {}));
    expect(error).toMatchObject({ code: 'rpc_error', details: { rpcCode: -32022 } });
    expect(hintText(hintFor(error))).toContain('--protocol auto');
    expect(methods(requests)).toEqual(['initialize']);
  });
});

describe('legacy', () => {
  const open = async (options: Parameters<typeof legacy>[0] = {}) => {
    const server = await legacy(options);
    return { ...server, ...clientFor(server.url, { protocol: '2025-11-25' }) };
  };

  it('sends its name, then session and version', async () => {
    const { client, requests } = await open({ version: '2025-03-26' });
    await client.find(QUERY);
    expect(messageOf(requests[0] as ReceivedRequest).params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'restaurant-data-cli', version: VERSION },
    });
    expect(requests[0]?.headers).not.toHaveProperty('mcp-protocol-version');
    for (const { headers } of requests.slice(1)) {
      expect(headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-03-26' });
    }
  });

  it('reports a rate limit that ends the handshake as such', async () => {
    const { url } = await serve((seen, response) => {
      const message = messageOf(seen);
      if (message.id === undefined) return void response.writeHead(429).end();
      reply(response, message.id, { protocolVersion: '2025-11-25' });
    });
    const error = await failure(clientFor(url, { protocol: '2025-11-25' }).client.find(QUERY));
    expect(error).toMatchObject({ code: 'rate_limited', details: { status: 429 } });
    expect(hintText(hintFor(error))).not.toContain('--protocol');
  });

  it('works without a session, and deletes none', async () => {
    const { client, requests } = await open({ session: '' });
    await client.find(QUERY);
    await client.close();
    expect(requests.map(({ headers }) => headers['mcp-session-id'])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('performs one handshake for concurrent calls', async () => {
    const { client, requests } = await open();
    await Promise.all([1, 2, 3].map(() => client.find(QUERY)));
    expect(methods(requests).filter((method) => method === 'initialize')).toHaveLength(1);
  });

  it('repeats it once when the session has expired', async () => {
    const { client, requests, drop } = await open();
    await client.find(QUERY);
    drop();
    requests.length = 0;
    await client.find(QUERY);
    expect(methods(requests)).toEqual([
      'tools/call',
      'initialize',
      'notifications/initialized',
      'tools/call',
    ]);
    expect(requests[3]?.headers['mcp-session-id']).toBe('session-11');
  });

  it('returns an error with our id without a new session', async () => {
    const { client, requests } = await open({
      onCall: (message, response) =>
        refuse(response, 400, { code: -32602, message: 'bad argument' }, message.id),
    });
    expect(await failure(client.callTool('t', {}))).toMatchObject({
      code: 'rpc_error',
      details: { status: 400 },
    });
    expect(methods(requests)).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
  });

  it('rejects an unknown version', async () => {
    const { client } = await open({ version: '1999-01-01' });
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'bad_response' });
    expect(error.message).toContain('1999-01-01');
  });

  it('replies to ping, rejects other requests of the server, and still reads the response', async () => {
    const { client, requests } = await open({
      onCall(message, response) {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write(
          sse(
            'data: {"jsonrpc":"2.0","id":"p1","method":"ping"}',
            'data: {"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}',
          ),
        );
        setTimeout(() => response.end(sse(`data: ${toolReply(message.id, FOUND)}`)), 100);
      },
    });
    await client.find(QUERY);
    const answers = () => requests.map(messageOf).filter(({ method }) => method === undefined);
    await expect.poll(answers, { timeout: 20_000 }).toHaveLength(2);
    expect(answers()).toContainEqual({ jsonrpc: '2.0', id: 'p1', result: {} });
    expect(answers()).toContainEqual(
      expect.objectContaining({ id: 7, error: expect.objectContaining({ code: -32601 }) }),
    );
  });

  it('resumes a stream that ends before the response', async () => {
    let calls = 0;
    let received: Message = { method: '' };
    const server = await serve((seen, response) => {
      const message = messageOf(seen);
      response.setHeader('Content-Type', 'text/event-stream');
      if (seen.method === 'GET') {
        calls += 1;
        const last = Number(seen.headers['last-event-id']);
        return void response.end(
          calls < 3 ? sse(`id: ${last + 1}\ndata:`) : sse(`id: 9\ndata: ${toolReply(received.id, FOUND)}`),
        );
      }
      if (message.method === 'initialize') {
        return reply(response, message.id, { protocolVersion: '2025-11-25' }, { 'Mcp-Session-Id': 's' });
      }
      if (message.id === undefined) return void response.writeHead(202).end();
      received = message;
      return void response.end(sse('id: 1\nretry: 30\ndata:'));
    });
    const { client, slept } = clientFor(server.url, { protocol: '2025-11-25' });
    expect((await client.callTool('t', {})).content).toHaveLength(1);
    expect(slept).toEqual([30, 30, 30]);
    const gets = server.requests.filter(({ method }) => method === 'GET');
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual(['1', '2', '3']);
    expect(gets[0]?.headers).toMatchObject({
      accept: 'text/event-stream',
      'mcp-session-id': 's',
      'mcp-protocol-version': '2025-11-25',
    });
    expect(gets[0]?.headers).not.toHaveProperty('content-type');
  });

  it.each([
    ['after five resumptions', 'id: 1\nretry: 1\ndata:', 5],
    ['at once where it has no ids', ': nothing', 0],
  ])('does not resume a stream %s', async (_name, event, gets) => {
    const stream = (response: ServerResponse) =>
      void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(sse(event));
    const { client, requests } = await open({
      onCall: (_message, response) => stream(response),
      onGet: stream,
    });
    expect((await failure(client.callTool('t', {}))).kind).toBe('network');
    expect(requests.filter(({ method }) => method === 'GET')).toHaveLength(gets);
    expect(methods(requests).filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('notifies the service of a cancelled call', async () => {
    const controller = new AbortController();
    const { client, requests } = await open({
      onCall: () => setTimeout(() => controller.abort(new Error('enough')), 20),
    });
    expect((await failure(client.callTool('t', {}, { signal: controller.signal }))).message).toBe('enough');
    const call = requests.map(messageOf).find(({ method }) => method === 'tools/call');
    const cancelled = requests.map(messageOf).find(({ method }) => method === 'notifications/cancelled');
    expect(cancelled?.params).toEqual({ requestId: call?.id });
  });

  it('forwards progress', async () => {
    const { client } = await open({
      onCall(message, response) {
        const { progressToken } = (message.params?._meta ?? {}) as { progressToken?: unknown };
        const note = {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress: 1, total: 2 },
        };
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.end(sse(`data: ${JSON.stringify(note)}`, `data: ${toolReply(message.id, {})}`));
      },
    });
    const heard: unknown[] = [];
    await client.callTool('t', {}, { onProgress: (progress) => heard.push(progress) });
    expect(heard).toEqual([expect.objectContaining({ progress: 1, total: 2 })]);
  });

  it('does not wait for the response to a notification that stays open', async () => {
    const { url } = await serve((seen, response) => {
      const message = messageOf(seen);
      if (message.method === 'initialize')
        return reply(response, message.id, { protocolVersion: '2025-06-18' });
      if (message.id !== undefined) return sendJson(response, toolReply(message.id, FOUND));
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(': open\n\n');
    });
    const { client } = clientFor(url, { protocol: '2025-11-25', timeoutMs: 2000 });
    expect((await client.find(QUERY)).output).toEqual(FOUND);
  });
});

describe('modern', () => {
  const open = async (onCall?: Parameters<typeof modern>[0]) => {
    const server = await modern(onCall);
    const notes: string[] = [];
    const trace = (event: TraceEvent) => void (event.kind === 'note' && notes.push(event.text));
    return { ...server, notes, ...clientFor(server.url, { protocol: '2026-07-28', trace }) };
  };

  it('sends metadata in every request', async () => {
    const { client, requests } = await open();
    await client.callTool('naïve', { a: 1 });
    expect(messageOf(requests[0] as ReceivedRequest).params).toEqual({
      name: 'naïve',
      arguments: { a: 1 },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'restaurant-data-cli', version: VERSION },
      },
    });
    expect(requests[0]?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': `=?base64?${Buffer.from('naïve').toString('base64')}?=`,
    });
    expect(requests[0]?.headers).not.toHaveProperty('mcp-session-id');
  });

  it('reads the parameters that are headers from the tool list after a refusal, and drops tools with an invalid annotation', async () => {
    const tools = [
      { name: 'good', inputSchema: { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } },
      { name: 'bad', inputSchema: { properties: { n: { type: 'number', 'x-mcp-header': 'N' } } } },
    ];
    const { client, requests, notes } = await open((message, response, seen) => {
      if (message.method === 'tools/list') return reply(response, message.id, { tools });
      if (seen.headers['mcp-param-region'] !== 'eu') {
        return refuse(response, 400, { code: -32020, message: 'missing Mcp-Param-Region' }, message.id);
      }
      sendJson(response, toolReply(message.id, {}));
    });
    await client.callTool('good', { region: 'eu' });
    await client.callTool('good', { region: 'eu' });
    expect(methods(requests)).toEqual(['tools/call', 'tools/list', 'tools/call', 'tools/call']);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['good']);
    expect(notes.at(-1)).toContain('bad is left out');
  });

  it('sends the headers of a known tool with the first request', async () => {
    const { client, requests } = await open();
    const inputSchema = { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    await client.callTool('t', { region: 'eu' }, { tool: { name: 't', inputSchema } });
    expect(requests.map(({ headers }) => headers['mcp-param-region'])).toEqual(['eu']);
  });

  it('retries once when a refusal names the version that was used', async () => {
    let refusals = 0;
    const refusing = async (times: number, supported: string[]) => {
      refusals = 0;
      return open((message, response) => {
        refusals += 1;
        if (refusals > times) return sendJson(response, toolReply(message.id, FOUND));
        refuse(response, 400, { code: -32022, message: 'no', data: { supported } }, message.id);
      });
    };
    const once = await refusing(1, ['2026-07-28']);
    expect((await once.client.callTool('t', {})).content).toHaveLength(1);
    expect(new Set(once.requests.map((seen) => messageOf(seen).id)).size).toBe(2);
    for (const [times, supported, sent] of [
      [9, ['2026-07-28'], 2],
      [9, ['2027-01-01'], 1],
    ] as const) {
      const { client, requests } = await refusing(times, [...supported]);
      expect((await failure(client.callTool('t', {}))).details.rpcCode).toBe(-32022);
      expect(requests).toHaveLength(sent);
    }
  });

  it.each([
    [{ resultType: 'complete', content: [{ type: 'text', text: '{}' }] }, undefined, ''],
    [{ resultType: 'later' }, 'bad_response', 'later'],
    [{ resultType: 3 }, 'bad_response', 'a number'],
    [
      {
        resultType: 'input_required',
        inputRequests: { who: { method: 'elicitation/create', params: { message: 'Your name?' } } },
      },
      'tool_error',
      'who (elicitation/create) "Your name?"',
    ],
  ])('handles the result %j', async (result, code, expected) => {
    const { client } = await open((message, response) => reply(response, message.id, result));
    if (code === undefined) return expect(await client.callTool('t', {})).toEqual(result);
    const error = await failure(client.callTool('t', {}));
    expect(error.code).toBe(code);
    expect(error.message).toContain(expected);
  });

  it('does not resume a stream', async () => {
    const { client, requests } = await open((_message, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(sse('id: 1\nretry: 1\ndata:'));
    });
    expect((await failure(client.callTool('t', {}))).kind).toBe('network');
    expect(requests).toHaveLength(1);
  });

  it.each(['bare', '2025-11-25'] as const)('reports a request for input with %s, too', async (protocol) => {
    const result = {
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create', params: { message: 'Your name?' } } },
    };
    const { url } = await serve((seen, response) => {
      const { id, method } = messageOf(seen);
      if (id === undefined) return void response.writeHead(202).end();
      reply(response, id, method === 'initialize' ? { protocolVersion: '2025-11-25' } : result);
    });
    const { client } = clientFor(url, { protocol });
    for (const call of [client.find(QUERY), client.lookup('r-1', 'basic'), client.callTool('t', {})]) {
      const error = await failure(call);
      expect(error).toMatchObject({ code: 'tool_error', kind: 'service' });
      expect(error.message).toContain('the tool requests input');
      expect(error.message).toContain('who (elicitation/create) "Your name?"');
    }
  });

  it('reports an unknown method as a JSON-RPC error, not a wrong URL', async () => {
    const { client } = await open((message, response) =>
      refuse(response, 404, { code: -32601, message: 'no' }, message.id),
    );
    expect(await client.request('x/y', {})).toMatchObject({ status: 404, failed: true });
    expect(await failure(client.callTool('t', {}))).toMatchObject({
      code: 'rpc_error',
      details: { rpcCode: -32601 },
    });
  });
});
