import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { createClient } from '../../../src/client/restaurant.ts';
import type { AppError } from '../../../src/errors.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { VERSION } from '../../../src/version.ts';
import { clientFor, FOUND, failure, idOf, KEY, sendJson, serve, toolReply } from '../../helpers/client.ts';

interface Body {
  jsonrpc: string;
  id: number;
  method: string;
  params: { name: string; arguments: Record<string, unknown> };
}

/** A minimal implementation of the documented service. */
const documented = (sse: boolean) =>
  serve((request, response) => {
    if (request.headers.authorization !== `Bearer ${KEY}`) return sendJson(response, '{}', 401);
    const { id, params } = JSON.parse(request.body) as Body;
    const output =
      params.name === 'find_restaurant' ? FOUND : { grade: 'A', ...params.arguments, price_level: 2 };
    const reply = toolReply(id, output);
    if (!sse) return sendJson(response, reply);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(`: hello\n\nevent: message\ndata: ${reply}\n\n`);
  });

describe.each([
  ['JSON', false],
  ['a stream that stays open', true],
])('the documented service replying with %s', (_name, sse) => {
  it('returns the output of find_restaurant', async () => {
    const { url, requests } = await documented(sse);
    const { client } = clientFor(url);
    const answer = await client.find({ name: 'Nopa', city: 'SF' });
    expect(answer.output).toEqual(FOUND);
    expect(answer.results).toEqual(FOUND.results);
    expect(requests).toHaveLength(1);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } },
    });
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/mcp',
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'user-agent': `restaurant-data-cli/${VERSION}`,
      },
    });
  });

  it('sends fields with a lookup unless they are basic', async () => {
    const { url, requests } = await documented(sse);
    const { client } = clientFor(url);
    expect(await client.lookup('r-1', 'basic')).toEqual({ grade: 'A', restaurant_id: 'r-1', price_level: 2 });
    expect(await client.lookup('r-1', 'premium')).toMatchObject({ fields: 'premium' });
    expect(requests.map(({ body }) => (JSON.parse(body) as Body).params.arguments)).toEqual([
      { restaurant_id: 'r-1' },
      { restaurant_id: 'r-1', fields: 'premium' },
    ]);
  });

  it('rejects another key', async () => {
    const { url } = await documented(sse);
    const { client } = clientFor(url, { apiKey: 'sk_service_other_abcd' });
    const error = await failure(client.check());
    expect(error).toMatchObject({ code: 'unauthorized', details: { status: 401 } });
    expect(error.message).toContain('abcd');
    expect(error.message).not.toContain('sk_service_other');
  });
});

describe('raw', () => {
  it('returns the envelope and its exact text', async () => {
    const text = '{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993}}';
    const { url } = await serve((_request, response) => sendJson(response, text));
    const answer = await clientFor(url).client.request('x/y', [1]);
    expect(answer).toMatchObject({ status: 200, text, failed: false });
    expect(answer.headers).toContainEqual(['content-type', 'application/json']);
  });

  it('returns the text of the event for a stream', async () => {
    const text = '{"jsonrpc": "2.0",  "id":1,"result":{}}';
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end(`data: {"jsonrpc":"2.0","method":"notifications/x"}\n\ndata: ${text}\n\n`);
    });
    expect((await clientFor(url).client.request('x/y', undefined)).text).toBe(text);
  });

  it.each([200, 400, 404, 500])('returns a JSON-RPC error with status %d', async (status) => {
    const text = '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}';
    const { url, requests } = await serve((_request, response) => sendJson(response, text, status));
    const answer = await clientFor(url).client.request('x/y', {});
    expect(answer).toMatchObject({ status, failed: true, text });
    expect(requests).toHaveLength(1);
  });

  it('throws an HTTP error without an envelope', async () => {
    const { url } = await serve((_request, response) => response.writeHead(403).end('no entry'));
    const error = await failure(clientFor(url).client.request('x/y', {}));
    expect(error).toMatchObject({ code: 'forbidden', details: { status: 403 } });
    expect(error.message).toContain('no entry');
  });

  it('adds headers, and rejects reserved ones', async () => {
    const { url, requests } = await serve((request, response) =>
      sendJson(response, `{"jsonrpc":"2.0","id":${idOf(request.body)},"result":{}}`),
    );
    const { client } = clientFor(url);
    await client.request('x/y', {}, { headers: { 'X-Trace': 'abc', accept: 'application/json' } });
    expect(requests[0]?.headers).toMatchObject({ 'x-trace': 'abc', accept: 'application/json' });
    const refused: Record<string, string>[] = [
      { Authorization: 'x' },
      { 'bad name': 'x' },
      { 'X-A': 'a\r\nb' },
    ];
    for (const headers of refused) {
      expect(await failure(client.request('x/y', {}, { headers }))).toMatchObject({ code: 'usage' });
    }
    expect(requests).toHaveLength(1);
  });
});

