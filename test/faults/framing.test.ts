import zlib, { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
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
  timesOut,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const found = faultsEnding({ formats: ['json'], exit: 0, stdout: 'Nopa' });
const cut = faultsEnding({
  exit: 6,
  code: 'network',
  requests: 3,
  waits: [250, 500],
  message: /127\.0\.0\.1:\d+ closed the connection in the middle of its response/,
});
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });

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

const breaks: Fault[] = [
  ...cut({
    'a reset inside a body of known length': thenReset(httpHead('200 OK\r\nContent-Length: 900', '{"a')),
    'a close inside a body of known length': () => httpHead('200 OK\r\nContent-Length: 900', '{"a'),
    'an announced close inside a body of known length': () =>
      httpHead('200 OK\r\nConnection: close\r\nContent-Length: 900', '{"a'),
    'a close inside a body without a length': ({ id }) => httpHead('200 OK', envelope(id).slice(0, 60)),
    'a close inside a chunk': () => `${CHUNKED_HEAD}ff\r\n{"a`,
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
    'a head, then silence': [
      keepOpen(httpHead('200 OK\r\nContent-Length: 9')),
      { options: ['--timeout', '1s'], message: 'did not finish within 1s' },
    ],
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
    'a response sent one byte at a time': inPieces((id) => httpResponse(envelope(id)), 1),
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
      { stdout: 'Nopa 🍜é' },
    ],
    'a byte order mark': ({ id }) => httpResponse(`\uFEFF${envelope(id)}`),
    'a kilobyte of white space before and after': ({ id }) =>
      httpResponse(`${' \n'.repeat(512)}${envelope(id)}${'\t\r\n'.repeat(300)}`),
    'an invalid byte in a name': [
      ({ id }) => Buffer.from(httpResponse(envelope(id)).replace('Nopa', 'Nop\xe9'), 'latin1'),
      { stdout: 'Nop\uFFFD' },
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
    'unrequested gzip': encoded('gzip', gzipSync),
    'GZIP in upper case': encoded('GZIP', gzipSync),
    'gzip by its old name': encoded('x-gzip', gzipSync),
    'no encoding, named as such': encoded('identity', Buffer.from),
    deflate: encoded('deflate', deflateSync),
    brotli: encoded('br', brotliCompressSync),
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
    'an unknown Content-Encoding': [encoded('snappy', Buffer.from), '"snappy"'],
    'an encoding named like a property of every object': encoded('constructor', Buffer.from),
  }),
];

faultSuite('framing and encoding', [...breaks, ...wellFormed, ...encodings]);
