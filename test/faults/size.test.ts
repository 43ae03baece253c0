import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { STANDALONE } from '../helpers/process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import {
  CHUNKED_HEAD,
  chunk,
  encoded,
  envelope,
  type Fault,
  faultsEnding,
  flood,
  httpHead,
  httpResponse,
  type Reply,
  STREAM_HEAD,
} from './fault.ts';
import { faultSuite, surviveAsProcess } from './suite.ts';

const MIB = 1024 * 1024;
const tooLarge = faultsEnding({
  options: ['--timeout', '1m'],
  exit: 7,
  code: 'bad_response',
  waits: [],
  formats: ['json'],
  message: '64 MiB',
});
const found = faultsEnding({ exit: 0, stdout: 'Nopa', formats: ['json'] });

const rows = chunk('{"service_id":"r-1","name":"Nopa","address":"560 Divisadero"},'.repeat(1000));
const NOTE = `data: {"method":"notifications/message","params":{"data":"${'x'.repeat(100_000)}"}}\n\n`;

/** 200 MiB of spaces in 200 KB: 200 gzip members of 1 MiB (RFC 1952, section 2.2). */
const gzipBomb = encoded('gzip', () =>
  Buffer.concat(Array.from({ length: 200 }, () => zlib.gzipSync(Buffer.alloc(MIB, ' ')))),
);
const brotliBomb = encoded('br', () =>
  zlib.brotliCompressSync(Buffer.alloc(80 * MIB, ' '), {
    params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 },
  }),
);

const restaurants = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ service_id: `r-${at}`, name: 'Nopa' }));
const answer =
  (results: readonly unknown[]): Reply =>
  ({ id }) =>
    httpResponse(envelope(id, { status: 'ok', results, total_matches: results.length }));

const faults: Fault[] = [
  ...tooLarge({
    'a length of 100 MB': flood(httpHead('200 OK\r\nContent-Length: 100000000'), ' '.repeat(1000)),
    'endless notifications': flood(STREAM_HEAD, NOTE),
    'an endless event': flood(`${STREAM_HEAD}data: `, 'x'.repeat(MIB)),
    'a brotli bomb of 80 MiB': brotliBomb,
    'an endless page': flood(httpHead('200 OK'), ' '.repeat(MIB)),
  }),
  ...found({
    '150,000 results': [answer(restaurants(150_000)), { stdout: '"r-149999"' }],
    'a name of 1 MB': [
      answer([{ service_id: 'r', name: 'Nopa'.repeat(250_000) }]),
      { formats: ['json', 'table'] },
    ],
  }),
];

faultSuite('size and speed', faults, false);

it('uses at most eight connections for a hundred calls', async () => {
  const server = await surviveAsProcess({
    name: 'a hundred calls',
    reply: ({ id, socket }) => void socket.write(httpResponse(envelope(id), { closes: false })),
    exit: 0,
    requests: 100,
    words: ['lookup', ...Array.from({ length: 100 }, (_, at) => `r-${at}`)],
    env: { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' },
  });
  expect(server.connections()).toBeLessThanOrEqual(8);
});

/** Writes the peak resident set size of its process, in KiB (Linux). */
const PEAK = `import { readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => {
  const [, peak] = /VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  writeFileSync(process.env.PEAK, peak);
});`;

// The standalone program ignores NODE_OPTIONS, which this measurement needs.
describe.skipIf(process.platform !== 'linux' || STANDALONE)('memory use stays bounded for', () => {
  it.each([
    ['an endless body', flood(CHUNKED_HEAD, rows), 300],
    ['a gzip bomb', gzipBomb, 200],
  ] as const)('%s', async (name, reply, maxMib) => {
    const folder = tempFolder();
    const [peak, script] = [join(folder, 'peak'), join(folder, 'peak.mjs')];
    writeFileSync(script, PEAK);
    const env = { PEAK: peak, NODE_OPTIONS: `--import=${script}` };
    await surviveAsProcess({ name, reply, exit: 7, code: 'bad_response', env });
    const mebibytes = Number(readFileSync(peak, 'utf8')) / 1024;
    expect(mebibytes).toBeGreaterThan(10);
    expect(mebibytes).toBeLessThan(maxMib);
  });
});
