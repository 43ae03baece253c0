import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { restaurant, STANDALONE } from '../helpers/process.ts';
import { runCli } from '../helpers/program.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { envelope, type Fault, faultsEnding, httpHead, httpResponse, KEY, type Reply } from './fault.ts';
import { serveFault } from './server.ts';
import { faultSuite } from './suite.ts';
import { expectSurvived } from './survival.ts';
import { countFault } from './tally.ts';

const GROUP = 'size and speed';
const MIB = 1024 * 1024;
const tooLarge = faultsEnding({
  maxMs: 120_000,
  options: ['--timeout', '1m'],
  exit: 7,
  code: 'bad_response',
  waits: [],
  formats: ['json'],
  message: '16 MiB',
});
const found = faultsEnding({ maxMs: 120_000, exit: 0, stdout: 'Nopa', formats: ['json'] });

/** Sends `head`, then `piece` endlessly, as fast as the client reads. */
const flood =
  (head: string, piece: string): Reply =>
  ({ socket }) => {
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.write(head);
    socket.on('drain', more);
    more();
    return undefined;
  };

const CHUNKED = httpHead('200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked');
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const rows = chunk('{"service_id":"r-1","name":"Nopa","address":"560 Divisadero"},'.repeat(1000));
const STREAM = httpHead('200 OK\r\nContent-Type: text/event-stream');
const NOTE = `data: {"method":"notifications/message","params":{"data":"${'x'.repeat(100_000)}"}}\n\n`;

const coded =
  (coding: string, body: Uint8Array): Reply =>
  () =>
    Buffer.concat([
      Buffer.from(httpHead(`200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}`)),
      body,
    ]);
/** 200 MiB of spaces in 200 KB: 200 gzip members of 1 MiB (RFC 1952, section 2.2). */
const gzipBomb = coded(
  'gzip',
  Buffer.concat(Array.from({ length: 200 }, () => zlib.gzipSync(Buffer.alloc(MIB, ' ')))),
);
const brotliBomb = coded(
  'br',
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
  tooLarge('a length of 100 MB', flood(httpHead('200 OK\r\nContent-Length: 100000000'), ' '.repeat(1000))),
  tooLarge('an endless page with status 401', flood(httpHead('401 Unauthorized'), 'x'.repeat(MIB)), {
    exit: 4,
    code: 'unauthorized',
    message: '401',
  }),
  tooLarge('endless notifications', flood(STREAM, NOTE)),
  tooLarge('an endless event', flood(`${STREAM}data: `, 'x'.repeat(MIB))),
  tooLarge('a brotli bomb of 80 MiB', brotliBomb),
  found('150,000 results', answer(restaurants(150_000)), { stdout: '"r-149999"' }),
  found('a name of 1 MB', answer([{ service_id: 'r', name: 'Nopa'.repeat(250_000) }]), {
    formats: ['json', 'table'],
  }),
];

faultSuite(GROUP, faults, false);

it('uses at most eight connections for a hundred calls', () =>
  countFault(GROUP, async () => {
    const server = await serveFault({
      reply: ({ id, socket }) => void socket.write(httpResponse(envelope(id), { closes: false })),
    });
    const ids = Array.from({ length: 100 }, (_, at) => `r-${at}`);
    const transcript = await runCli(['lookup', ...ids, '--json'], {
      env: {
        RESTAURANT_BASE_URL: `http://127.0.0.1:${server.port}`,
        RESTAURANT_API_KEY: KEY,
        RESTAURANT_PER_MINUTE: '0',
        RESTAURANT_PER_DAY: '0',
      },
    });
    const { connections } = server;
    await server.close();
    expectSurvived(transcript, { form: 'json', exit: 0 });
    expect(server.requests).toHaveLength(100);
    expect(connections()).toBeLessThanOrEqual(8);
  }));

/** Writes the peak resident set size of its process, in KiB (Linux). */
const PEAK = `import { readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => {
  const [, peak] = /VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  writeFileSync(process.env.PEAK, peak);
});`;

// The standalone program ignores NODE_OPTIONS, which this measurement needs.
describe.skipIf(process.platform !== 'linux' || STANDALONE)('memory use stays bounded for', () => {
  it.each([
    ['an endless body', flood(CHUNKED, rows), 300],
    ['a gzip bomb', gzipBomb, 200],
  ] as const)('%s', (_name, reply, maxMib) =>
    countFault(GROUP, async () => {
      const server = await serveFault({ reply });
      const home = tempFolder();
      const peak = join(home, 'peak');
      writeFileSync(join(home, 'peak.mjs'), PEAK);
      const { exit, ...printed } = await restaurant(['find', 'Nopa', '--city', 'SF', '--json'], {
        env: {
          HOME: home,
          PEAK: peak,
          NODE_OPTIONS: `--import=${join(home, 'peak.mjs')}`,
          RESTAURANT_BASE_URL: `http://127.0.0.1:${server.port}`,
          RESTAURANT_API_KEY: KEY,
        },
      });
      await server.close();
      expectSurvived({ exit: exit ?? -1, ...printed }, { form: 'json', exit: 7, code: 'bad_response' });
      const mebibytes = Number(readFileSync(peak, 'utf8')) / 1024;
      rmSync(home, { recursive: true });
      expect(mebibytes).toBeGreaterThan(10);
      expect(mebibytes).toBeLessThan(maxMib);
    }),
  );
});
