import {
  FOUND as ANSWER,
  envelope,
  type Fault,
  faultsEnding,
  good,
  httpHead,
  httpResponse,
  inSequence,
  KEY,
  type Reply,
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
const PAGE = '<!DOCTYPE html><title>Free \u001b[31mWiFi\u202e</title><p>Accept the terms</p>';

const redirects: Fault[] = [
  refused('307 to the same origin', redirect('307 Temporary Redirect', '/api/other'), {
    message: 'not followed',
  }),
  refused('308 to another host', redirect('308 Permanent Redirect', `https://thief.example/?k=${KEY}`), {
    message: /to https:\/\/thief\.example.*requires a login first/s,
  }),
  refused('302 to a file', redirect('302 Found', 'file:///etc/passwd'), { message: 'to a file: URL' }),
  refused('302 to a script', redirect('302 Found', 'javascript:alert(1)'), {
    message: 'to a javascript: URL',
  }),
  refused('301 to nowhere', redirect('301 Moved'), { message: 'without a Location' }),
  refused('303 to an invalid URL', redirect('303 See Other', 'http://[::'), { message: 'to an invalid URL' }),
  refused('304 to an unconditional request', () => httpHead('304 Not Modified')),
  refused('300 with choices', status('300 Multiple Choices', '', 'a\nb')),
];

const refusals: Fault[] = [
  unreadable('200 with an empty body', status('200 OK'), { requests: 2, waits: [250], message: 'empty' }),
  unreadable('204', () => httpHead('204 No Content'), { message: '204' }),
  unreadable('205 with a body', ({ id }) => httpResponse(envelope(id), { status: '205 Reset Content' })),
  unauthorized(
    '401 with a metadata URL, which is not requested',
    ({ head }) => {
      const host = /host: *(\S+)/i.exec(head)?.[1];
      const challenge = `Bearer error="invalid_token", resource_metadata="http://${host}/meta"`;
      return httpResponse('{"error":"invalid_token"}', {
        status: '401 No',
        more: `WWW-Authenticate: ${challenge}\r\n`,
      });
    },
    { message: 'ending in cdef' },
  ),
  unauthorized('401 that repeats the key', ({ head }) =>
    httpResponse(head, { status: `401 ${KEY}`, type: 'text/plain' }),
  ),
  unauthorized(
    '401 with an unread body of 64 KiB, then a close',
    status('401 Unauthorized', '', 'x'.repeat(65_536)),
  ),
  // Four calls run at a time.
  unauthorized('401 in the middle of many calls', inSequence(good, status('401 Unauthorized')), {
    requests: [2, 5],
    words: ['lookup', 'a', 'b', 'c', 'd', 'e', 'f', 'g'],
  }),
  { exit: 4, code: 'plan_required', name: '402', reply: status('402 Payment Required') },
  { exit: 4, code: 'forbidden', name: '403', reply: status('403 Forbidden'), message: 'not allow' },
  // The plain call, then the handshake that some services require.
  refused('404', status('404 Not Found'), { requests: 2, message: /404[^\n]*\n.*base URL/ }),
  {
    exit: 7,
    code: 'rpc_error',
    name: '404 with an unknown method',
    requests: 2,
    message: 'no such method',
    reply: ({ id }) =>
      httpResponse(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }),
        {
          status: '404 Not Found',
        },
      ),
  },
  {
    exit: 7,
    code: 'rpc_error',
    name: '400 that offers unknown protocol versions',
    requests: 2,
    message: 'Unsupported',
    reply: ({ id }) =>
      httpResponse(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          error: { code: -32022, message: 'Unsupported', data: { supported: ['1999-01-01'] } },
        }),
        { status: '400 Bad Request' },
      ),
  },
  {
    exit: 6,
    code: 'network',
    name: '407 from a proxy',
    reply: status('407 Proxy Authentication Required'),
    message: /HTTPS_PROXY to http:\/\/user:password@proxy:port, then: restaurant status --check/,
  },
  refused('406', status('406 Not Acceptable')),
  refused('415', status('415 Unsupported Media Type')),
  refused('418 with hostile text', () => httpResponse(PAGE, { status: '418 \u001b[2J', type: 'text/html' }), {
    message: 'Accept the terms',
  }),
  refused('501, which is not retried', status('501 Not Implemented')),
  refused('511 from a captive portal', status('511 Network Authentication Required'), {
    message: 'requires a login first',
  }),
  refused('505 without a reason', () => httpHead('505 \r\nContent-Length: 0')),
  refused('599', status('599 Odd')),
  refused('408 every time', status('408 Request Timeout'), { requests: 3, waits: [250, 500] }),
  refused('425 every time', status('425 Too Early'), { requests: 3, waits: [250, 500] }),
  refused('500 every time', status('500 Oops'), { requests: 3, waits: [250, 500], message: 'tried 3 times' }),
  found('500 once', inSequence(status('500 Oops'), good), { requests: 2, waits: [250] }),
  found('502, then 504', inSequence(status('502 Bad Gateway'), status('504 Gateway Timeout'), good), {
    requests: 3,
    waits: [250, 500],
  }),
  found('503 with a Retry-After', inSequence(status('503 Busy', 'Retry-After: 2\r\n'), good), {
    requests: 2,
    waits: [2125],
  }),
  refused('503 with a Retry-After beyond --timeout', status('503 Busy', 'Retry-After: 40\r\n'), {
    message: '--timeout',
  }),
];

const others: Fault[] = [
  unreadable('a captive portal', () => httpResponse(PAGE, { type: 'text/html' }), {
    message: /got a web page \("Free .*WiFi.*"\) from 127/,
  }),
  unreadable('a web page labeled JSON', () => httpResponse(PAGE), { message: 'web page' }),
  ...[
    'text/plain',
    'application/octet-stream',
    'text/html',
    '',
    'nonsense',
    'application/json; charset=iso-8859-1',
  ].map(
    (type): Fault =>
      found(
        `a valid response labeled ${JSON.stringify(type)}`,
        ({ id }) => httpResponse(envelope(id), { type }),
        {},
      ),
  ),
  unreadable(
    'Latin-1, labeled as such',
    ({ id }) =>
      Buffer.from(
        httpResponse(envelope(id, { ...ANSWER, note: 'é' }), { type: 'application/json; charset=latin1' }),
        'latin1',
      ),
    { message: 'UTF-8' },
  ),
  unreadable('UTF-16', ({ id }) =>
    Buffer.concat([
      Buffer.from(httpHead('200 OK\r\nContent-Type: application/json; charset=utf-16')),
      Buffer.from(`\uFEFF${envelope(id)}`, 'utf16le'),
    ]),
  ),
];

faultSuite('HTTP status', [...redirects, ...refusals, ...others]);
