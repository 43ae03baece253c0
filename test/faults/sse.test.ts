import { gzipSync } from 'node:zlib';
import {
  drip,
  envelope,
  events,
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

const found = faultsEnding({ formats: ['json'], exit: 0, stdout: 'Nopa', waits: [] });
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });
/** Makes faults of streams that end without a response, as servers may do by design: the request is sent once more. */
const ended = faultsEnding({
  exit: 6,
  code: 'network',
  requests: 2,
  waits: [250],
  message: 'without a response',
});

const HEAD = httpHead('200 OK\r\nContent-Type: text/event-stream');
/** Sends a stream with this text; `@` is replaced by a valid response. */
const stream =
  (text: string | ((reply: string, id: unknown) => string)): Reply =>
  ({ id }) =>
    events(typeof text === 'string' ? text.replace('@', envelope(id)) : text(envelope(id), id));
const failed = (id: unknown, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } });
const NOTE = 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n';
const serverRequest = (id: unknown, method: string) =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id, method })}\n\n`;

const forms: Fault[] = [
  found('one event', stream('data: @\n\n')),
  found('lines that end in CR LF', stream('event: message\r\nid: 1\r\ndata: @\r\n\r\n')),
  found('lines that end in CR only, including the last', stream('id: 1\rdata: @\r\r')),
  found('mixed line ends', stream('id: 1\rretry: 5\ndata: @\r\n\n')),
  found('a byte order mark', stream('\uFEFFdata: @\n\n')),
  found('no space after the colon', stream('data:@\n\n')),
  found(
    'data on several lines',
    stream((reply) => `data: ${reply.replace(/([,{])"/g, '$1\ndata: "')}\n\n`),
  ),
  found(
    'comments before and between',
    stream((reply) => `: hello\n\n:\n: ${'x'.repeat(5000)}\n\ndata: ${reply}\n: late\n\n`),
  ),
  found('unknown fields', stream('foo: bar\nDATA: {}\ndata\n\ndata: @\n\n')),
  found(
    'other events with data that is not JSON',
    stream('event: ping\ndata: {not json\n\nevent: message\ndata: @\n\n'),
  ),
  found('an empty event before the response', stream('id: 1\ndata:\n\ndata: @\n\n')),
  found(
    'an id with a NUL and a retry that is not a number',
    stream('id: a\u0000b\nretry: soon\ndata: @\n\n'),
  ),
  found('a retry field, without a second connection', stream('retry: 1\n\ndata: @\n\n')),
  found('a last event without its blank line', stream('data: @')),
  found(
    'a connection that stays open after the response',
    ({ id, socket }) => void socket.write(`${HEAD}data: ${envelope(id)}\n\n`),
  ),
  found('garbage after the response', stream('data: @\n\ndata: {{{\n\n')),
  found('events labeled JSON', ({ id }) => httpResponse(`data: ${envelope(id)}\n\n`)),
  found('JSON labeled as events', ({ id }) => httpResponse(envelope(id), { type: 'text/event-stream' })),
  found('compressed events', ({ id }) => {
    const head = Buffer.from(httpHead('200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip'));
    return Buffer.concat([head, gzipSync(`data: ${envelope(id)}\n\n`)]);
  }),
  found('UTF-8 labeled as another charset', ({ id }) =>
    httpResponse(`data: ${envelope(id)}\n\n`, { type: 'text/event-stream; charset=iso-8859-1' }),
  ),
];

const messages: Fault[] = [
  found(
    '10,000 notifications before the response',
    stream((reply) => `${NOTE.repeat(10_000)}data: ${reply}\n\n`),
  ),
  found(
    'requests from the server',
    stream(
      (reply) =>
        `${['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create'].map((method, at) => serverRequest(at, method)).join('')}data: ${reply}\n\n`,
    ),
  ),
  found(
    'a request from the server with the id of ours',
    stream((reply, id) => `${serverRequest(id, 'ping')}data: ${reply}\n\n`),
  ),
  found(
    'two responses, of which the first is used',
    stream((reply, id) => `data: ${reply}\n\ndata: ${failed(id, 'second')}\n\n`),
  ),
  found(
    'a response with another id before ours',
    stream((reply) => `data: ${failed(4711, 'not yours')}\n\ndata: ${reply}\n\n`),
  ),
  found('an id sent back as a string', ({ id }) => events(`data: ${envelope(String(id))}\n\n`)),
  found(
    'a batch',
    stream((reply) => `data: [${failed(9, 'not yours')},${reply}]\n\n`),
  ),
  unreadable('only a response with another id', () => events(`data: ${envelope(4711)}\n\n`), {
    message: 'one with another',
  }),
  {
    exit: 7,
    code: 'rpc_error',
    name: 'an error after progress',
    message: 'no luck',
    reply: stream((_reply, id) => `${NOTE}data: ${failed(id, 'no luck')}\n\n`),
  },
  unreadable('an event that is not JSON', stream('data: {not json}\n\n'), { message: 'offset 1' }),
  unreadable(
    'an event nested too deep',
    stream(() => `data: ${'['.repeat(300)}\n\n`),
    { message: 'nested' },
  ),
];

const ends: Fault[] = [
  ended('a stream that ends at once', () => HEAD),
  ended('a stream of comments that ends', stream(': hello\n\n')),
  ended('a stream that ends after progress', stream(NOTE)),
  ended(
    'a stream that ends inside an event',
    stream((reply) => `data: ${reply.slice(0, 40)}`),
  ),
  found('a first stream that ends early', inSequence(stream(NOTE), good), { requests: 2, waits: [250] }),
  {
    exit: 6,
    code: 'network',
    name: 'a reset inside an event',
    // When the end of the connection ends the body, undici treats a reset as an end.
    requests: [2, 3],
    reply: ({ socket }) => void socket.write(`${HEAD}data: {"js`, () => socket.resetAndDestroy()),
  },
  found(
    'a stream with ids that breaks and is resumed',
    inSequence(stream('id: 41\nretry: 7\ndata:\n\n'), ({ head }) =>
      events(/^GET .*\r\nlast-event-id: 41/is.test(head) ? `data: ${envelope(1)}\n\n` : ''),
    ),
    { requests: 2, waits: [7] },
  ),
  {
    exit: 6,
    code: 'network',
    name: 'a stream with ids that keeps breaking',
    requests: [6, 12],
    reply: stream('id: 1\nretry: 0\ndata:\n\n'),
  },
  {
    exit: 6,
    code: 'timeout',
    name: 'a stream that may be resumed after a year',
    options: ['--timeout', '5s'],
    reply: stream('id: 1\nretry: 31536000000\ndata:\n\n'),
  },
  timesOut('a head, then silence', keepOpen(HEAD)),
  timesOut('half an event, then silence', keepOpen(`${HEAD}data: {"js`)),
  timesOut('endless comments', drip(HEAD, ': still here\n\n', 20)),
  timesOut('endless notifications', drip(HEAD, NOTE, 20)),
  timesOut('an event that never ends', drip(`${HEAD}data: `, 'x', 20)),
];

faultSuite('SSE', [...forms, ...messages, ...ends]);
