import { describe, expect, it } from 'vitest';
import { ACCEPT, codeOf, eventsOf, HEADERS, NOPA, outputOf, post, send, start } from './http.ts';

const VERSION = '2026-07-28';
const SUPPORTED = [VERSION, '2025-11-25', '2025-06-18', '2025-03-26'];
const PREFIX = 'io.modelcontextprotocol/';
const META: Readonly<Record<string, unknown>> = {
  [`${PREFIX}protocolVersion`]: VERSION,
  [`${PREFIX}clientCapabilities`]: {},
  [`${PREFIX}clientInfo`]: { name: 'test', version: '0' },
};
const FIND = NOPA.params as Record<string, unknown>;

interface Modern {
  readonly meta?: Record<string, unknown>;
  /** Replaces correct headers; null omits one. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly reply?: 'sse' | 'json';
}

/** Sends a request that is correct except for the given metadata and headers to a new sandbox. */
async function ask(method: string, params: Record<string, unknown> = {}, other: Modern = {}) {
  const { meta = META, headers = {}, reply: form = 'json' } = other;
  const all = {
    ...ACCEPT,
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
    ...headers,
  };
  const sent = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null);
  const body = { jsonrpc: '2.0', id: 5, method, params: { ...params, _meta: meta } };
  const reply = await post(await start({ mode: 'mcp', reply: form }), body, Object.fromEntries(sent));
  return { ...reply, message: form === 'sse' ? undefined : JSON.parse(reply.text) };
}

describe('a request without a handshake', () => {
  it('gets a response', async () => {
    const reply = await ask('tools/call', FIND);
    expect(reply.message).toMatchObject({ id: 5, result: { resultType: 'complete' } });
    expect(outputOf(reply).output.total_matches).toBe(3);
    expect(reply.headers).not.toHaveProperty('mcp-session-id');
  });

  it('may be server/discover', async () => {
    expect((await ask('server/discover')).message.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: SUPPORTED,
      capabilities: { tools: {} },
    });
  });

  it.each([
    ['server/discover', {}, { ttlMs: expect.any(Number), cacheScope: 'public' }],
    ['tools/list', {}, { ttlMs: expect.any(Number), cacheScope: 'public' }],
    ['tools/call', FIND, { ttlMs: undefined }],
  ])('%s gets the name of the server, and how long a list may be cached', async (method, params, hints) => {
    const { _meta: meta, ttlMs, ...result } = (await ask(method, params)).message.result;
    expect(meta[`${PREFIX}serverInfo`]).toMatchObject({ name: 'restaurant-sandbox' });
    expect({ ttlMs, ...result }).toMatchObject(hints);
  });

  it('gets a stream without ids, with progress if it has a token', async () => {
    const events = eventsOf(
      await ask('tools/call', FIND, { reply: 'sse', meta: { ...META, progressToken: 1 } }),
    );
    expect(events).toHaveLength(3);
    for (const event of events) expect(event.id).toBeUndefined();
    expect(JSON.parse(events[2]?.data ?? '')).toMatchObject({ id: 5, result: { resultType: 'complete' } });
  });

  it.each(['GET', 'DELETE'])('cannot be %s', async (method) => {
    const headers = { ...HEADERS, ...ACCEPT, 'mcp-protocol-version': VERSION };
    expect((await send(await start({ mode: 'mcp' }), { method, headers })).status).toBe(405);
  });

  it.each(['nothing/here', 'ping', 'resources/subscribe'])('gets 404 and -32601 for %s', async (method) => {
    expect(codeOf(await ask(method))).toEqual([404, -32601]);
  });

  it.each([
    [undefined, 'name is missing'],
    [{}, 'name is missing'],
    [{ name: 'Nopa', city: 3 }, 'city is not a string'],
  ])('gets wrong arguments reported in the result: %j', async (args, message) => {
    const { status, message: reply } = await ask('tools/call', { ...FIND, arguments: args });
    expect([status, reply.result.isError]).toEqual([200, true]);
    expect(JSON.parse(reply.result.content[0].text)).toMatchObject({
      status: 'invalid_arguments',
      message: expect.stringContaining(message),
    });
  });

  it('gets -32602 for arguments that are not an object', async () => {
    expect(codeOf(await ask('tools/call', { ...FIND, arguments: 'Nopa' }))).toEqual([200, -32602]);
  });

  it('is rejected without metadata', async () => {
    expect(codeOf(await post(await start({ mode: 'mcp' }), NOPA, ACCEPT))).toEqual([400, -32000]);
  });

  it.each(['protocolVersion', 'clientCapabilities'])(
    'is rejected without %s in the metadata',
    async (field) => {
      const { [`${PREFIX}${field}`]: _, ...meta } = META;
      const reply = await ask('tools/call', FIND, { meta });
      expect(codeOf(reply)).toEqual([400, -32602]);
      expect(reply.message.error.data.envelope).toContain(`${PREFIX}${field}`);
    },
  );

  it.each([
    ['mcp-protocol-version', null],
    ['mcp-protocol-version', '2025-11-25'],
    ['mcp-method', null],
    ['mcp-method', 'tools/list'],
    ['mcp-name', null],
    ['mcp-name', 'lookup_restaurant'],
  ])('is rejected with the header %s: %s', async (header, value) => {
    const reply = await ask('tools/call', FIND, { headers: { [header]: value } });
    expect(codeOf(reply)).toEqual([400, -32020]);
    expect(reply.message.error.data.header.toLowerCase()).toBe(header);
  });

  it('of another version gets the supported versions', async () => {
    const reply = await ask('tools/call', FIND, {
      meta: { ...META, [`${PREFIX}protocolVersion`]: '2099-01-01' },
      headers: { 'mcp-protocol-version': '2099-01-01' },
    });
    expect(codeOf(reply)).toEqual([400, -32022]);
    expect(reply.message.error.data).toMatchObject({ supported: SUPPORTED });
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
    const params = { name: 'explore_area', arguments: { city } };
    const reply = await ask('tools/call', params, { headers: { 'mcp-param-city': header } });
    expect(codeOf(reply)).toEqual([status, status === 400 ? -32020 : undefined]);
  });

  it('learns from the list which argument is repeated in a header', async () => {
    const { result } = (await ask('tools/list')).message;
    expect(result.tools[2].inputSchema.properties.city['x-mcp-header']).toBe('City');
  });
});
