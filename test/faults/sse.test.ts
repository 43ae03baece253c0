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
/** A stream without its answer may end so by design: it is asked for once more. */
const ended = faultsEnding({
  exit: 6,
  code: 'network',
  requests: 2,
  waits: [250],
  message: 'without a response',
});

const HEAD = httpHead('200 OK\r\nContent-Type: text/event-stream');
/** A stream with this text; `@` stands for the good answer. */
const stream =
  (text: string | ((reply: string, id: unknown) => string)): Reply =>
  ({ id }) =>
    events(typeof text === 'string' ? text.replace('@', envelope(id)) : text(envelope(id), id));
const failed = (id: unknown, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } });
const NOTE = 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n';
const asks = (id: unknown, method: string) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, method })}\n\n`;

const forms: Fault[] = [
  found('one event', stream('data: @\n\n')),
  found('lines that end in CR LF', stream('event: message\r\nid: 1\r\ndata: @\r\n\r\n')),
  found('lines that end in CR alone, the last one too', stream('id: 1\rdata: @\r\r')),
  found('line ends mixed', stream('id: 1\rretry: 5\ndata: @\r\n\n')),
  found('a byte order mark', stream('\uFEFFdata: @\n\n')),
  found('no blank after the colon', stream('data:@\n\n')),
  found(
    'data over several lines',
    stream((reply) => `data: ${reply.replace(/([,{])"/g, '$1\ndata: "')}\n\n`),
  ),
  found(
    'comments before and between',
    stream((reply) => `: hello\n\n:\n: ${'x'.repeat(5000)}\n\ndata: ${reply}\n: late\n\n`),
  ),
  found('fields that nobody knows', stream('foo: bar\nDATA: {}\ndata\n\ndata: @\n\n')),
  found(
    'other events, with what is no JSON',
    stream('event: ping\ndata: {not json\n\nevent: message\ndata: @\n\n'),
  ),
  found('an empty event first', stream('id: 1\ndata:\n\ndata: @\n\n')),
  found('an id with a NUL, a retry that is no number', stream('id: a\u0000b\nretry: soon\ndata: @\n\n')),
  found('retry makes nobody connect again', stream('retry: 1\n\ndata: @\n\n')),
  found('a last event without its blank line', stream('data: @')),
  found(
    'the connection stays open after the answer',
    ({ id, socket }) => void socket.write(`${HEAD}data: ${envelope(id)}\n\n`),
  ),
  found('garbage after the answer', stream('data: @\n\ndata: {{{\n\n')),
  found('events called JSON', ({ id }) => httpResponse(`data: ${envelope(id)}\n\n`)),
  found('JSON called events', ({ id }) => httpResponse(envelope(id), { type: 'text/event-stream' })),
  found('another charset that is UTF-8', ({ id }) =>
    httpResponse(`data: ${envelope(id)}\n\n`, { type: 'text/event-stream; charset=iso-8859-1' }),
  ),
];

const messages: Fault[] = [
  found(
    '10,000 notifications first',
    stream((reply) => `${NOTE.repeat(10_000)}data: ${reply}\n\n`),
  ),
  found(
    'requests of the server',
    stream(
      (reply) =>
        `${['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create'].map((method, at) => asks(at, method)).join('')}data: ${reply}\n\n`,
    ),
  ),
  found(
    'a request of the server with our id',
    stream((reply, id) => `${asks(id, 'ping')}data: ${reply}\n\n`),
  ),
  found(
    'two answers: the first counts',
    stream((reply, id) => `data: ${reply}\n\ndata: ${failed(id, 'second')}\n\n`),
  ),
  found(
    'an answer for somebody else first',
    stream((reply) => `data: ${failed(4711, 'not yours')}\n\ndata: ${reply}\n\n`),
  ),
  found('the id as a string', ({ id }) => events(`data: ${envelope(String(id))}\n\n`)),
  found(
    'a batch',
    stream((reply) => `data: [${failed(9, 'not yours')},${reply}]\n\n`),
  ),
  unreadable('only an answer for somebody else', () => events(`data: ${envelope(4711)}\n\n`), {
    message: 'one with another',
  }),
  {
    exit: 7,
    code: 'rpc_error',
    name: 'an error after progress',
    message: 'no luck',
    reply: stream((_reply, id) => `${NOTE}data: ${failed(id, 'no luck')}\n\n`),
  },
  unreadable('an event that is no JSON', stream('data: {not json}\n\n'), { message: 'offset 1' }),
  unreadable(
    'an event that nests too deep',
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
  found('a stream that ends early, once', inSequence(stream(NOTE), good), { requests: 2, waits: [250] }),
  {
    exit: 6,
    code: 'network',
    name: 'reset inside an event',
    // Where the end of the connection ends the body, undici takes a reset for an end.
    requests: [2, 3],
    reply: ({ socket }) => void socket.write(`${HEAD}data: {"js`, () => socket.resetAndDestroy()),
  },
  found(
    'a stream with ids that breaks is taken up',
    inSequence(stream('id: 41\nretry: 7\ndata:\n\n'), ({ head }) =>
      events(/^GET .*\r\nlast-event-id: 41/is.test(head) ? `data: ${envelope(1)}\n\n` : ''),
    ),
    { requests: 2, waits: [7] },
  ),
  {
    exit: 6,
    code: 'network',
    name: 'a stream with ids that breaks for ever',
    requests: [6, 12],
    reply: stream('id: 1\nretry: 0\ndata:\n\n'),
  },
  {
    exit: 6,
    code: 'timeout',
    name: 'a stream that may be taken up next year',
    reply: stream('id: 1\nretry: 31536000000\ndata:\n\n'),
  },
  timesOut('a head, then silence', keepOpen(HEAD)),
  timesOut('half an event, then silence', keepOpen(`${HEAD}data: {"js`)),
  timesOut('comments for ever', drip(HEAD, ': still here\n\n', 20)),
  timesOut('notifications for ever', drip(HEAD, NOTE, 20)),
  timesOut('an event that never ends', drip(`${HEAD}data: `, 'x', 20)),
];

faultSuite('SSE', [...forms, ...messages, ...ends]);
