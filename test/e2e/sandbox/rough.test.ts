import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/server.ts';
import { runCli } from '../../helpers/program.ts';
import { dial, NOPA, post, start, toolCall, wire } from './http.ts';

const open = (options: SandboxOptions = {}) => start({ perMinute: 0, perDay: 0, ...options });
const BODY = JSON.stringify(NOPA);
const portOf = ({ baseUrl }: Pick<Sandbox, 'baseUrl'>): number => Number(new URL(baseUrl).port);

/** Checks that the sandbox still responds. */
async function expectAlive(sandbox: Sandbox): Promise<void> {
  expect((await post(sandbox, BODY)).status).toBe(200);
}

const withHeaders = (more: string) => (sandbox: Sandbox) => wire(sandbox, { more });
const POST = 'POST /api/mcp HTTP/1.1\r\nHost: x\r\n';

/** The peculiarity of a request, its bytes, and the beginning of the response. */
const UNUSUAL: readonly [what: string, bytes: string | ((sandbox: Sandbox) => string), answer: RegExp][] = [
  [
    'requests a tunnel',
    'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n',
    /^$|^HTTP\/1\.1 4/,
  ],
  ['is HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1\.1 4/],
  ['is TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', /^HTTP\/1\.1 400 /],
  ['is not HTTP', 'SSH-2.0-OpenSSH_9.0\r\n\r\n', /^HTTP\/1\.1 4/],
  ['consists of zeros', '\0'.repeat(5000), /^HTTP\/1\.1 400 /],
  ['has an unknown method', 'BREW /api/mcp HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1\.1 4/],
  ['has a body that is shorter than announced', (sandbox) => wire(sandbox).slice(0, -9), /^/],
  ['has a body of length -1', `${POST}Content-Length: -1\r\n\r\n`, /^HTTP\/1\.1 400 /],
  ['has two lengths', `${POST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, /^HTTP\/1\.1 4/],
  ['has a length and chunks', withHeaders('Transfer-Encoding: chunked\r\n'), /^HTTP\/1\.1 400 /],
  ['has a bad chunk', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, /^HTTP\/1\.1 4/],
  ['has 3,000 headers', withHeaders('a: b\r\n'.repeat(3000)), /^HTTP\/1\.1 (200|431) /],
  ['has huge headers', `${POST}X: ${'x'.repeat(40_000)}\r\n\r\n`, /^HTTP\/1\.1 4/],
  ['has a header with a bare LF', withHeaders('x: a\nHost: evil.example\r\n'), /^HTTP\/1\.1 400 /],
  [
    'requests another protocol',
    withHeaders('Connection: Upgrade, close\r\nUpgrade: websocket\r\n'),
    /^HTTP\/1\.1 200 /,
  ],
  [
    'expects 100 Continue',
    withHeaders('Expect: 100-continue\r\nConnection: close\r\n'),
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
  ],
];

describe('an unusual HTTP request', () => {
  it.each(UNUSUAL)('that %s', async (_what, bytes, answer) => {
    const sandbox = await open();
    const { socket, received } = dial(sandbox, typeof bytes === 'string' ? bytes : bytes(sandbox));
    // Closes its own half of the connection and still reads.
    socket.end();
    expect(await received).toMatch(answer);
    await expectAlive(sandbox);
  });

  it('that does not wait for earlier responses gets its response in order', async () => {
    const sandbox = await open();
    const ids = Array.from({ length: 30 }, (_, id) => id);
    const requests = ids.map((id) => {
      const body = JSON.stringify({ ...NOPA, id });
      return wire(sandbox, { body, more: id === ids.at(-1) ? 'Connection: close\r\n' : '' });
    });
    const replies = await dial(sandbox, requests.join('')).received;
    expect([...replies.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))).toEqual(ids);
    await expectAlive(sandbox);
  });

  it('that is cut off in the middle is recorded without a body', async () => {
    let over = () => {};
    const logged = new Promise<void>((resolve) => {
      over = resolve;
    });
    const sandbox = await open({ onRequest: () => over() });
    const { socket } = dial(sandbox, `${POST}Content-Length: 100\r\n\r\n{"half`);
    while (sandbox.requests.length === 0) await new Promise(setImmediate);
    socket.destroy();
    await logged;
    expect(sandbox.requests).toMatchObject([{ status: 0, body: undefined }]);
    await expectAlive(sandbox);
  });
});

it.each([
  ['with a length', 'Content-Length: 1000000000'],
  ['without a length', 'Transfer-Encoding: chunked'],
])('an endless body %s gets 413 after a few megabytes', async (_, length) => {
  const sandbox = await open();
  const { socket, received } = dial(
    sandbox,
    wire(sandbox, { body: '' }).replace('Content-Length: 0', length),
  );
  const piece = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
  let sent = 0;
  while (!socket.destroyed && sent < 1e9) {
    sent += piece.length;
    if (!socket.write(piece))
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    await new Promise(setImmediate);
  }
  expect(await received).toMatch(/^HTTP\/1\.1 413 /);
  // Includes the bytes in the buffers of the system.
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  await expectAlive(sandbox);
});

it('the list of requests has each body, except large ones', async () => {
  const sandbox = await open();
  for (const blanks of [0, 1_000_000]) await post(sandbox, `${BODY}${' '.repeat(blanks)}`);
  expect(sandbox.requests.map(({ body }) => body)).toEqual([NOPA, undefined]);
});

it('the log on a terminal shows neither keys nor escapes, and cuts long names', async () => {
  const key = 'sk_service_real_and_secret_0123456789';
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
  expect(stderr).not.toMatch(/real_and_secret|\u001b\[2J/);
  expect(stderr.length).toBeLessThan(1000);
});
