import { describe, expect, it, onTestFinished } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { type Client, createClient } from '../../../src/client/restaurant.ts';
import { AppError } from '../../../src/errors.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { VERSION } from '../../../src/version.ts';
import { clientFor, endpointAt, FOUND, failure, KEY } from '../../helpers/client.ts';
import {
  type Exchange,
  events,
  FIND,
  json,
  output,
  result,
  scripted,
  serveScript,
  status,
} from '../../helpers/script.ts';
import { httpServer } from '../../helpers/servers.ts';

const QUERY = { name: 'Nopa', city: 'SF' };
const TEXT = { content: [{ type: 'text', text: 'x' }] };

describe('the documented service', () => {
  it('gets the documented request for a search', async () => {
    const headers = {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'user-agent': `restaurant-data-cli/${VERSION}`,
    };
    const { client, requests } = await scripted([['tools/call', output(FOUND), headers]]);
    expect(await client.find(QUERY)).toMatchObject({ output: FOUND, results: FOUND.results });
    expect(requests[0]?.path).toBe('/api/mcp');
    expect(JSON.parse(requests[0]?.text ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'find_restaurant', arguments: QUERY },
    });
  });

  it('gets the fields of a lookup unless they are basic', async () => {
    const details = { grade: 'A', price_level: 2 };
    const { client, requests } = await scripted([
      ['tools/call', output(details)],
      ['tools/call', output(details)],
    ]);
    expect(await client.lookup('r-1', 'basic')).toEqual(details);
    expect(await client.lookup('r-1', 'premium')).toEqual(details);
    expect(requests.map(({ params }) => params.arguments)).toEqual([
      { restaurant_id: 'r-1' },
      { restaurant_id: 'r-1', fields: 'premium' },
    ]);
  });
});

describe('raw', () => {
  it.each([
    ['the envelope', '{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993}}', 200, false],
    ...[200, 400, 404, 500].map(
      (code) =>
        [
          'an error',
          '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}',
          code,
          true,
        ] as const,
    ),
  ] as const)('returns the exact text of %s: %s with status %d', async (_name, text, code, failed) => {
    const { client } = await scripted([['x/y', json(text, code)]]);
    const answer = await client.request('x/y', [1]);
    expect(answer).toMatchObject({ status: code, text, failed });
    expect(answer.headers).toContainEqual(['content-type', 'application/json']);
  });

  it('returns the text of the event for a stream', async () => {
    const text = '{"jsonrpc": "2.0",  "id":1,"result":{}}';
    const stream = events('data: {"jsonrpc":"2.0","method":"notifications/x"}', `data: ${text}`);
    const { client } = await scripted([['x/y', stream]]);
    expect((await client.request('x/y', undefined)).text).toBe(text);
  });

  it('throws an HTTP error without an envelope', async () => {
    const { client } = await scripted([['x/y', status(403, {}, 'no entry')]]);
    const error = await failure(client.request('x/y', {}));
    expect(error).toMatchObject({ code: 'forbidden', details: { status: 403 } });
    expect(error.message).toContain('no entry');
  });

  it('adds headers, and rejects reserved ones', async () => {
    const headers = { 'x-trace': 'abc', accept: 'application/json' };
    const { client } = await scripted([['x/y', result({}), headers]]);
    await client.request('x/y', {}, { headers });
    const refused: Record<string, string>[] = [
      { Authorization: 'x' },
      { 'bad name': 'x' },
      { 'X-A': 'a\r\nb' },
    ];
    for (const headers of refused) {
      expect(await failure(client.request('x/y', {}, { headers }))).toMatchObject({ code: 'usage' });
    }
  });
});

it('reads all pages of the tools, also with an empty cursor, and stops at a repeated cursor', async () => {
  const page = (nextCursor: string, ...tools: object[]): Exchange => [
    'tools/list',
    result({ tools, nextCursor }),
  ];
  const { client, requests } = await scripted([
    page('', { name: 'a' }, { title: 'nameless' }),
    page('c2', { name: 'b' }),
    page('', { name: 'c' }),
  ]);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(requests.map(({ params }) => params.cursor)).toEqual([undefined, '', 'c2']);
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
    const echo = `you sent Bearer ${KEY}`;
    const traced: string[] = [];
    const { client } = await scripted(
      [
        ['tools/call', status(400, { 'X-Echo': echo }, echo)],
        ['tools/call', output({ ...FOUND, echo: KEY })],
      ],
      { trace: (event) => traced.push(JSON.stringify(event)) },
    );
    const error = await failure(client.find(QUERY));
    const answer = await client.find(QUERY);
    for (const text of [error.message, hintText(hintFor(error)), JSON.stringify(answer), ...traced]) {
      expect(text).not.toContain(KEY);
    }
    expect(traced.join()).toContain('Bearer sk_service_…cdef');
  });
});

