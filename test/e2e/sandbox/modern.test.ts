import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/types.ts';
import { eventsOf, HEADERS, type HttpReply, outputOf, post, sandboxes, send } from './http.ts';

const start = sandboxes();
const VERSION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const META: Record<string, unknown> = {
  [`${PREFIX}protocolVersion`]: VERSION,
  [`${PREFIX}clientCapabilities`]: {},
  [`${PREFIX}clientInfo`]: { name: 'test', version: '0' },
};
const ACCEPT = { accept: 'application/json, text/event-stream' };

interface Modern {
  meta?: Record<string, unknown>;
  /** Replaces correct headers; null omits one. */
  headers?: Record<string, string | null>;
}

/** Sends a 2026-07-28 request that is correct except for the given metadata and headers. */
function ask(
  sandbox: Sandbox,
  method: string,
  params: Record<string, unknown> = {},
  { meta = META, headers = {} }: Modern = {},
) {
  const correct = {
    ...ACCEPT,
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  };
  const sent = Object.entries({ ...correct, ...headers }).filter(
    (pair): pair is [string, string] => pair[1] !== null,
  );
  return post(
    sandbox,
    { jsonrpc: '2.0', id: 5, method, params: { ...params, _meta: meta } },
    Object.fromEntries(sent),
  );
}
const FIND = { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } };
const explore = (city: unknown) => ({ name: 'explore_area', arguments: { city } });
const errorOf = ({ status, text }: HttpReply) => [status, JSON.parse(text).error?.code];

describe('requests without a handshake', () => {
  it('get a response', async () => {
    const sandbox = await start({ mode: 'mcp' });
    const reply = await ask(sandbox, 'tools/call', FIND);
    expect(JSON.parse(reply.text)).toMatchObject({ id: 5, result: { resultType: 'complete' } });
    expect(outputOf(reply).output.total_matches).toBe(3);
    expect(reply.headers).not.toHaveProperty('mcp-session-id');
  });

  it('include server/discover', async () => {
    const { result } = JSON.parse((await ask(await start({ mode: 'mcp' }), 'server/discover')).text);
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [VERSION, '2025-11-25', '2025-06-18', '2025-03-26'],
      capabilities: { tools: {} },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: expect.any(String) } },
    });
  });

  it('name the server, and how long a list may be cached', async () => {
    const sandbox = await start({ mode: 'mcp' });
    for (const [method, params] of [
      ['server/discover', {}],
      ['tools/list', {}],
      ['tools/call', FIND],
    ] as const) {
      const { result } = JSON.parse((await ask(sandbox, method, params)).text);
      expect(result._meta[`${PREFIX}serverInfo`]).toMatchObject({ name: 'restaurant-sandbox' });
      const hints = { ttlMs: expect.any(Number), cacheScope: 'public' };
      if (method === 'tools/call') expect(result).not.toHaveProperty('ttlMs');
      else expect(result).toMatchObject(hints);
    }
  });

  it('stream without ids, with progress if the request has a token', async () => {
    const sandbox = await start({ mode: 'mcp', reply: 'sse' });
    const events = eventsOf(await ask(sandbox, 'tools/call', FIND, { meta: { ...META, progressToken: 1 } }));
    expect(events).toHaveLength(3);
    for (const event of events) expect(event).not.toHaveProperty('id');
    expect(JSON.parse(events[2]?.data ?? '')).toMatchObject({ id: 5, result: { resultType: 'complete' } });
  });

  it('cannot be GET or DELETE', async () => {
    const sandbox = await start({ mode: 'mcp' });
    for (const method of ['GET', 'DELETE']) {
      const headers = { ...HEADERS, ...ACCEPT, 'mcp-protocol-version': VERSION };
      expect((await send(sandbox, { method, headers })).status).toBe(405);
    }
  });

  it.each(['nothing/here', 'ping', 'resources/subscribe'])('return 404 and -32601 for %s', async (method) => {
    expect(errorOf(await ask(await start({ mode: 'mcp' }), method))).toEqual([404, -32601]);
  });

  it.each([undefined, {}, { name: 'Nopa', city: 3 }])(
    'report wrong arguments in the result: %j',
    async (args) => {
      const params = { name: 'find_restaurant', ...(args && { arguments: args }) };
      const reply = await ask(await start({ mode: 'mcp' }), 'tools/call', params);
      const { result } = JSON.parse(reply.text);
      expect([reply.status, result.isError]).toEqual([200, true]);
      expect(JSON.parse(result.content[0].text)).toMatchObject({
        status: 'invalid_arguments',
        message: expect.stringMatching(/name is missing|city is not a string/),
      });
    },
  );

  it('return -32602 for arguments that are not an object', async () => {
    const params = { name: 'find_restaurant', arguments: 'Nopa' };
    expect(errorOf(await ask(await start({ mode: 'mcp' }), 'tools/call', params))).toEqual([200, -32602]);
  });
});

