import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/server.ts';
import { runCli } from '../../helpers/program.ts';
import { HEADERS, post, sandboxes, send, sendRaw, toolCall } from './http.ts';

const start = sandboxes();
const open = (options: SandboxOptions = {}) => start({ perMinute: 0, perDay: 0, ...options });
const BODY = JSON.stringify(toolCall('find_restaurant', { name: 'Nopa', city: 'SF' }));
const portOf = ({ baseUrl }: Pick<Sandbox, 'baseUrl'>): number => Number(new URL(baseUrl).port);

/** Opens a raw connection, which may be cut off at any time. */
function dial(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined).setEncoding('latin1');
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Returns the bytes of a request. */
const wire = (port: number, { body = BODY, more = '' } = {}) =>
  `POST /api/mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${HEADERS.authorization}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;

/** Checks that the sandbox still responds. */
async function expectAlive(sandbox: Sandbox): Promise<void> {
  expect((await post(sandbox, BODY)).status).toBe(200);
}

describe('an unusual HTTP request', () => {
  it.each<[string, (port: number) => string, RegExp]>([
    [
      'requests a tunnel',
      () => 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n',
      /^$|^HTTP\/1\.1 4/,
    ],
    ['is HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1\.1 4/],
    [
      'is TLS',
      () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
      /^HTTP\/1\.1 400 /,
    ],
    ['consists of zeros', () => '\0'.repeat(5000), /^HTTP\/1\.1 400 /],
    ['has a body that is shorter than announced', (port) => wire(port).slice(0, -9), /^/],
    [
      'has a body of length -1',
      (port) => wire(port).replace(/Content-Length: \d+/, 'Content-Length: -1'),
      /^HTTP\/1\.1 400 /,
    ],
    [
      'has a length and chunks',
      (port) => wire(port, { more: 'Transfer-Encoding: chunked\r\n' }),
      /^HTTP\/1\.1 400 /,
    ],
    ['has 3,000 headers', (port) => wire(port, { more: 'a: b\r\n'.repeat(3000) }), /^HTTP\/1\.1 (200|431) /],
    [
      'has a header with a bare LF',
      (port) => wire(port, { more: 'x: a\nHost: evil.example\r\n' }),
      /^HTTP\/1\.1 400 /,
    ],
    [
      'requests another protocol',
      (port) => wire(port, { more: 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n' }),
      /^HTTP\/1\.1 200 /,
    ],
    [
      'expects 100 Continue',
      (port) => wire(port, { more: 'Expect: 100-continue\r\nConnection: close\r\n' }),
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
    ],
  ])('%s', async (_, bytes, answer) => {
    const sandbox = await open();
    const socket = dial(portOf(sandbox));
    let got = '';
    socket.on('data', (text) => {
      got += text;
    });
    // Closes its own half of the connection and still reads.
    socket.end(bytes(portOf(sandbox)), 'latin1');
    await once(socket, 'close');
    expect(got).toMatch(answer);
    await expectAlive(sandbox);
  });

  it('that does not wait for earlier responses gets its response in order', async () => {
    const sandbox = await open();
    const port = portOf(sandbox);
    const ids = Array.from({ length: 30 }, (_, id) => id);
    const bodies = ids.map((id) => JSON.stringify({ ...JSON.parse(BODY), id }));
    const last = bodies.pop() ?? '';
    const bytes =
      bodies.map((body) => wire(port, { body })).join('') +
      wire(port, { body: last, more: 'Connection: close\r\n' });
    const reply = await sendRaw(sandbox, bytes);
    expect([...reply.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))).toEqual(ids);
    await expectAlive(sandbox);
  });
});

describe('an endless body', () => {
  it.each([
    ['with a length', 'Content-Length: 1000000000'],
    ['without a length', 'Transfer-Encoding: chunked'],
  ])('%s gets 413 after a few megabytes', async (_, length) => {
    const sandbox = await open();
    const port = portOf(sandbox);
    const socket = dial(port);
    let got = '';
    socket.on('data', (text) => {
      got += text;
    });
    const piece = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
    socket.write(wire(port, { body: '' }).replace('Content-Length: 0', length));
    let sent = 0;
    while (!socket.destroyed && sent < 1e9) {
      sent += piece.length;
      if (!socket.write(piece))
        await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
      await new Promise(setImmediate);
    }
    expect(got).toMatch(/^HTTP\/1\.1 413 /);
    // Includes the bytes in the buffers of the system.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    await expectAlive(sandbox);
  });
});

describe('many connections', () => {
  it('that are idle block no other client', async () => {
    const sandbox = await open();
    const idle = Array.from({ length: 700 }, () => dial(portOf(sandbox)));
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    await expectAlive(sandbox);
  });

  it('with slow bodies block no other client', async () => {
    const sandbox = await open();
    const port = portOf(sandbox);
    for (let round = 0; round < 3; round += 1) {
      const slow = Array.from({ length: 200 }, () => dial(port));
      for (const socket of slow) socket.write(wire(port).slice(0, -20));
      await Promise.all(slow.map((socket) => once(socket, 'connect')));
    }
    const before = performance.now();
    await expectAlive(sandbox);
    // Slow ones time out after 10 s.
    expect(performance.now() - before).toBeLessThan(9000);
  });

  it('that send single bytes slowly are closed after the time limit', async () => {
    const sandbox = await open({ requestTimeoutMs: 100 });
    const port = portOf(sandbox);
    const slow = Array.from({ length: 20 }, (_, place) => {
      const socket = dial(port).resume();
      const bytes = place % 2 === 0 ? wire(port).slice(0, 60) : wire(port).slice(0, -60);
      socket.write(bytes);
      const letters = setInterval(() => socket.write('x'), 20);
      return new Promise<void>((resolve) => {
        socket.on('end', resolve).on('close', resolve);
      }).finally(() => clearInterval(letters));
    });
    await expectAlive(sandbox);
    await Promise.all(slow);
    await expectAlive(sandbox);
  });
});

describe('the record of requests', () => {
  it('has each body, except large ones', async () => {
    const sandbox = await open();
    for (const blanks of [0, 1_000_000]) await post(sandbox, `${BODY}${' '.repeat(blanks)}`);
    expect(sandbox.requests.map(({ body }) => body)).toEqual([JSON.parse(BODY), undefined]);
  });

  it('never shows a key in the log, wherever it was sent', async () => {
    const key = 'sk_service_real_and_secret_0123456789';
    const seen: unknown[] = [];
    const sandbox = await open({ onRequest: (entry) => seen.push(entry) });
    const reply = await send(sandbox, {
      path: `/api/mcp?key=${key}`,
      headers: { ...HEADERS, authorization: `Bearer ${key}`, 'x-api-key': key },
      body: BODY,
    });
    expect([reply.status, reply.text.includes(key)]).toEqual([401, false]);
    expect(JSON.stringify(seen)).not.toContain('real_and_secret');

    const free = await open();
    await free.close();
    const stop = new AbortController();
    const words = ['sandbox', '--port', String(portOf(free))];
    const running = runCli(words, { signal: stop.signal, tty: { stderr: true } });
    const call = { ...toolCall(`${key} ${'long '.repeat(100)}`, {}), id: key };
    while ((await post(free, call).catch(() => undefined)) === undefined) await new Promise(setImmediate);
    await post(free, { jsonrpc: '2.0', id: 1, method: `${key}\u001b[2J` });
    stop.abort();
    const { exit, stderr } = await running;
    expect([exit, stderr.match(/tools\/call/g)?.length]).toEqual([130, 1]);
    expect(stderr).not.toContain('real_and_secret');
    expect(stderr).not.toContain('\u001b[2J');
    expect(stderr.length).toBeLessThan(1000);
  });
});
