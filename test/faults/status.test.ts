import {
  FOUND as ANSWER,
  BUILT,
  envelope,
  type Fault,
  type FaultRow,
  faultsEnding,
  flood,
  good,
  httpHead,
  httpResponse,
  inSequence,
  KEY,
  keepOpen,
  type Reply,
  rowsFor,
  withError,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const found = faultsEnding({ exit: 0, stdout: 'Nopa' });
const refused = faultsEnding({ exit: 7, code: 'http_error', waits: [] });
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });
const unauthorized = faultsEnding({ exit: 4, code: 'unauthorized', waits: [] });

const status =
  (line: string, more = '', body = ''): Reply =>
  () =>
    httpResponse(body, { status: line, type: 'text/plain', more });
const redirect = (line: string, location?: string) =>
  status(line, location === undefined ? '' : `Location: ${location}\r\n`);
const refusal =
  (line: string, error: object): Reply =>
  ({ id }) =>
    httpResponse(withError(id, error), { status: line });
const PAGE = '<!DOCTYPE html><title>Free \u001b[31mWiFi\u202e</title><p>Accept the terms</p>';

/** Bodies that must not hide the status, sent after the first line of the response. */
const BODIES: Readonly<Record<string, (line: string) => Reply>> = {
  'an endless body': (line) => flood(httpHead(line), 'x'.repeat(65_536)),
  'a body declared as 99 MB': (line) => keepOpen(httpHead(`${line}\r\nContent-Length: 99999999`)),
  'a body of 300,000 bytes': (line) => () => httpHead(`${line}\r\nConnection: close`, 'x'.repeat(300_000)),
  'a page in Latin-1': (line) => () =>
    Buffer.from(
      httpHead(`${line}\r\nContent-Type: text/html; charset=iso-8859-1`, '<p>Zugriff für Gäste'),
      'latin1',
    ),
  'text labeled gzip': (line) => () => httpHead(`${line}\r\nContent-Encoding: gzip`, 'plain'),
  'an unknown encoding': (line) => () => httpHead(`${line}\r\nContent-Encoding: snappy`, 'plain'),
  'a body that is cut off': (line) => () => httpHead(`${line}\r\nContent-Length: 50`, '{"error'),
  'a broken event stream': (line) => () =>
    httpHead(`${line}\r\nContent-Type: text/event-stream`, 'data: {"a\n\n'),
};

const STATUSES: readonly [line: string, expected: Pick<Fault, 'exit' | 'code' | 'requests'>][] = [
  ['401 Unauthorized', { exit: 4, code: 'unauthorized', requests: 1 }],
  ['403 Forbidden', { exit: 4, code: 'forbidden', requests: 1 }],
  ['404 Not Found', { exit: 7, code: 'http_error', requests: 1 }],
  ['429 Too Many Requests', { exit: 5, code: 'rate_limited', requests: 2 }],
  ['503 Service Unavailable', { exit: 7, code: 'http_error', requests: 2 }],
];

const bodies: Fault[] = STATUSES.flatMap(([line, { exit, ...expected }]) =>
  faultsEnding({
    ...expected,
    exit,
    message: line.slice(0, 3),
    formats: ['json'],
    options: ['--protocol', 'bare', '--retries', '1', '--timeout', '20s'],
  })(
    Object.fromEntries(Object.entries(BODIES).map(([name, reply]) => [`${line} with ${name}`, reply(line)])),
  ),
);

const redirects: Fault[] = [
  ...refused({
    '307 to the same origin': [redirect('307 Temporary Redirect', '/api/other'), 'not followed'],
    '308 to another host': [
      redirect('308 Permanent Redirect', `https://thief.example/?k=${KEY}`),
      /to https:\/\/thief\.example.*requires a login first/s,
    ],
    '302 to a file': [redirect('302 Found', 'file:///etc/passwd'), 'to a file: URL'],
    '302 to a script': [redirect('302 Found', 'javascript:alert(1)'), 'to a javascript: URL'],
    '301 to nowhere': [redirect('301 Moved'), 'without a Location'],
    '303 to an invalid URL': [redirect('303 See Other', 'http://[::'), 'to an invalid URL'],
    '304 to an unconditional request': () => httpHead('304 Not Modified'),
    '300 with choices': status('300 Multiple Choices', '', 'a\nb'),
  }),
];

