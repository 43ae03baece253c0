import zlib, { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  drip,
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
  message: 'middle of its response',
});
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });

const CHUNKED = '200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked';
const chunk = (text: string, extension = '') =>
  `${Buffer.byteLength(text).toString(16)}${extension}\r\n${text}\r\n`;
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
  cut('a reset inside a body of known length', thenReset(httpHead('200 OK\r\nContent-Length: 900', '{"a'))),
  cut('a close inside a body of known length', () => httpHead('200 OK\r\nContent-Length: 900', '{"a')),
  cut('a close inside a body without a length', ({ id }) => httpHead('200 OK', envelope(id).slice(0, 60))),
  cut('a close inside a chunk', () => httpHead(CHUNKED, 'ff\r\n{"a')),
  cut('a close before the last chunk', ({ id }) => httpHead(CHUNKED, chunk(envelope(id)))),
  cut('a close before the body', () => httpHead('200 OK\r\nContent-Length: 900')),
  found(
    'a close inside the body of the first response',
    inSequence(() => httpHead('200 OK\r\nContent-Length: 900', '{'), good),
    { requests: 2 },
  ),
  unreadable(
    'a length that is too small',
    ({ id }) => httpHead('200 OK\r\nContent-Length: 20', envelope(id)),
    {
      requests: [1, 3],
      waits: undefined,
    },
  ),
  unreadable('two lengths', () => httpHead('200 OK\r\nContent-Length: 2\r\nContent-Length: 3', '{}')),
  unreadable('a length and chunks', () =>
    httpHead('200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'),
  ),
  unreadable('a negative length', () => httpHead('200 OK\r\nContent-Length: -2', '{}')),
  unreadable('a length that is not a number', () => httpHead('200 OK\r\nContent-Length: two', '{}')),
  unreadable('an invalid chunk size', () => httpHead(CHUNKED, 'zz\r\n{}\r\n')),
  unreadable('a chunk size that is too large for a number', () =>
    httpHead(CHUNKED, `${'f'.repeat(40)}\r\n{}\r\n`),
  ),
  timesOut('a head, then silence', keepOpen(httpHead('200 OK\r\nContent-Length: 9'))),
  timesOut('a body that drips', drip(httpHead('200 OK\r\nContent-Length: 9000'), ' ', 20)),
  timesOut('chunks that drip', drip(httpHead(CHUNKED), '1\r\n \r\n', 20)),
];

const wellFormed: Fault[] = [
  found('a body without a length that is complete', ({ id }) => httpHead('200 OK', envelope(id))),
  found('chunk extensions and trailers', ({ id }) =>
    httpHead(CHUNKED, `${chunk(envelope(id), ';a="b"')}0\r\nX-Trailer: 1\r\n\r\n`),
  ),
  found('chunks of three bytes', ({ id }) => httpHead(CHUNKED, chunked(envelope(id), 3))),
  found(
    'a response sent one byte at a time',
    inPieces((id) => httpResponse(envelope(id)), 1),
  ),
  found(
    'characters split between packets',
    inPieces(
      (id) =>
        httpResponse(
          envelope(id, { status: 'ok', results: [{ service_id: '日', name: 'Nopa 🍜é' }], total_matches: 1 }),
        ),
      3,
    ),
    { stdout: 'Nopa 🍜é' },
  ),
  found('a byte order mark', ({ id }) => httpResponse(`\uFEFF${envelope(id)}`)),
  found('a kilobyte of white space before and after', ({ id }) =>
    httpResponse(`${' \n'.repeat(512)}${envelope(id)}${'\t\r\n'.repeat(300)}`),
  ),
  found(
    'an invalid byte in a name',
    ({ id }) => Buffer.from(httpResponse(envelope(id)).replace('Nopa', 'Nop\xe9'), 'latin1'),
    { stdout: 'Nop\uFFFD' },
  ),
  found(
    'a large response, then a close',
    ({ id }) =>
      httpResponse(
        envelope(id, {
          status: 'ok',
          results: Array.from({ length: 20_000 }, (_, at) => ({ service_id: `r-${at}`, name: 'Nopa' })),
          total_matches: 20_000,
        }),
      ),
    { stdout: 'r-19999', options: ['--columns', 'service_id'] },
  ),
];

const coded =
  (coding: string, encode: (text: string) => Uint8Array): Reply =>
  ({ id }) => {
    const body = encode(envelope(id));
    return Buffer.concat([
      Buffer.from(httpHead(`200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}`)),
      body,
    ]);
  };
const wrongSum = (text: string) => {
  const bytes = Buffer.from(gzipSync(text));
  bytes.writeUInt32LE(1, bytes.length - 8);
  return bytes;
};

/** Available since Node 22.15. */
const zstd = 'zstdCompressSync' in zlib ? (zlib.zstdCompressSync as (text: string) => Buffer) : undefined;

const encodings: Fault[] = [
  found('unrequested gzip', coded('gzip', gzipSync)),
  found('GZIP in upper case', coded('GZIP', gzipSync)),
  found('gzip by its old name', coded('x-gzip', gzipSync)),
  found('no encoding, named as such', coded('identity', Buffer.from)),
  found('deflate', coded('deflate', deflateSync)),
  found('brotli', coded('br', brotliCompressSync)),
  zstd === undefined
    ? unreadable(
        'zstd on a version of Node without it',
        coded('zstd', (text) => Buffer.from(text)),
        { message: 'zstd' },
      )
    : found('zstd', coded('zstd', zstd)),
  unreadable(
    'gzip without its trailer',
    coded('gzip', (text) => gzipSync(text).subarray(0, -8)),
  ),
  unreadable('gzip with a wrong checksum', coded('gzip', wrongSum)),
  unreadable(
    'gzip cut in the middle',
    coded('gzip', (text) => gzipSync(text).subarray(0, 40)),
  ),
  unreadable(
    'plain text labeled gzip',
    coded('gzip', (text) => Buffer.from(text)),
    { message: 'gzip' },
  ),
  unreadable(
    'an empty body labeled gzip',
    coded('gzip', () => Buffer.alloc(0)),
    { requests: 2, waits: [250] },
  ),
  unreadable(
    'gzip applied twice',
    coded('gzip, gzip', (text) => gzipSync(gzipSync(text))),
    { message: 'unknown Content-Encoding' },
  ),
  unreadable(
    'an unknown Content-Encoding',
    coded('snappy', (text) => Buffer.from(text)),
    { message: '"snappy"' },
  ),
  unreadable(
    'an encoding named like a property of every object',
    coded('constructor', (text) => Buffer.from(text)),
  ),
];

faultSuite('framing and encoding', [...breaks, ...wellFormed, ...encodings]);
