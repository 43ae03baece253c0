import zlib, { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  BUILT,
  CHUNKED_HEAD,
  chunk,
  drip,
  encoded,
  envelope,
  type Fault,
  faultsEnding,
  good,
  httpHead,
  httpResponse,
  inSequence,
  keepOpen,
  type Reply,
  reset,
  silent,
  timesOut,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const found = faultsEnding({ formats: ['json'], exit: 0, stdout: 'Nopa' });
const REPEATED = [250, 500];
const closed = { exit: 6, code: 'network', requests: 3, waits: REPEATED } as const;
const unanswered = faultsEnding({
  ...closed,
  message: /127\S+:\d+ closed the connection without a response/,
});
const cut = faultsEnding({
  ...closed,
  message: /127\S+:\d+ closed the connection in the middle of its response/,
});
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });

const network = faultsEnding({ exit: 6, code: 'network' });
const CALL = ['call', 'find_restaurant', 'name=x', 'city=y'];
/** Makes faults of three calls, over one or more connections. */
const three = faultsEnding({ exit: 0, requests: 3, words: ['lookup', 'a', 'b', 'c'] });

const connections: Fault[] = [
  ...unanswered({
    'a reset before the first byte': reset,
    'a close before the first byte': () => '',
    'a close inside the head': () => 'HTTP/1.1 200 OK\r\nContent-',
  }),
  ...network({
    'a port without a listener': [
      good,
      {
        requests: 0,
        waits: REPEATED,
        // The test server listens on another address of this machine.
        baseUrl: (port) => `http://127.77.0.1:${port}`,
        message: /refused by 127\.77\.0\.1:\d+ \(tried 3 times\)\n.*sandbox/,
      },
    ],
    'a host name that does not exist': [
      good,
      {
        requests: 0,
        waits: [],
        baseUrl: () => 'https://no-such-host.invalid',
        message: /no-such-host\.invalid does not exist/,
      },
    ],
    'a reset before the first byte with --retries 0': [reset, { ...BUILT, options: ['--retries', '0'] }],
    'a reset of a call that may write, without a retry': [reset, { words: CALL }],
    'a port without a listener for a call that may write': [
      good,
      { requests: 0, waits: REPEATED, baseUrl: (port) => `http://127.77.0.1:${port}`, words: CALL },
    ],
    'a server on the other address family of localhost': [
      good,
      { requests: 0, baseUrl: (port) => `http://[::1]:${port}`, message: /\[::1\]:\d+/ },
    ],
  }),
  ...found({
    'a reset of the first connection': [inSequence(reset, good), { requests: 2, waits: [250] }],
    'a close inside the head of the first response': [
      inSequence(() => 'HTTP/1.1 200 O', good),
      { requests: 2 },
    ],
    'early hints before the response': ({ id }) =>
      httpHead('103 Early Hints\r\nLink: </x>', httpResponse(envelope(id))),
    'a server on one address of localhost': [good, { baseUrl: (port) => `http://localhost:${port}` }],
  }),
  ...unreadable({
    'an SSH banner': [
      silent,
      { requests: [0, 1], banner: 'SSH-2.0-OpenSSH_9.6\r\n', message: 'HTTP server' },
    ],
    'an SMTP greeting as the response': () => '220 mail.example ESMTP\r\n',
    'noise instead of HTTP': () => Buffer.from(Array.from({ length: 512 }, (_, at) => (at * 89 + 7) % 256)),
    'lines that end in LF only': [() => 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}', BUILT],
    'an HTTP/0.9 response without a head': ({ id }) => envelope(id),
    'status 999': () => httpHead('999 Odd\r\nContent-Length: 2', '{}'),
    // undici asserts that this status does not occur.
    'status 000': [() => httpHead('000 Odd\r\nContent-Length: 2', '{}'), BUILT],
    'a head of 20 KB': [() => httpHead(`200 OK\r\nX-Big: ${'x'.repeat(20_000)}`, '{}'), '16 KiB'],
    '3,000 header fields': () => httpHead(`200 OK${'\r\nX: y'.repeat(3000)}`, '{}'),
    'a header field without a colon': () => httpHead('200 OK\r\nrubbish', '{}'),
    'a switch of protocols': () =>
      httpHead('101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket'),
  }),
  ...timesOut({
    'endless early hints': drip('', httpHead('103 Early Hints'), 10),
    'no response': silent,
    'half a head, then nothing': keepOpen('HTTP/1.1 200 OK\r\nContent-'),
    'a head that drips': drip('HTTP/1.1 200 OK\r\n', 'X: y\r\n', 20),
  }),
  ...three({
    'connections that close after each response': [good, BUILT],
    'connections that close after each response without notice': ({ id }) =>
      httpResponse(envelope(id), { closes: false }),
    'connections that stay open': ({ id, socket }) =>
      void socket.write(httpResponse(envelope(id), { closes: false })),
  }),
];