describe('tools', () => {
  it('reads all pages, also with an empty cursor, and stops at a repeated cursor', async () => {
    const pages: Record<string, { tools: unknown[]; nextCursor?: string | null }> = {
      first: { tools: [{ name: 'a' }, { title: 'nameless' }], nextCursor: '' },
      '': { tools: [{ name: 'b' }], nextCursor: 'c2' },
      c2: { tools: [{ name: 'c' }], nextCursor: '' },
    };
    const { url, requests } = await serve((request, response) => {
      const { id, params } = JSON.parse(request.body) as { id: number; params?: { cursor: string } };
      sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, result: pages[params?.cursor ?? 'first'] }));
    });
    const tools = await clientFor(url).client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(requests).toHaveLength(3);
  });

  it('throws a result with isError', async () => {
    const { url } = await serve((request, response) =>
      sendJson(
        response,
        JSON.stringify({
          jsonrpc: '2.0',
          id: idOf(request.body),
          result: { isError: true, content: [{ type: 'text', text: 'it broke' }] },
        }),
      ),
    );
    const error = await failure(clientFor(url).client.callTool('t', {}));
    expect(error).toMatchObject({ code: 'tool_error' });
    expect(error.message).toContain('it broke');
  });
});

describe('the key', () => {
  it('is not sent over plain HTTP to a remote host', () => {
    expect(() => clientFor(new URL('http://example.com/api/mcp'))).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: 'the key is not sent over plain HTTP to example.com',
        details: { reason: 'plain_http', host: 'example.com' },
      }),
    );
  });

  it('is masked in errors and responses of a service that echoes it', async () => {
    const { url } = await serve((request, response, count) => {
      const echo = `you sent ${request.headers.authorization}`;
      if (count === 0) response.writeHead(400, { 'X-Echo': echo }).end(echo);
      else sendJson(response, toolReply(idOf(request.body), { ...FOUND, echo: KEY }));
    });
    const traced: string[] = [];
    const { client } = clientFor(url, { trace: (event) => traced.push(JSON.stringify(event)) });
    const error: AppError = await failure(client.find({ name: 'a', city: 'b' }));
    const answer = await client.find({ name: 'a', city: 'b' });
    for (const text of [error.message, hintText(hintFor(error)), JSON.stringify(answer), ...traced]) {
      expect(text).not.toContain(KEY);
    }
    expect(traced.join()).toContain('Bearer sk_service_…cdef');
  });
});

describe('arguments of the library', () => {
  it('are checked before anything is sent', async () => {
    const { url, requests } = await documented(false);
    const { client } = clientFor(url, { apiKey: ` ${KEY}\n` });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const args of [circular, { big: 1n as unknown as number }]) {
      expect((await failure(client.callTool('find_restaurant', args))).code).toBe('usage');
    }
    expect(requests).toEqual([]);
    expect((await client.find({ name: 'Nopa', city: 'SF' })).output).toEqual(FOUND);
    for (const apiKey of ['', 'Bearer x', 'a b']) {
      expect(() => clientFor(url, { apiKey })).toThrow(expect.objectContaining({ code: 'bad_key' }));
    }
    expect(() => clientFor(url, { protocol: 'soap' as 'bare' })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });
});

