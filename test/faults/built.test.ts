import { rmSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { restaurant } from '../helpers/process.ts';
import { newHome } from '../helpers/program.ts';
import {
  envelope,
  events,
  type Fault,
  faultsEnding,
  httpHead,
  httpResponse,
  KEY,
  type Reply,
} from './fault.ts';
import { serveFault } from './server.ts';
import { expectSurvived } from './survival.ts';
import { countFault } from './tally.ts';

const GROUP = 'built program';
const found = faultsEnding({ exit: 0, stdout: 'Nopa' });
const unreadable = faultsEnding({ exit: 7, code: 'bad_response' });

const coded =
  (coding: string, encode: (text: string) => Uint8Array): Reply =>
  ({ id }) => {
    const body = encode(envelope(id));
    const head = httpHead(`200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}`);
    return Buffer.concat([Buffer.from(head), body]);
  };
const unread = httpHead('401 No\r\nConnection: close', 'x'.repeat(200_000));
const cut = httpHead('200 OK\r\nTransfer-Encoding: chunked', 'ff\r\n{"a');

/** Faults whose handling depends on the bundle, which omits parts of the HTTP library and loads Node's modules late. */
const faults: Fault[] = [
  // undici asserts that this status does not occur.
  unreadable('status 000', () => httpHead('000 Odd\r\nContent-Length: 2', '{}')),
  unreadable('lines that end in LF only', () => 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}'),
  unreadable('an unknown encoding', coded('snappy', Buffer.from)),
  found('gzip', coded('gzip', gzipSync)),
  found('brotli', coded('br', brotliCompressSync)),
  found('a stream', ({ id }) => events(`data: ${envelope(id)}\n\n`)),
  {
    exit: 0,
    name: 'a connection that closes after each response',
    words: ['lookup', 'a', 'b', 'c'],
    requests: 3,
    reply: ({ id }) => httpResponse(envelope(id)),
  },
  { exit: 4, code: 'unauthorized', name: 'an error with a large unread body', reply: () => unread },
  {
    exit: 6,
    code: 'network',
    name: 'a connection that closes inside a chunk',
    reply: () => cut,
    options: ['--retries', '0'],
  },
  {
    exit: 6,
    code: 'network',
    name: 'a connection that is reset',
    reply: ({ socket }) => void socket.resetAndDestroy(),
    options: ['--retries', '0'],
  },
];

describe.concurrent('the built program survives', () => {
  it.each(faults.map((fault) => [fault.name, fault] as const))('%s', (_name, fault) =>
    countFault(GROUP, async () => {
      const server = await serveFault(fault);
      const { home, env } = newHome();
      const words = [
        ...(fault.words ?? ['find', 'Nopa', '--city', 'SF']),
        ...(fault.options ?? []),
        '--json',
      ];
      const base = `http://127.0.0.1:${server.port}`;
      const { exit, ...printed } = await restaurant(words, {
        env: { ...env, RESTAURANT_BASE_URL: base, RESTAURANT_API_KEY: KEY, RESTAURANT_MAX_AGE: '0' },
      });
      await server.close();
      rmSync(home, { recursive: true });
      expectSurvived({ exit: exit ?? -1, ...printed }, { form: 'json', ...fault });
      expect(server.requests).toHaveLength(Number(fault.requests ?? 1));
      if (fault.stdout !== undefined) expect(printed.stdout).toMatch(fault.stdout);
    }),
  );
});
