import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import {
  clientFor,
  endpointAt,
  FOUND,
  failure,
  serve,
  serveRaw,
  type TestOptions,
  toolReply,
} from '../../helpers/client.ts';
import { closedPort } from '../../helpers/servers.ts';

const QUERY = { name: 'Nopa', city: 'SF' };
const BODY = toolReply(1, FOUND);
const http = (head: string, body = '') => `HTTP/1.1 ${head}\r\n\r\n${body}`;
const whole = (body: string, more = '') =>
  http(`200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}${more}`, body);

/** Sends a search to a server that sends raw bytes; without retries by default. */
async function ask(talk: (socket: Socket, count: number) => void, options: TestOptions = {}) {
  const server = await serveRaw(talk);
  const { client, slept } = clientFor(server.url, { retries: 0, ...options });
  return { ...server, client, slept };
}

const send = (text: string | Buffer) => (socket: Socket) => void socket.end(text);

describe('connections that break', () => {
  const cases: [string, string, (socket: Socket) => void][] = [
    ['reset before any byte', 'reset', (s) => void s.resetAndDestroy()],
    ['closed before any byte', 'reset', (s) => void s.end()],
    ['closed inside the head', 'reset', send('HTTP/1.1 200 OK\r\nContent-')],
    [
      'reset inside the body',
      'cut_off',
      (s) => void s.write(http('200 OK\r\nContent-Length: 900', '{"a'), () => s.resetAndDestroy()),
    ],
    ...[
      ['body', '\r\nContent-Length: 900', '{"a'],
      ['body with Connection: close', '\r\nConnection: close\r\nContent-Length: 900', '{"a'],
      ['chunks', '\r\nTransfer-Encoding: chunked', 'ff\r\n{"a'],
      ['chunks with Connection: close', '\r\nConnection: close\r\nTransfer-Encoding: chunked', 'ff\r\n{"a'],
      ['body without length', '', BODY.slice(0, 30)],
    ].map(([where, headers, body]): [string, string, (socket: Socket) => void] => [
      `closed inside the ${where}`,
      'cut_off',
      send(http(`200 OK${headers}`, body)),
    ]),
    [
      'closed inside an event',
      'incomplete',
      send(http('200 OK\r\nContent-Type: text/event-stream', `data: ${BODY.slice(0, 20)}`)),
    ],
  ];
  it.each(cases)('%s', async (_name, reason, talk) => {
    const { client, url } = await ask(talk);
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'network', details: { reason } });
    expect(error.message).toContain(url.host);
  });

  it.each(cases)('retries a read: %s', async (_name, _reason, talk) => {
    const { client, connections } = await ask(
      (socket, count) => (count === 0 ? talk(socket) : send(whole(toolReply(2, FOUND)))(socket)),
      {
        retries: 2,
      },
    );
    expect((await client.find(QUERY)).output).toEqual(FOUND);
    expect(connections()).toBe(2);
  });

  it.each(cases)('does not retry a write: %s', async (_name, _reason, talk) => {
    const { client, connections } = await ask(talk, { retries: 2 });
    expect((await failure(client.callTool('t', {}))).kind).toBe('network');
    expect(connections()).toBe(1);
  });

  it('retries a refused connection for reads and writes, with a hint for this machine', async () => {
    const url = endpointAt(await closedPort());
    const { client, slept } = clientFor(url);
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'network', details: { reason: 'refused' }, retryable: true });
    expect(error.message).toContain(url.host);
    expect(hintText(hintFor(error))).toContain('restaurant sandbox');
    await failure(client.callTool('t', {}));
    expect(slept).toHaveLength(4);
  });

  it('does not retry a host name that does not exist', async () => {
    const { client, slept } = clientFor(new URL('https://no-such-host.invalid/api/mcp'));
    const error = await failure(client.find(QUERY));
    expect(error.code).toBe('network');
    expect(error.message).toContain('no-such-host.invalid');
    expect(slept).toEqual([]);
  });
});

describe('an error message', () => {
  it.each([
    ['trailing text', `${BODY}x`, 'offset'],
    ['another id', BODY.replace('"id":1', '"id":5'), 'with id 1'],
    ['other case', BODY.replace('"result"', '"Result"'), 'with id 1'],
    ['a string', '"hello"', 'a string'],
    ['deep nesting', '['.repeat(100_000), 'nested'],
  ])('describes %s', async (_name, body, expected) => {
    const { client, connections } = await ask(send(whole(body)), { retries: 2 });
    const error = await failure(client.find(QUERY));
    expect(error.code).toBe('bad_response');
    expect(error.message).toContain(expected);
    expect(connections()).toBe(1);
  });

  it.each([
    ['an empty response', ''],
    ['JSON that ends too early', BODY.slice(0, -3)],
  ])('appears after one retry of %s', async (_name, body) => {
    const { client, connections } = await ask(send(whole(body)), { retries: 5 });
    expect(await failure(client.find(QUERY))).toMatchObject({ code: 'bad_response' });
    expect(connections()).toBe(2);
  });
});

