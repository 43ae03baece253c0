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
  reset,
  silent,
  timesOut,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const network = faultsEnding({ exit: 6, code: 'network' });
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });
const found = faultsEnding({ formats: ['json'], exit: 0, stdout: 'Nopa' });
const REPEATED = [250, 500];
const UNANSWERED = /127\.0\.0\.1:\d+ closed the connection without a response/;
const CALL = ['call', 'find_restaurant', 'name=x', 'city=y'];
/** Makes faults of three calls, over one or more connections. */
const three = faultsEnding({ exit: 0, requests: 3, words: ['lookup', 'a', 'b', 'c'] });

const faults: Fault[] = [
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
    'a reset before the first byte': [reset, { requests: 3, waits: REPEATED, message: UNANSWERED }],
    'a close before the first byte': [() => '', { requests: 3, waits: REPEATED, message: UNANSWERED }],
    'a close inside the head': [
      () => 'HTTP/1.1 200 OK\r\nContent-',
      { requests: 3, waits: REPEATED, message: UNANSWERED },
    ],
    'a reset before the first byte with --retries 0': [reset, { options: ['--retries', '0'] }],
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
    'lines that end in LF only': () => 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}',
    'an HTTP/0.9 response without a head': ({ id }) => envelope(id),
    'status 999': () => httpHead('999 Odd\r\nContent-Length: 2', '{}'),
    'status 000': () => httpHead('000 Odd\r\nContent-Length: 2', '{}'),
    'a head of 20 KB': [() => httpHead(`200 OK\r\nX-Big: ${'x'.repeat(20_000)}`, '{}'), '16 KiB'],
    '3,000 header fields': () => httpHead(`200 OK${'\r\nX: y'.repeat(3000)}`, '{}'),
    'a header field without a colon': () => httpHead('200 OK\r\nrubbish', '{}'),
    'a switch of protocols': () =>
      httpHead('101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket'),
  }),
  ...timesOut({
    'endless early hints': drip('', httpHead('103 Early Hints'), 10),
    'no response': [silent, { options: ['--timeout', '1s'], message: 'no response from' }],
    'half a head, then nothing': keepOpen('HTTP/1.1 200 OK\r\nContent-'),
    'a head that drips': drip('HTTP/1.1 200 OK\r\n', 'X: y\r\n', 20),
  }),
  ...three({
    'connections that close after each response': good,
    'connections that close after each response without notice': ({ id }) =>
      httpResponse(envelope(id), { closes: false }),
    'connections that stay open': ({ id, socket }) =>
      void socket.write(httpResponse(envelope(id), { closes: false })),
  }),
];

faultSuite('connection', faults);