describe('metadata and headers', () => {
  it.each(['protocolVersion', 'clientCapabilities'])(
    '-32602 with data.envelope without %s',
    async (field) => {
      const { [`${PREFIX}${field}`]: _, ...meta } = META;
      const reply = await ask(await start({ mode: 'mcp' }), 'tools/call', FIND, { meta });
      expect(errorOf(reply)).toEqual([400, -32602]);
      expect(JSON.parse(reply.text).error.data.envelope).toContain(`${PREFIX}${field}`);
    },
  );

  it.each([
    ['mcp-protocol-version', null],
    ['mcp-protocol-version', '2025-11-25'],
    ['mcp-method', null],
    ['mcp-method', 'tools/list'],
    ['mcp-name', null],
    ['mcp-name', 'lookup_restaurant'],
  ])('-32020 for %s: %s', async (header, value) => {
    const reply = await ask(await start({ mode: 'mcp' }), 'tools/call', FIND, {
      headers: { [header]: value },
    });
    expect(errorOf(reply)).toEqual([400, -32020]);
    expect(JSON.parse(reply.text).error.data.header.toLowerCase()).toBe(header);
  });

  it('-32022 with the supported versions, for another version', async () => {
    const meta = { ...META, [`${PREFIX}protocolVersion`]: '2099-01-01' };
    const headers = { 'mcp-protocol-version': '2099-01-01' };
    const reply = await ask(await start({ mode: 'mcp' }), 'tools/call', FIND, { meta, headers });
    expect(errorOf(reply)).toEqual([400, -32022]);
    expect(JSON.parse(reply.text).error.data).toMatchObject({
      supported: [VERSION, '2025-11-25', '2025-06-18', '2025-03-26'],
    });
  });

  it.each([
    ['Paris', 'Paris', 200],
    ['São Paulo', `=?base64?${Buffer.from('São Paulo').toString('base64')}?=`, 200],
    ['=?base64?UGFyaXM=?=', `=?base64?${Buffer.from('=?base64?UGFyaXM=?=').toString('base64')}?=`, 200],
    ['=?base64?UGFyaXM=?=', '=?base64?UGFyaXM=?=', 400],
    ['Paris!', '=?base64?UGFyaXMh?=', 200],
    ['Hello', '=?base64?SGVsbG8=?=', 200],
    ['Hello', '=?base64?SGVsbG8?=', 400],
    ['Paris', 'London', 400],
    ['Paris', null, 400],
    [null, null, 200],
    [null, 'null', 400],
  ])('the city %j with the header %j is %i', async (city, header, status) => {
    const reply = await ask(await start({ mode: 'mcp' }), 'tools/call', explore(city), {
      headers: { 'mcp-param-city': header },
    });
    expect(reply.status).toBe(status);
    if (status === 400) expect(errorOf(reply)).toEqual([400, -32020]);
  });

  it('declares the argument that is repeated in a header', async () => {
    const { result } = JSON.parse((await ask(await start({ mode: 'mcp' }), 'tools/list')).text);
    expect(result.tools[2].inputSchema.properties.city['x-mcp-header']).toBe('City');
  });
});

it('a call without metadata and handshake is rejected', async () => {
  const bare = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: FIND };
  expect(errorOf(await post(await start({ mode: 'mcp' }), bare, ACCEPT))).toEqual([400, -32000]);
});