const refusals: Fault[] = [
  ...unreadable({
    '200 with an empty body': [status('200 OK'), { requests: 2, waits: [250], message: 'empty' }],
    '204': [() => httpHead('204 No Content'), '204'],
    '205 with a body': ({ id }) => httpResponse(envelope(id), { status: '205 Reset Content' }),
  }),
  ...unauthorized({
    '401 with a metadata URL, which is not requested': [
      ({ head }) => {
        const host = /host: *(\S+)/i.exec(head)?.[1];
        const challenge = `Bearer error="invalid_token", resource_metadata="http://${host}/meta"`;
        return httpResponse('{"error":"invalid_token"}', {
          status: '401 No',
          more: `WWW-Authenticate: ${challenge}\r\n`,
        });
      },
      "ending in 'cdef'",
    ],
    '401 that repeats the key': ({ head }) =>
      httpResponse(head, { status: `401 ${KEY}`, type: 'text/plain' }),
    '401 with a body of 200,000 bytes': [
      () => httpHead('401 No\r\nConnection: close', 'x'.repeat(200_000)),
      BUILT,
    ],
    // Four calls run at a time.
    '401 in the middle of many calls': [
      inSequence(good, status('401 Unauthorized')),
      { requests: [2, 5], words: ['lookup', 'a', 'b', 'c', 'd', 'e', 'f', 'g'] },
    ],
  }),
  ...faultsEnding({ exit: 4, code: 'plan_required' })({ '402': status('402 Payment Required') }),
  ...faultsEnding({ exit: 4, code: 'forbidden' })({ '403': [status('403 Forbidden'), 'not allow'] }),
  ...refused({
    // The plain call, then the handshake that some services require.
    '404': [status('404 Not Found'), { requests: 2, message: /404[^\n]*\n.*base URL/ }],
    '418 with hostile text': [
      () => httpResponse(PAGE, { status: '418 \u001b[2J', type: 'text/html' }),
      'Accept the terms',
    ],
    '501, which is not retried': status('501 Not Implemented'),
    '511 from a captive portal': [status('511 Network Authentication Required'), 'requires a login first'],
    '505 without a reason': () => httpHead('505 \r\nContent-Length: 0'),
    '503 with a Retry-After beyond --timeout': [status('503 Busy', 'Retry-After: 40\r\n'), '--timeout'],
  }),
  ...faultsEnding({ exit: 7, code: 'http_error', requests: 3, waits: [250, 500] })({
    '408 every time': status('408 Request Timeout'),
    '425 every time': status('425 Too Early'),
    '500 every time': [status('500 Oops'), 'tried 3 times'],
  }),
  ...faultsEnding({ exit: 7, code: 'rpc_error', requests: 2 })({
    '400 that offers unknown protocol versions': [
      refusal('400 Bad Request', {
        code: -32022,
        message: 'Unsupported',
        data: { supported: ['1999-01-01'] },
      }),
      'Unsupported',
    ],
  }),
  ...faultsEnding({ exit: 6, code: 'network' })({
    '407 from a proxy': [
      status('407 Proxy Authentication Required'),
      /HTTPS_PROXY to http:\/\/user:password@proxy:port, then: restaurant status --check/,
    ],
  }),
  ...found({
    '500 once': [inSequence(status('500 Oops'), good), { requests: 2, waits: [250] }],
    '502, then 504': [
      inSequence(status('502 Bad Gateway'), status('504 Gateway Timeout'), good),
      { requests: 3, waits: [250, 500] },
    ],
    '503 with a Retry-After': [
      inSequence(status('503 Busy', 'Retry-After: 2\r\n'), good),
      { requests: 2, waits: [2125] },
    ],
  }),
];