describe('deadlines', () => {
  it.each([
    ['no response', () => {}, 'no response from'],
    [
      'a head and no body',
      (s: Socket) => void s.write(http('200 OK\r\nContent-Length: 9')),
      'did not finish within 1s',
    ],
    [
      'a slow drip',
      (s: Socket) => {
        s.write(http('200 OK\r\nContent-Length: 9000'));
        const drip = setInterval(() => s.write(' '), 20);
        s.on('close', () => clearInterval(drip));
      },
      'did not finish within',
    ],
    [
      'endless comments',
      (s: Socket) => {
        s.write(http('200 OK\r\nContent-Type: text/event-stream'));
        const drip = setInterval(() => s.write(': ping\n\n'), 20);
        s.on('close', () => clearInterval(drip));
      },
      'did not finish within',
    ],
  ])('%s', async (_name, talk, expected) => {
    const { client } = await ask(talk, { timeoutMs: 1000, retries: 100 });
    const start = Date.now();
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'timeout' });
    expect(error.message).toContain(expected);
    // The time limit covers all attempts, not each.
    expect(Date.now() - start).toBeLessThan(10_000);
  });
});

describe('large bodies', () => {
  it('applies the limit of the options', async () => {
    const { url } = await serve((_request, response) => flood(response));
    const { client } = clientFor(url, { maxBodyBytes: 2 * 1024 * 1024 });
    const error = await failure(client.find(QUERY));
    expect(error.message).toContain('2 MiB');
    expect(hintText(hintFor(error))).toContain('--max-body');
  });
});

/** Writes an endless body. */
function flood(response: Writable): void {
  const chunk = Buffer.alloc(1024 * 1024, 0x20);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

describe('the status of an error is reported', () => {
  const head = (status: string, more = '') => http(`${status}${more}`);
  const bodies: [string, (status: string) => (socket: Socket) => void][] = [
    [
      'endless',
      (status) => (socket) => {
        socket.write(head(status));
        flood(socket);
      },
    ],
    [
      'declared as 99 MB',
      (status) => (socket) => void socket.write(head(status, '\r\nContent-Length: 99999999')),
    ],
    ['300,000 bytes', (status) => send(head(status, '\r\nConnection: close') + 'x'.repeat(300_000))],
    [
      'a page in Latin-1',
      (status) => (socket) =>
        void socket.end(
          Buffer.from(
            `${head(status, '\r\nContent-Type: text/html; charset=iso-8859-1')}<p>Zugriff für Gäste`,
            'latin1',
          ),
        ),
    ],
    ['labeled as gzip', (status) => send(`${head(status, '\r\nContent-Encoding: gzip')}plain`)],
    ['in an unknown encoding', (status) => send(`${head(status, '\r\nContent-Encoding: snappy')}plain`)],
    ['cut off', (status) => send(`${head(status, '\r\nContent-Length: 50')}{"error`)],
    [
      'a broken event stream',
      (status) => send(`${head(status, '\r\nContent-Type: text/event-stream')}data: {"a\n\n`),
    ],
  ];
  const statuses = [
    ['401 Unauthorized', 'unauthorized', 1],
    ['403 Forbidden', 'forbidden', 1],
    ['404 Not Found', 'http_error', 1],
    ['429 Too Many Requests', 'rate_limited', 2],
    ['503 Service Unavailable', 'http_error', 2],
  ] as const;
  const cases = bodies.flatMap(([name, talk]) =>
    statuses.map((status) => [status[0], name, talk, status] as const),
  );

  it.each(cases)('for %s with a body that is %s', async (_status, _name, talk, [status, code, requests]) => {
    let received = 0;
    const { client } = await ask(
      (socket) => {
        received += 1;
        talk(status)(socket);
      },
      { retries: 1, timeoutMs: 20_000 },
    );
    expect(await failure(client.find(QUERY))).toMatchObject({
      code,
      details: { status: Number(status.slice(0, 3)) },
    });
    expect(received).toBe(requests);
  });

  it('even when the body does not end in time', async () => {
    const { client } = await ask((socket) => void socket.write(http('401 No\r\nContent-Length: 9')), {
      timeoutMs: 1000,
    });
    expect(await failure(client.find(QUERY))).toMatchObject({ code: 'unauthorized' });
  });
});
