import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { HEADERS, post, sandboxes, send, sendRaw, toolCall } from './http.ts';

const start = sandboxes();
const BODY = JSON.stringify(toolCall('find_restaurant', { name: 'Nopa', city: 'SF' }));

describe('the Host header', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST'])('may be %s with the port', async (name) => {
    const sandbox = await start();
    const host = `${name}:${new URL(sandbox.baseUrl).port}`;
    expect((await post(sandbox, BODY, { host })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'localhost',
    'localhost.evil.example:PORT',
    '127.0.0.1.evil:PORT',
    '127.0.0.1:1',
    'evil:PORT',
    'localhost.:PORT',
    'user@127.0.0.1:PORT',
    '0.0.0.0:PORT',
  ])('%j is rejected with 403', async (pattern) => {
    const sandbox = await start();
    const host = pattern.replace('PORT', new URL(sandbox.baseUrl).port);
    const reply = await post(sandbox, BODY, { host });
    expect(reply.status).toBe(403);
    expect(reply.text).not.toContain('results');
  });

  it('is required, once', async () => {
    const sandbox = await start();
    const { host } = new URL(sandbox.baseUrl);
    const twice = `POST /api/mcp HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(sandbox, twice)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await sendRaw(sandbox, 'POST /api/mcp HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(await sendRaw(sandbox, 'POST /api/mcp HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  });
});

describe('the Origin header', () => {
  it.each(['http://localhost:3000', 'http://127.0.0.1', 'https://[::1]:8443'])(
    'may be %s',
    async (origin) => {
      expect((await post(await start(), BODY, { origin })).status).toBe(200);
    },
  );

  it.each([
    'https://evil.example',
    'null',
    '',
    'http://localhost.evil.example',
    'file://localhost',
    'http://u@localhost',
    'http://localhost@evil.example',
    'http://127.0.0.1\\@evil.example',
    'http://127.0.0.1, https://evil.example',
    'http://127.0.0.2',
  ])('%j is rejected with 403', async (origin) => {
    const reply = await post(await start(), BODY, { origin });
    expect(reply.status).toBe(403);
    expect(reply.text).not.toContain('results');
  });

  it('is rejected with another one', async () => {
    const origin = ['http://localhost', 'https://evil.example'];
    const reply = await send(await start(), { headers: { ...HEADERS, origin }, body: BODY });
    expect(reply.status).toBe(403);
  });

  it('allows no other origins', async () => {
    const reply = await send(await start(), {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:3000' },
    });
    expect(reply.status).toBe(403);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('path, method and type', () => {
  it.each([
    '/',
    '/api',
    '/api/mcp/',
    '/api/mcp2',
    '/API/MCP',
    '//api/mcp',
    '/../../etc/passwd',
    '/api/mcp/%2e%2e',
  ])('404 for %s', async (path) => {
    expect((await send(await start(), { path, headers: HEADERS, body: BODY })).status).toBe(404);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'])('405 for %s, naming POST', async (method) => {
    const reply = await send(await start(), { method, headers: HEADERS });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
  });

  it.each([
    'text/plain',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    '',
    'text/plain; application/json',
  ])('415 for the type %j', async (type) => {
    expect((await post(await start(), BODY, { 'content-type': type })).status).toBe(415);
  });

  it('accepts JSON with a charset, in upper or lower case', async () => {
    expect(
      (await post(await start(), BODY, { 'content-type': 'Application/JSON; charset=utf-8' })).status,
    ).toBe(200);
  });

  it('415 for a compressed body', async () => {
    expect((await post(await start(), BODY, { 'content-encoding': 'gzip' })).status).toBe(415);
  });
});

describe('bodies', () => {
  it('accepts 1 MiB and not a byte more', async () => {
    const sandbox = await start();
    const filled = (bytes: number) => BODY + ' '.repeat(bytes - BODY.length);
    expect((await post(sandbox, filled(1024 * 1024))).status).toBe(200);
    expect((await post(sandbox, filled(1024 * 1024 + 1))).status).toBe(413);
    expect(sandbox.requests.map(({ status }) => status)).toEqual([200, 413]);
  });

  it('413 also for a body of unknown length', async () => {
    const sandbox = await start();
    const reply = await send(sandbox, {
      headers: { ...HEADERS, 'transfer-encoding': 'chunked' },
      body: Buffer.alloc(1024 * 1024 + 1, ' '),
    });
    expect(reply.status).toBe(413);
  });

  it('408 for a body that does not arrive', async () => {
    const sandbox = await start({ requestTimeoutMs: 50 });
    const { host } = new URL(sandbox.baseUrl);
    const head = `POST /api/mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    expect(await sendRaw(sandbox, head)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('408 for headers that do not end', async () => {
    const sandbox = await start({ requestTimeoutMs: 50 });
    expect(await sendRaw(sandbox, 'POST /api/mcp HTTP/1.1\r\nHost: x\r\nX-Slow: ')).toMatch(
      /^HTTP\/1\.1 408 /,
    );
  });

  it('continues when a client disconnects in the middle', async () => {
    let over = () => {};
    const logged = new Promise<void>((resolve) => {
      over = resolve;
    });
    const sandbox = await start({ onRequest: () => over() });
    const socket = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1');
    socket.write('POST /api/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"half');
    while (sandbox.requests.length === 0) await new Promise(setImmediate);
    socket.destroy();
    await logged;
    expect(sandbox.requests).toMatchObject([{ status: 0, body: undefined }]);
    expect((await post(sandbox, BODY)).status).toBe(200);
  });

  it.each([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.0\r\n\r\n'],
    ['an unknown method', 'BREW /api/mcp HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['two lengths', 'POST /api/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['huge headers', `POST /api/mcp HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['a bad chunk', 'POST /api/mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ])('continues after %s', async (_, bytes) => {
    const sandbox = await start();
    expect(await sendRaw(sandbox, bytes)).toMatch(/^HTTP\/1\.1 4/);
    expect((await post(sandbox, BODY)).status).toBe(200);
  });
});