const chunked = (text: string, size: number) =>
  `${(text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []).map((part) => chunk(part)).join('')}0\r\n\r\n`;
/** Sends `text`, then resets the connection. */
const thenReset =
  (text: string): Reply =>
  ({ socket }) =>
    void socket.write(text, () => socket.resetAndDestroy());
/** Sends `text` in pieces of `size` bytes, one at a time. */
const inPieces =
  (text: (id: unknown) => string, size: number): Reply =>
  ({ id, socket }) => {
    const bytes = Buffer.from(text(id));
    const next = (at: number): void => {
      if (at >= bytes.length) socket.end();
      else socket.write(bytes.subarray(at, at + size), () => setImmediate(next, at + size));
    };
    next(0);
    return undefined;
  };

/** On a busy machine, small pieces take longer than the 30 seconds that a call has by default. */
const UNHURRIED = { options: ['--timeout', '100s'] };

const breaks: Fault[] = [
  ...cut({
    'a reset inside a body of known length': thenReset(httpHead('200 OK\r\nContent-Length: 900', '{"a')),
    'a close inside a body of known length': () => httpHead('200 OK\r\nContent-Length: 900', '{"a'),
    'an announced close inside a body of known length': () =>
      httpHead('200 OK\r\nConnection: close\r\nContent-Length: 900', '{"a'),
    'a close inside a body without a length': ({ id }) => httpHead('200 OK', envelope(id).slice(0, 60)),
    'a close inside a chunk': [() => `${CHUNKED_HEAD}ff\r\n{"a`, BUILT],
    'an announced close inside a chunk': () =>
      httpHead('200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked', 'ff\r\n{"a'),
    'a close before the last chunk': ({ id }) => CHUNKED_HEAD + chunk(envelope(id)),
    'a close before the body': () => httpHead('200 OK\r\nContent-Length: 900'),
  }),
  ...found({
    'a close inside the body of the first response': [
      inSequence(() => httpHead('200 OK\r\nContent-Length: 900', '{'), good),
      { requests: 2 },
    ],
  }),
  ...unreadable({
    'a length that is too small': [
      ({ id }) => httpHead('200 OK\r\nContent-Length: 20', envelope(id)),
      { requests: [1, 3], waits: undefined },
    ],
    'two lengths': () => httpHead('200 OK\r\nContent-Length: 2\r\nContent-Length: 3', '{}'),
    'a length and chunks': () =>
      httpHead('200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'),
    'a negative length': () => httpHead('200 OK\r\nContent-Length: -2', '{}'),
    'a length that is not a number': () => httpHead('200 OK\r\nContent-Length: two', '{}'),
    'an invalid chunk size': () => `${CHUNKED_HEAD}zz\r\n{}\r\n`,
    'a chunk size that is too large for a number': () => `${CHUNKED_HEAD}${'f'.repeat(40)}\r\n{}\r\n`,
  }),
  ...timesOut({
    'a head, then silence': keepOpen(httpHead('200 OK\r\nContent-Length: 9')),
    'a body that drips': drip(httpHead('200 OK\r\nContent-Length: 9000'), ' ', 20),
    'chunks that drip': drip(CHUNKED_HEAD, '1\r\n \r\n', 20),
  }),
];

