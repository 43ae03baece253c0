import {
  drip,
  ending,
  envelope,
  type Fault,
  good,
  http,
  inTurn,
  late,
  open,
  type Talk,
  whole,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const reset: Talk = ({ socket }) => void socket.resetAndDestroy();
const silent: Talk = () => undefined;
const network = ending({ exit: 6, code: 'network' });
const unreadable = ending({ exit: 7, code: 'bad_response', waits: [] });
const found = ending({ forms: ['json'], exit: 0, shows: 'Nopa' });
const REPEATED = [250, 500];
/** Three calls over one connection, or over as many as it takes. */
const three = ending({ exit: 0, requests: 3, line: ['lookup', 'a', 'b', 'c'] });

const faults: Fault[] = [
  network('nobody listens on the port', good, {
    requests: 0,
    waits: REPEATED,
    // Our server is at another address of this machine.
    at: (port) => `http://127.77.0.1:${port}`,
    tells: /refused by 127\.77\.0\.1:\d+ \(tried 3 times\)\n.*sandbox/,
  }),
  network('the name does not exist', good, {
    requests: 0,
    waits: [],
    at: () => 'https://no-such-host.invalid',
    tells: /no-such-host\.invalid does not exist/,
  }),
  network('reset before any byte', reset, { requests: 3, waits: REPEATED }),
  network('closed before any byte', () => '', { requests: 3, waits: REPEATED }),
  network('reset before any byte, not to be repeated', reset, { options: ['--retries', '0'] }),
  found('reset once', inTurn(reset, good), { requests: 2, waits: [250] }),
  found(
    'closed once inside the head',
    inTurn(() => 'HTTP/1.1 200 O', good),
    { requests: 2 },
  ),
  network('a call that may write is not repeated', reset, {
    line: ['call', 'find_restaurant', 'name=x', 'city=y'],
  }),
  unreadable('an SSH banner', silent, {
    requests: [0, 1],
    banner: 'SSH-2.0-OpenSSH_9.6\r\n',
    tells: 'HTTP server',
  }),
  unreadable('an SMTP greeting as the answer', () => '220 mail.example ESMTP\r\n'),
  unreadable('noise instead of HTTP', () =>
    Buffer.from(Array.from({ length: 512 }, (_, at) => (at * 89 + 7) % 256)),
  ),
  unreadable('lines that end in LF alone', () => 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}'),
  unreadable('HTTP/0.9: a body alone', ({ id }) => envelope(id)),
  unreadable('status 999', () => http('999 Odd\r\nContent-Length: 2', '{}')),
  unreadable('status 000', () => http('000 Odd\r\nContent-Length: 2', '{}')),
  unreadable('a head of 20 KB', () => http(`200 OK\r\nX-Big: ${'x'.repeat(20_000)}`, '{}'), {
    tells: '16 KiB',
  }),
  unreadable('3,000 header fields', () => http(`200 OK${'\r\nX: y'.repeat(3000)}`, '{}')),
  unreadable('a header field without a colon', () => http('200 OK\r\nrubbish', '{}')),
  unreadable('a switch of protocols', () =>
    http('101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket'),
  ),
  found('early hints first', ({ id }) => http('103 Early Hints\r\nLink: </x>', whole(envelope(id)))),
  found('an unsolicited 100 Continue first', ({ id }) => http('100 Continue', whole(envelope(id)))),
  late('early hints for ever', drip('', http('103 Early Hints'), 10)),
  late('no answer', silent),
  late('half a head, then nothing', open('HTTP/1.1 200 OK\r\nContent-')),
  late('a head that drips', drip('HTTP/1.1 200 OK\r\n', 'X: y\r\n', 20)),
  network('localhost, where the server is on the other address family', good, {
    requests: 0,
    at: (port) => `http://[::1]:${port}`,
    tells: /\[::1\]:\d+/,
  }),
  found('localhost, where the server is on one of its addresses', good, {
    at: (port) => `http://localhost:${port}`,
  }),
  three('every connection closed after one answer', ({ id }) =>
    whole(envelope(id), { more: 'Connection: close\r\n' }),
  ),
  three('every connection closed after one answer, without a word', good),
  three('connections that stay open', ({ id, socket }) => void socket.write(whole(envelope(id)))),
];

faultSuite('connection', faults);