describe('arguments of the library', () => {
  it('are checked before anything is sent', async () => {
    const { client, url } = await scripted([FIND], { apiKey: ` ${KEY}\n` });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect((await failure(client.callTool('find_restaurant', circular))).code).toBe('usage');
    expect((await client.find(QUERY)).output).toEqual(FOUND);
    for (const apiKey of ['', 'Bearer x', 'a b']) {
      expect(() => clientFor(url, { apiKey })).toThrow(expect.objectContaining({ code: 'bad_key' }));
    }
    expect(() => clientFor(url, { protocol: 'soap' as 'bare' })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });

  const endpoint = 'http://127.0.0.1:9/api/mcp';
  it.each([
    [undefined],
    [{ endpoint, apiKey: 7 }],
    [{ endpoint, headers: { 'X-A': Symbol('x') } }],
    [{ endpoint, timeoutMs: Number.NaN }],
    [{ endpoint, retries: -1 }],
    [{ baseUrl: 5 }],
    [{ endpoint: {} }],
  ])('may have any type: %o', (options) => {
    expect(() => createClient(options as never)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

it.each([
  [402, 'premium', 'plan_required'],
  [403, 'premium', 'plan_required'],
  [403, 'basic', 'forbidden'],
] as const)('reports the status %d for %s fields as %s', async (code, fields, expected) => {
  const { client } = await scripted([['tools/call', status(code)]]);
  const error = await failure(client.lookup('r-1', fields));
  expect(error).toMatchObject({ code: expected, details: { status: code } });
  if (expected === 'plan_required') expect(error.details.restaurantId).toBe('r-1');
});

it('adds a hint about the fields to another refusal', async () => {
  const { client } = await scripted([['tools/call', output({ status: 'error', message: 'not for you' })]]);
  const error = await failure(client.lookup('r-1', 'standard'));
  expect(error.code).toBe('tool_error');
  expect(hintText(hintFor(error))).toContain('--fields basic');
});

it.each(['request', 'response', 'body'])('throws an error of trace at a %s', async (kind) => {
  const problem = new TypeError('cannot print');
  const { client, slept } = await scripted(kind === 'request' ? [] : [FIND], {
    trace(event) {
      if (event.kind === kind) throw problem;
    },
  });
  expect(await failure(client.find(QUERY))).toBe(problem);
  expect(slept).toEqual([]);
});

it('sends nothing once it is closed, even before its first use', async () => {
  const { client } = await scripted([]);
  await client.close();
  const error = await failure(client.find(QUERY));
  expect(error).toMatchObject({ code: 'usage', details: { reason: 'closed' } });
});

it.each<[string, (client: Client) => Promise<unknown>]>([
  ['find without a query', (client) => client.find(undefined as never)],
  ['find with a number as the name', (client) => client.find({ name: 1n, city: 'SF' } as never)],
  ['find without a city', (client) => client.find({ name: 'x' } as never)],
  ['lookup without an id', (client) => client.lookup(undefined as never)],
  ['lookup with a number as the level', (client) => client.lookup('r-1', 5 as never)],
  ['a signal that is none', (client) => client.find(QUERY, { signal: 5 as never })],
])('refuses %s', async (_what, call) => {
  const { client } = await scripted([]);
  expect(await failure(call(client))).toMatchObject({ code: 'usage' });
});

it('reads no option from Object.prototype', async () => {
  const polluted = Object.assign(Object.prototype, { headers: { 'X-Evil': '1' }, protocol: 'x', baseUrl: 5 });
  try {
    const { url, requests } = await serveScript([FIND]);
    const other = createClient({ endpoint: url });
    await other.find(QUERY);
    await other.close();
    expect(requests[0]?.headers['x-evil']).toBeUndefined();
  } finally {
    for (const name of ['headers', 'protocol', 'baseUrl']) Reflect.deleteProperty(polluted, name);
  }
});

it.each([
  ['日本', Buffer.from('日本').toString('latin1')],
  ['é', Buffer.from('é').toString('latin1')],
  ['a\u0001', undefined],
])('resumes a stream after the event id %j as its bytes', async (id, sent) => {
  const broken: Exchange = [
    'tools/call',
    (_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`id: ${id}\nretry: 0\ndata:\n\n`),
  ];
  const resumed: Exchange = ['GET', status(500), { 'last-event-id': sent }];
  const { client } = await scripted(sent === undefined ? [broken] : [broken, resumed], { retries: 0 });
  expect(await failure(client.find(QUERY))).toMatchObject({ code: 'network' });
});

it('does not send a call again if the service is gone when its stream is resumed', async () => {
  const server = await httpServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('id: 1\nretry: 0\ndata:\n\n', () => void server.close());
  });
  const takenBack: number[] = [];
  let counted = 0;
  const { client } = clientFor(endpointAt(server.origin), {
    onRequest() {
      counted += 1;
      const number = counted;
      return async () => void takenBack.push(number);
    },
  });
  const error = await failure(client.callTool('t', {}));
  expect(error).toMatchObject({ code: 'network', details: { reason: 'cut_off' } });
  expect([counted, takenBack]).toEqual([2, [2]]);
});

it('does not count the time spent waiting for the quota before a stream is resumed', async () => {
  let now = Date.now();
  const broken: Exchange = ['tools/call', events('id: 1\nretry: 0\ndata:')];
  const response = JSON.stringify({ jsonrpc: '2.0', id: 1, result: TEXT });
  const resumed: Exchange = ['GET', events(`data: ${response}`)];
  const { client } = await scripted([broken, resumed], {
    timeoutMs: 1000,
    context: { now: () => now },
    onRequest() {
      now += 60_000;
    },
  });
  expect(await client.callTool('t', {})).toEqual(TEXT);
});

it('makes one new handshake for all calls that waited for one that was aborted', async () => {
  const controller = new AbortController();
  const methods: string[] = [];
  const server = await httpServer(({ body }, response) => {
    const { id, method } = JSON.parse(body);
    methods.push(method);
    if (methods.length === 1) return controller.abort(new AppError('interrupted', 'stop'));
    if (id === undefined) return response.writeHead(202).end();
    const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {} } : TEXT;
    const headers = { 'Content-Type': 'application/json' };
    return response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  onTestFinished(server.close);
  const { client } = clientFor(endpointAt(server.origin), { protocol: '2025-11-25' });
  const first = failure(client.callTool('t', {}, { signal: controller.signal }));
  await Promise.all([client.callTool('t', {}), client.callTool('t', {})]);
  expect(await first).toMatchObject({ code: 'interrupted', message: 'stop' });
  expect(methods.filter((method) => method === 'initialize')).toHaveLength(2);
});

it('reports a handshake that failed to all calls that waited for it', async () => {
  const options = { protocol: '2025-11-25', retries: 0 } as const;
  const { client } = await scripted([['initialize', status(503)]], options);
  const errors = await Promise.all([1, 2, 3].map(() => failure(client.callTool('t', {}))));
  expect(errors).toMatchObject([1, 2, 3].map(() => ({ code: 'http_error', details: { status: 503 } })));
  expect(new Set(errors).size).toBe(3);
});

describe('a signal', () => {
  it('ends a call that waits for the handshake of another', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const stop = new AppError('interrupted', 'stop');
    const { client } = await scripted([['initialize', () => other.abort(stop)]], { protocol: '2025-11-25' });
    const first = failure(client.callTool('t', {}, { signal: one.signal }));
    expect(await failure(client.callTool('t', {}, { signal: other.signal }))).toBe(stop);
    one.abort(stop);
    expect(await first).toBe(stop);
  });

  it('of the client ends a call, with its reason as the cause', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const stop: Exchange = ['tools/call', () => controller.abort(reason)];
    const { client } = await scripted([stop], { context: { signal: controller.signal } });
    expect(await failure(client.find(QUERY))).toMatchObject({ code: 'interrupted', cause: reason });
  });

  it('of a call ends any method', async () => {
    const { client } = await scripted([]);
    const reason = new AppError('interrupted', 'stopped');
    const signal = AbortSignal.abort(reason);
    for (const call of [
      client.find(QUERY, { signal }),
      client.lookup('r-1', { signal }),
      client.lookup('r-1', 'premium', { signal }),
      client.listTools({ signal }),
      client.callTool('x', {}, { signal }),
      client.request('x', {}, { signal }),
    ]) {
      expect(await failure(call)).toBe(reason);
    }
  });
});
