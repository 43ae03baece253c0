import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startRestaurant } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

it('the sandbox exits at once on SIGTERM, even with open connections', async () => {
  const run = startRestaurant(['sandbox', '--port', '0', '--fault', 'hang', '--json'], {
    env: { HOME: tempFolder() },
  });
  let first = '';
  run.process.stdout?.on('data', (chunk) => {
    first += chunk;
  });
  await run.printed('}\n');
  const port = Number(new URL(JSON.parse(first).base_url).port);
  const sockets = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets.slice(0, 50)) {
    socket.write(`POST /api/mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 2\r\n\r\n{}`);
  }
  const began = performance.now();
  run.process.kill('SIGTERM');
  const { exit, stderr } = await run.ended;
  expect([exit, stderr]).toEqual([143, '']);
  // Usually a few milliseconds; longer on a busy machine.
  expect(performance.now() - began).toBeLessThan(10_000);
});