const wellFormed: Fault[] = [
  ...found({
    'a body without a length that is complete': ({ id }) => httpHead('200 OK', envelope(id)),
    'chunk extensions and trailers': ({ id }) =>
      `${CHUNKED_HEAD}${chunk(envelope(id), ';a="b"')}0\r\nX-Trailer: 1\r\n\r\n`,
    'chunks of three bytes': ({ id }) => CHUNKED_HEAD + chunked(envelope(id), 3),
    'a response sent one byte at a time': [inPieces((id) => httpResponse(envelope(id)), 1), UNHURRIED],
    'characters split between packets': [
      inPieces(
        (id) =>
          httpResponse(
            envelope(id, {
              status: 'ok',
              results: [{ service_id: '日', name: 'Nopa 🍜é' }],
              total_matches: 1,
            }),
          ),
        3,
      ),
      { ...UNHURRIED, stdout: 'Nopa 🍜é' },
    ],
    'a byte order mark': ({ id }) => httpResponse(`\uFEFF${envelope(id)}`),
    'a kilobyte of white space before and after': ({ id }) =>
      httpResponse(`${' \n'.repeat(512)}${envelope(id)}${'\t\r\n'.repeat(300)}`),
    'an invalid byte in a name': [
      ({ id }) => Buffer.from(httpResponse(envelope(id)).replace('Nopa', 'Nop\xe9'), 'latin1'),
      { stdout: 'Nop\uFFFD', remark: /U\+FFFD/ },
    ],
    'a large response, then a close': [
      ({ id }) =>
        httpResponse(
          envelope(id, {
            status: 'ok',
            results: Array.from({ length: 20_000 }, (_, at) => ({ service_id: `r-${at}`, name: 'Nopa' })),
            total_matches: 20_000,
          }),
        ),
      { stdout: 'r-19999', options: ['--columns', 'service_id'] },
    ],
  }),
];

const wrongSum = (text: string) => {
  const bytes = Buffer.from(gzipSync(text));
  bytes.writeUInt32LE(1, bytes.length - 8);
  return bytes;
};

/** Available since Node 22.15. */
const zstd = 'zstdCompressSync' in zlib ? (zlib.zstdCompressSync as (text: string) => Buffer) : undefined;

const encodings: Fault[] = [
  ...found({
    'unrequested gzip': [encoded('gzip', gzipSync), BUILT],
    'GZIP in upper case': encoded('GZIP', gzipSync),
    'gzip by its old name': encoded('x-gzip', gzipSync),
    'no encoding, named as such': encoded('identity', Buffer.from),
    deflate: encoded('deflate', deflateSync),
    brotli: [encoded('br', brotliCompressSync), BUILT],
  }),
  ...(zstd === undefined
    ? unreadable({ 'zstd on a version of Node without it': [encoded('zstd', Buffer.from), 'zstd'] })
    : found({ zstd: encoded('zstd', zstd) })),
  ...unreadable({
    'gzip without its trailer': encoded('gzip', (text) => gzipSync(text).subarray(0, -8)),
    'gzip with a wrong checksum': encoded('gzip', wrongSum),
    'gzip cut in the middle': encoded('gzip', (text) => gzipSync(text).subarray(0, 40)),
    'plain text labeled gzip': [encoded('gzip', Buffer.from), 'gzip'],
    'an empty body labeled gzip': [encoded('gzip', () => Buffer.alloc(0)), { requests: 2, waits: [250] }],
    'gzip applied twice': [
      encoded('gzip, gzip', (text) => gzipSync(gzipSync(text))),
      'unknown Content-Encoding',
    ],
    'an unknown Content-Encoding': [encoded('snappy', Buffer.from), { ...BUILT, message: '"snappy"' }],
    'an encoding named like a property of every object': encoded('constructor', Buffer.from),
  }),
];

faultSuite('connection', connections);
faultSuite('framing and encoding', [...breaks, ...wellFormed, ...encodings]);
