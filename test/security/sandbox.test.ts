import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startRestaurant } from '../helpers/process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { restaurantInTerminal } from '../helpers/terminal.ts';

const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } },
});

const words = ['sandbox', '--port', '0', '--per-minute', '0', '--per-day', '0'];
const running = startRestaurant(words, { env: { HOME: tempFolder() } });
const port = Number(new URL((await running.printed('\n')).trim()).port);
afterAll(async () => {
  running.process.kill('SIGTERM');
  expect((await running.ended).stderr).not.toMatch(/^\s+at /m);
});

const bytes = (body: string, line = 'POST /api/mcp HTTP/1.1', at = port): string =>
  [
    line.replaceAll('PORT', `${at}`),
    `Host: 127.0.0.1:${at}`,
    'Content-Type: application/json',
    'Authorization: Bearer sk_service_demo_free',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');

function dial(at = port): Socket {
  const socket = connect(at, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Sends a request; returns the status, or 0 if the connection was closed. */
async function statusOf(body = BODY, line?: string, at = port): Promise<number> {
  const socket = dial(at);
  let reply = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    reply += chunk;
  });
  socket.write(bytes(body, line, at));
  await once(socket, 'close');
  if (!reply.startsWith('HTTP/1.1 200')) expect(reply).not.toContain('Divisadero');
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1] ?? 0);
}

it.each([
  'CONNECT evil.example:443 HTTP/1.1',
  'POST http://evil.example/api/mcp HTTP/1.1',
  'POST http://127.0.0.1:PORT@evil.example/api/mcp HTTP/1.1',
])('the sandbox forwards no request: %s', async (line) => {
  expect([0, 403, 404, 405]).toContain(await statusOf(BODY, line));
});

describe('the sandbox survives', () => {
  it.each([
    ['500,000 levels', '['.repeat(500_000)],
    ['a batch of 1,000', `[${Array(1000).fill(BODY).join(',')}]`],
    ['3 MB', `"${'x'.repeat(3_000_000)}"`],
    ['a tool named __proto__', BODY.replace('find_restaurant', '__proto__')],
    ['a name of 900 kB', BODY.replace('Nopa', 'x'.repeat(900_000))],
    ['a name that grows eighteenfold', BODY.replace('Nopa', '\ufdfa'.repeat(100_000))],
    ['a pattern as a name', BODY.replace('Nopa', '(a+)+$')],
  ])('%s', async (_name, body) => {
    await statusOf(body);
    expect(await statusOf()).toBe(200);
  });

  it('700 connections that send half of the headers, and 700 that send half of a body', async () => {
    const whole = bytes(BODY);
    for (const part of [whole.slice(0, 60), whole.slice(0, -20)]) {
      const sockets = Array.from({ length: 700 }, () => dial());
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const socket of sockets) socket.write(part);
      const began = performance.now();
      expect(await statusOf()).toBe(200);
      expect(performance.now() - began).toBeLessThan(9000);
      for (const socket of sockets) socket.destroy();
    }
  });

  it('control characters in the name of a tool, on a terminal', async () => {
    const options = { env: { HOME: tempFolder() }, columns: 200 };
    const terminal = restaurantInTerminal(['sandbox', '--port', '0', '--no-color'], options);
    await terminal.shown(/http:\/\/127\.0\.0\.1:\d+/);
    const at = Number(/127\.0\.0\.1:(\d+)/.exec(terminal.output())?.[1]);
    const evil = 'e\\u001b[2J\\u009b2J\\u202e\\u0007vil';
    await statusOf(BODY.replace('find_restaurant', evil), undefined, at);
    await terminal.shown(/vil/);
    expect(terminal.output()).not.toMatch(/\u001b\[2J|\u009b|\u202e|\u0007/);
    terminal.kill();
  });
});