describe('the plan', () => {
  it.each([402, 403])('reports that refused fields (%d) require a paid key', async (status) => {
    const { url } = await serve((_request, response) => response.writeHead(status).end());
    const error = await failure(clientFor(url).client.lookup('r-1', 'premium'));
    expect(error).toMatchObject({ code: 'plan_required', details: { status, restaurantId: 'r-1' } });
  });

  it('reports a 403 for basic fields as forbidden', async () => {
    const { url } = await serve((_request, response) => response.writeHead(403).end());
    expect(await failure(clientFor(url).client.lookup('r-1', 'basic'))).toMatchObject({ code: 'forbidden' });
  });

  it('adds a hint about the fields to another refusal', async () => {
    const { url } = await serve((request, response) =>
      sendJson(response, toolReply(idOf(request.body), { status: 'error', message: 'not for you' })),
    );
    const error = await failure(clientFor(url).client.lookup('r-1', 'standard'));
    expect(error.code).toBe('tool_error');
    expect(hintText(hintFor(error))).toContain('--fields basic');
  });
});

it('throws the reason of the signal', async () => {
  const { url } = await serve(() => {});
  const controller = new AbortController();
  const { client } = clientFor(url, { context: { signal: controller.signal } });
  const call = failure(client.find({ name: 'a', city: 'b' }));
  setTimeout(() => controller.abort(new Error('stop')), 50);
  expect((await call).message).toBe('stop');
});

it.each(['request', 'response', 'body'])('throws an error of trace at a %s', async (kind) => {
  const { url, requests } = await documented(false);
  const problem = new TypeError('cannot print');
  const { client, slept } = clientFor(url, {
    trace(event) {
      if (event.kind === kind) throw problem;
    },
  });
  expect(await failure(client.find({ name: 'Nopa', city: 'SF' }))).toBe(problem);
  expect(requests).toHaveLength(kind === 'request' ? 0 : 1);
  expect(slept).toEqual([]);
});

it('makes many calls at once', async () => {
  const { url } = await documented(false);
  const { client } = clientFor(url);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => client.lookup(`r-${at}`, 'basic')));
  expect(answers.map((answer) => answer.restaurant_id)).toEqual(answers.map((_, at) => `r-${at}`));
});

describe('a caller without types', () => {
  const endpoint = 'http://127.0.0.1:9/api/mcp';
  it.each([
    [undefined],
    [{ endpoint, apiKey: 7 }],
    [{ endpoint, headers: { 'X-A': Symbol('x') } }],
    [{ endpoint, timeoutMs: Number.NaN }],
    [{ endpoint, retries: -1 }],
  ])('gets an AppError for the options %o', (options) => {
    expect(() => createClient(options as never)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

it('sends nothing once it is closed, even before its first use', async () => {
  const { url, requests } = await serve((request, response) =>
    sendJson(response, toolReply(idOf(request.body), FOUND)),
  );
  const { client } = clientFor(url);
  await client.close();
  const error = await failure(client.find({ name: 'Nopa', city: 'SF' }));
  expect(error).toMatchObject({ code: 'usage', details: { reason: 'closed' } });
  expect(requests).toEqual([]);
});

it('stops a call of any method when its signal aborts', async () => {
  const { url } = await serve(() => {});
  const { client } = clientFor(url);
  const reason = new Error('stopped');
  const signal = AbortSignal.abort(reason);
  for (const call of [
    client.find({ name: 'Nopa', city: 'SF' }, { signal }),
    client.lookup('r-1', { signal }),
    client.lookup('r-1', 'premium', { signal }),
    client.listTools({ signal }),
    client.callTool('x', {}, { signal }),
    client.request('x', {}, { signal }),
  ]) {
    expect(await failure(call)).toBe(reason);
  }
});
