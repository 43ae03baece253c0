import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PROGRAM, type Running, startRestaurant } from '../helpers/process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { inTerminal } from '../helpers/terminal.ts';

const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } },
});

let running: Running;
let port = 0;
beforeAll(async () => {
  running = startRestaurant(['sandbox', '--port', '0', '--per-minute', '0', '--per-day', '0'], {
    env: { HOME: tempFolder() },
  });
  let url = '';
  running.process.stdout?.on('data', (chunk) => {
    url += chunk;
  });
  await running.printed('\n');
  port = Number(new URL(url.trim()).port);
});
afterAll(async () => {
  running.process.kill('SIGTERM');
  expect((await running.ended).stderr).not.toMatch(/^\s+at /m);
});

interface RawRequest {
  readonly line?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** The bytes of a request; PORT is replaced by the port. */
function bytes({ line = 'POST /api/mcp HTTP/1.1', headers = [], body = BODY }: RawRequest): string {
  const names = headers.map((header) => header.split(':', 1)[0]?.toLowerCase());
  const all = [
    ...(names.includes('host') || names.includes('-host') ? [] : ['Host: 127.0.0.1:PORT']),
    ...(names.includes('content-type') ? [] : ['Content-Type: application/json']),
    'Authorization: Bearer sk_service_demo_free',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers.filter((header) => !header.startsWith('-')),
  ];
  return `${line}\r\n${all.join('\r\n')}\r\n\r\n${body}`.replaceAll('PORT', String(port));
}

function dial(): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Sends a request; returns the status, or 0 if the connection was closed. */
async function statusOf(request: RawRequest): Promise<number> {
  const socket = dial();
  let reply = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    reply += chunk;
  });
  socket.write(bytes(request));
  await once(socket, 'close');
  expect(reply).not.toMatch(/access-control-/i);
  if (!reply.startsWith('HTTP/1.1 200')) expect(reply).not.toContain('Divisadero');
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1] ?? 0);
}

describe('the sandbox rejects', () => {
  it.each([
    'Host: evil.example:PORT',
    'Host: 127.0.0.1.nip.io:PORT',
    'Host: 127.0.0.1:1',
    'Host: localhost.:PORT',
    'Host: ',
    '-Host',
    'Host: user@127.0.0.1:PORT',
    'Host: 0.0.0.0:PORT',
    'Origin: https://evil.example',
    'Origin: null',
    'Origin: file://',
    'Origin: http://localhost.evil.example',
    'Origin: http://localhost@evil.example',
    'Origin: http://127.0.0.1\\@evil.example',
    'Origin: http://127.0.0.1, https://evil.example',
    'Origin: http://127.0.0.2',
  ])('%s', async (header) => {
    expect([400, 403]).toContain(await statusOf({ headers: [header] }));
  });

  it('two Origin headers', async () => {
    const headers = ['Origin: http://localhost', 'Origin: https://evil.example'];
    expect(await statusOf({ headers })).toBe(403);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', '', 'text/plain; application/json'])(
    'the content type %j of a form on another site',
    async (type) => {
      expect(await statusOf({ headers: [`Content-Type: ${type}`] })).toBe(415);
    },
  );

  it.each([
    'GET /api/mcp HTTP/1.1',
    'DELETE /api/mcp HTTP/1.1',
    'OPTIONS /api/mcp HTTP/1.1',
    'CONNECT evil.example:443 HTTP/1.1',
    'POST /../../etc/passwd HTTP/1.1',
    'POST /api/mcp/%2e%2e HTTP/1.1',
    'POST http://evil.example/api/mcp HTTP/1.1',
    'POST http://127.0.0.1:PORT@evil.example/api/mcp HTTP/1.1',
  ])('%s', async (line) => {
    expect([0, 403, 404, 405]).toContain(await statusOf({ line }));
  });
});

describe('the sandbox survives', () => {
  it.each<[string, string]>([
    ['500,000 levels', '['.repeat(500_000)],
    ['a batch of 1,000', `[${Array(1000).fill(BODY).join(',')}]`],
    ['3 MB', `"${'x'.repeat(3_000_000)}"`],
    ['a tool named __proto__', BODY.replace('find_restaurant', '__proto__')],
    ['a name of 900 kB', BODY.replace('Nopa', 'x'.repeat(900_000))],
    ['a name that grows eighteenfold', BODY.replace('Nopa', '\ufdfa'.repeat(100_000))],
    ['a pattern as a name', BODY.replace('Nopa', '(a+)+$')],
  ])('%s', async (_name, body) => {
    await statusOf({ body });
    expect(await statusOf({})).toBe(200);
  });

  it('700 connections that send half of the headers, and 700 that send half of a body', async () => {
    const whole = bytes({});
    for (const part of [whole.slice(0, 60), whole.slice(0, -20)]) {
      const sockets = Array.from({ length: 700 }, dial);
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const socket of sockets) socket.write(part);
      const began = performance.now();
      expect(await statusOf({})).toBe(200);
      expect(performance.now() - began).toBeLessThan(9000);
      for (const socket of sockets) socket.destroy();
    }
  });

  it('control characters in the name of a tool, on a terminal', async () => {
    const [program, ...first] = PROGRAM;
    const words = [...first, 'sandbox', '--port', '0', '--no-color'];
    const terminal = inTerminal(program, words, { env: { HOME: tempFolder() }, columns: 200 });
    await terminal.shown(/http:\/\/127\.0\.0\.1:\d+/);
    const before = port;
    port = Number(/127\.0\.0\.1:(\d+)/.exec(terminal.output())?.[1]);
    const evil = 'e\\u001b[2J\\u009b2J\\u202e\\u0007vil';
    await statusOf({ body: BODY.replace('find_restaurant', evil) });
    port = before;
    await terminal.shown(/vil/);
    expect(terminal.output()).not.toMatch(/\u001b\[2J|\u009b|\u202e|\u0007/);
    terminal.kill();
  });
});