const foundNext = faultsEnding({ exit: 0, stdout: 'Nopa', requests: 2 });
const rate = faultsEnding({ exit: 5, code: 'rate_limited' });
/** Makes faults that are requested twice again, after half a second. */
const retried = faultsEnding({ exit: 5, code: 'rate_limited', requests: 3, waits: [500, 500] });

/** Makes faults of nine calls, four at a time, without a quota. */
const many = faultsEnding({
  exit: 0,
  words: ['lookup', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
  env: { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' },
});

const slowDown =
  (...fields: string[]): Reply =>
  () =>
    httpResponse('', {
      status: '429 Too Many Requests',
      more: fields.map((value) => `Retry-After: ${value}\r\n`).join(''),
    });

/** A 429, then a wait in ms and a valid response. */
const waits = (ms: number, ...fields: string[]): FaultRow => [
  inSequence(slowDown(...fields), good),
  { waits: [ms] },
];

const rateLimits: Fault[] = [
  ...foundNext({
    '429 for 7 seconds': waits(7125, '7'),
    '429 for longer than --timeout, within --max-wait': waits(50_125, '50'),
    '429 with two Retry-After fields, of which the larger is used': waits(9125, '3', '9'),
  }),
  ...rate({
    '429 for 31,709 years': [slowDown('999999999999'), { waits: [], message: '31,709 years' }],
    '429 with Retry-After 0, without a busy loop': [slowDown('0'), { requests: 3, waits: [625, 625] }],
  }),
  ...retried({
    '429 without Retry-After': slowDown(),
    '429 with a Retry-After that is too large for a number': slowDown('9'.repeat(400)),
    ...rowsFor('429 with Retry-After', ['', 'abc'], (value) => slowDown(value)),
  }),
  ...many({
    '429 for the first of many calls': [inSequence(slowDown('5'), good), { requests: 9 }],
    '429 for all calls in progress': [
      (request) => (request.count < 4 ? slowDown('5') : good)(request),
      { requests: [9, 12] },
    ],
  }),
];

/** A valid response with this media type. */
const labeled =
  (type: string): Reply =>
  ({ id }) =>
    httpResponse(envelope(id), { type });

const others: Fault[] = [
  ...unreadable({
    'a captive portal': [
      () => httpResponse(PAGE, { type: 'text/html' }),
      /got a web page \("Free .*WiFi.*"\), not the API/,
    ],
    'a web page labeled JSON': [() => httpResponse(PAGE), 'web page'],
    'Latin-1, labeled as such': [
      ({ id }) =>
        Buffer.from(
          httpResponse(envelope(id, { ...ANSWER, note: 'é' }), { type: 'application/json; charset=latin1' }),
          'latin1',
        ),
      'UTF-8',
    ],
    'UTF-16': ({ id }) =>
      Buffer.concat([
        Buffer.from(httpHead('200 OK\r\nContent-Type: application/json; charset=utf-16')),
        Buffer.from(`\uFEFF${envelope(id)}`, 'utf16le'),
      ]),
  }),
  ...found({
    ...rowsFor(
      'a valid response labeled',
      ['text/plain', 'application/octet-stream', 'text/html', 'odd'],
      (type) => [labeled(type), { remark: new RegExp(`is labeled ${type}, but is JSON`) }],
    ),
    'a valid response without a Content-Type': [labeled(''), { remark: /has no Content-Type, but is JSON/ }],
    ...rowsFor(
      'a valid response labeled',
      ['application/problem+json', 'application/json; charset=utf-8', 'application/json; charset=iso-8859-1'],
      (type) => [labeled(type), { remark: /^$/ }],
    ),
  }),
];

faultSuite('HTTP status', [...bodies, ...redirects, ...refusals, ...rateLimits, ...others]);
