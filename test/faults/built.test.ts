import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, it } from 'vitest';
import { CHUNKED_HEAD, encoded, envelope, events, faultsEnding, good, httpHead, reset } from './fault.ts';
import { surviveAsProcess } from './suite.ts';

const found = faultsEnding({ exit: 0, stdout: 'Nopa' });
const unreadable = faultsEnding({ exit: 7, code: 'bad_response' });
const unauthorized = faultsEnding({ exit: 4, code: 'unauthorized' });
const network = faultsEnding({ exit: 6, code: 'network', options: ['--retries', '0'] });

/** Faults whose handling depends on the bundle, which omits parts of the HTTP library and loads Node's modules late. */
const faults = [
  ...unreadable({
    // undici asserts that this status does not occur.
    'status 000': () => httpHead('000 Odd\r\nContent-Length: 2', '{}'),
    'lines that end in LF only': () => 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}',
    'an unknown encoding': encoded('snappy', Buffer.from),
  }),
  ...found({
    gzip: encoded('gzip', gzipSync),
    brotli: encoded('br', brotliCompressSync),
    'a stream': ({ id }) => events(`data: ${envelope(id)}\n\n`),
    'a connection that closes after each response': [good, { words: ['lookup', 'a', 'b', 'c'], requests: 3 }],
  }),
  ...unauthorized({
    'an error with a large unread body': () => httpHead('401 No\r\nConnection: close', 'x'.repeat(200_000)),
  }),
  ...network({
    'a connection that closes inside a chunk': () => `${CHUNKED_HEAD}ff\r\n{"a`,
    'a connection that is reset': reset,
  }),
];

describe.concurrent('the built program survives', () => {
  it.each(faults)('$name', async (fault) => {
    await surviveAsProcess(fault);
  });
});
