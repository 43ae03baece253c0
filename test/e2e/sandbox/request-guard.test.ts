import { describe, expect, it } from 'vitest';
import { dial, HEADERS, NOPA, post, send, start, wire } from './http.ts';

const BODY = JSON.stringify(NOPA);
const FREE = 'Bearer sk_service_demo_free';

/** The status of a request with these values of a header; PORT is the port of the sandbox. */
const STATUSES: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  host: {
    200: ['127.0.0.1:PORT', 'localhost:PORT', '[::1]:PORT', 'LOCALHOST:PORT'],
    403: [
      ...['evil.example', 'localhost', 'localhost.evil.example:PORT', '127.0.0.1.evil:PORT'],
      ...['127.0.0.1:1', 'evil:PORT', 'localhost.:PORT', 'user@127.0.0.1:PORT', '0.0.0.0:PORT'],
    ],
  },
  origin: {
    200: ['http://localhost:3000', 'http://127.0.0.1', 'https://[::1]:8443'],
    403: [
      ...['https://evil.example', 'null', '', 'http://localhost.evil.example', 'file://localhost'],
      ...['http://u@localhost', 'http://localhost@evil.example', 'http://127.0.0.1\\@evil.example'],
      ...['http://127.0.0.1, https://evil.example', 'http://127.0.0.2'],
    ],
  },
  'content-type': {
    200: ['Application/JSON; charset=utf-8'],
    415: [
      ...['text/plain', 'application/jsonx', 'application/x-www-form-urlencoded', ''],
      'text/plain; application/json',
    ],
  },
  'content-encoding': { 415: ['gzip'] },
  authorization: {
    200: [FREE, 'Bearer sk_service_demo_paid'],
    401: [
      ...['Bearer sk_service_demo_revoked', 'Bearer sk_service_live_0123456789', 'sk_service_demo_free'],
      ...['Bearer  sk_service_demo_free', 'Bearersk_service_demo_free', 'Bearer\tsk_service_demo_free'],
      ...[
        'bearer sk_service_demo_free',
        'Basic sk_service_demo_free',
        'Bearer',
        `${FREE} sk_service_demo_paid`,
      ],
    ],
  },
};
const HEADER_ROWS = Object.entries(STATUSES).flatMap(([header, statuses]) =>
  Object.entries(statuses).flatMap(([status, values]) =>
    values.map((value) => [header, value, Number(status)] as const),
  ),
);

describe('a request', () => {
  it.each(HEADER_ROWS)('with %s: %j gets %d', async (header, value, status) => {
    const sandbox = await start();
    const reply = await post(sandbox, BODY, {
      [header]: value.replace('PORT', new URL(sandbox.baseUrl).port),
    });
    expect(reply.status).toBe(status);
    if (status === 200) return expect(reply.text).toContain('results');
    expect(reply.text).not.toMatch(/results|sk_/);
    if (status !== 401) return;
    expect(reply.headers['www-authenticate']).toBe('Bearer');
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'unauthorized' } });
  });

  it('needs one Host header', async () => {
    const sandbox = await start();
    const { host } = new URL(sandbox.baseUrl);
    const statusOf = async (headers: string) =>
      (await dial(sandbox, `POST /api/mcp HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`).received).slice(
        0,
        13,
      );
    expect(await statusOf(`Host: ${host}\r\nHost: ${host}\r\nContent-Length: 0\r\n`)).toBe('HTTP/1.1 400 ');
    expect(await statusOf('Host:\r\n')).toBe('HTTP/1.1 403 ');
    expect(await statusOf('')).toBe('HTTP/1.1 400 ');
  });

  it('needs one Authorization header, unless authentication is off', async () => {
    const sandbox = await start();
    const open = await start({ auth: false });
    const type = { 'content-type': 'application/json' };
    expect((await send(sandbox, { headers: type, body: BODY })).status).toBe(401);
    const twice = { ...type, authorization: [FREE, FREE] };
    expect((await send(sandbox, { headers: twice, body: BODY })).status).toBe(401);
    expect((await send(open, { headers: type, body: BODY })).status).toBe(200);
  });

  it('is not allowed from other origins', async () => {
    const origin = ['http://localhost', 'https://evil.example'];
    const twice = await send(await start(), { headers: { ...HEADERS, origin }, body: BODY });
    expect(twice.status).toBe(403);
    const headers = { origin: 'http://localhost:3000' };
    const reply = await send(await start(), { method: 'OPTIONS', headers });
    expect(reply.status).toBe(403);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it.each([
    ...['/', '/api', '/api/mcp/', '/api/mcp2', '/API/MCP', '//api/mcp'],
    ...['/../../etc/passwd', '/api/mcp/%2e%2e'],
  ])('to %s gets 404', async (path) => {
    expect((await send(await start(), { path, headers: HEADERS, body: BODY })).status).toBe(404);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'])('%s gets 405, naming POST', async (method) => {
    const reply = await send(await start(), { method, headers: HEADERS });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
  });

  it('may have a body of 1 MiB and not a byte more', async () => {
    const sandbox = await start();
    const filled = (bytes: number) => BODY.padEnd(bytes);
    const chunked = { ...HEADERS, 'transfer-encoding': 'chunked' };
    expect((await post(sandbox, filled(1024 * 1024))).status).toBe(200);
    expect((await post(sandbox, filled(1024 * 1024 + 1))).status).toBe(413);
    expect((await send(sandbox, { headers: chunked, body: filled(1024 * 1024 + 1) })).status).toBe(413);
    expect(sandbox.requests.map(({ status }) => status)).toEqual([200, 413, 413]);
  });

  it.each([
    ['a body', -60],
    ['headers', 60],
  ])('without the end of %s gets 408, even if it arrives byte by byte', async (_what, end) => {
    const sandbox = await start({ requestTimeoutMs: 50 });
    const { socket, received } = dial(sandbox, wire(sandbox).slice(0, end));
    const letters = setInterval(() => socket.write('x'), 10);
    expect(await received.finally(() => clearInterval(letters))).toMatch(/^HTTP\/1\.1 408 /);
  });
});

it('keeps keys out of the list of requests and the log, wherever they were sent', async () => {
  const log: unknown[] = [];
  const sandbox = await start({ onRequest: (entry) => log.push(entry) });
  const key = 'sk_service_real_and_secret_0123456789';
  const reply = await send(sandbox, {
    path: `/api/mcp?key=${key}`,
    headers: { ...HEADERS, authorization: `Bearer ${key}`, 'x-api-key': key },
    body: BODY,
  });
  expect([reply.status, reply.text.includes(key)]).toEqual([401, false]);
  await post(sandbox, BODY);
  expect(JSON.stringify([log, sandbox.requests[1]])).not.toContain('sk_service');
  expect(JSON.stringify(sandbox.requests[0])).not.toContain('Bearer');
  expect(log).toMatchObject([
    { method: 'tools/call', tool: 'find_restaurant', status: 401, key: 'unknown' },
    { method: 'tools/call', tool: 'find_restaurant', status: 200, key: 'free' },
  ]);
  expect(sandbox.requests[1]).toMatchObject({
    method: 'POST',
    path: '/api/mcp',
    key: 'free',
    body: JSON.parse(BODY),
    status: 200,
    headers: { 'content-type': 'application/json' },
  });
});
