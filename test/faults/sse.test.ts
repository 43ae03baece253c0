import { gzipSync } from 'node:zlib';
import {
  BUILT,
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
  STREAM_HEAD,
  timesOut,
  withError,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const found = faultsEnding({ formats: ['json'], exit: 0, stdout: 'Nopa', waits: [] });
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });
const network = faultsEnding({ exit: 6, code: 'network' });
/** Makes faults of streams that end without a response, as servers may do by design: the request is sent once more. */
const ended = faultsEnding({
  exit: 6,
  code: 'network',
  requests: 2,
  waits: [250],
  message: 'without a response',
});

/** Sends a stream with this text; `@` is replaced by a valid response. */
const stream =
  (text: string | ((reply: string, id: unknown) => string)): Reply =>
  ({ id }) =>
    events(typeof text === 'string' ? text.replace('@', envelope(id)) : text(envelope(id), id));
const failed = (id: unknown, message: string) => withError(id, { code: -32000, message });
const NOTE = 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n';
const serverRequest = (method: string, id: unknown) =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id, method })}\n\n`;

const forms: Fault[] = [
  ...found({
    'mixed line ends': stream('id: 1\rretry: 5\ndata: @\r\n\n'),
    'a byte order mark': stream('\uFEFFdata: @\n\n'),
    'comments before and between': stream(`: hello\n\n:\n: ${'x'.repeat(5000)}\n\ndata: @\n: late\n\n`),
    'other events with data that is not JSON': stream(
      'event: ping\ndata: {not json\n\nevent: message\ndata: @\n\n',
    ),
    'an empty event before the response': stream('id: 1\ndata:\n\ndata: @\n\n'),
    'a retry field, without a second connection': stream('retry: 1\n\ndata: @\n\n'),
    'a last event without its blank line': [stream('data: @'), { ...BUILT, remark: /^$/ }],
    'a connection that stays open after the response': (request) =>
      keepOpen(`${STREAM_HEAD}data: ${envelope(request.id)}\n\n`)(request),
    'garbage after the response': stream('data: @\n\ndata: {{{\n\n'),
    'events labeled JSON': [
      ({ id }) => httpResponse(`data: ${envelope(id)}\n\n`),
      { remark: /is labeled application\/json, but is an event stream/ },
    ],
    'JSON labeled as events': ({ id }) => httpResponse(envelope(id), { type: 'text/event-stream' }),
    'compressed events': ({ id }) => {
      const head = '200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip';
      return Buffer.concat([Buffer.from(httpHead(head)), gzipSync(`data: ${envelope(id)}\n\n`)]);
    },
    'UTF-8 labeled as another charset': ({ id }) =>
      httpResponse(`data: ${envelope(id)}\n\n`, { type: 'text/event-stream; charset=iso-8859-1' }),
  }),
];

const messages: Fault[] = [
  ...found({
    '10,000 notifications before the response': stream(`${NOTE.repeat(10_000)}data: @\n\n`),
    'requests from the server': stream(
      `${['ping', 'roots/list', 'sampling/createMessage'].map(serverRequest).join('')}data: @\n\n`,
    ),
    'a request from the server with the id of ours': stream(
      (reply, id) => `${serverRequest('ping', id)}data: ${reply}\n\n`,
    ),
    'two responses, of which the first is used': stream(
      (reply, id) => `data: ${reply}\n\ndata: ${failed(id, 'second')}\n\n`,
    ),
    'a response with another id before ours': stream(`data: ${failed(4711, 'not yours')}\n\ndata: @\n\n`),
    'an id sent back as a string': ({ id }) => events(`data: ${envelope(String(id))}\n\n`),
    'a batch': stream(`data: [${failed(9, 'not yours')},@]\n\n`),
  }),
  ...unreadable({
    'only a response with another id': [() => events(`data: ${envelope(4711)}\n\n`), 'one with another'],
    'an event that is not JSON': [stream('data: {not json}\n\n'), 'offset 1'],
    'an event nested too deep': [stream(() => `data: ${'['.repeat(300)}\n\n`), 'nested'],
  }),
  ...faultsEnding({ exit: 7, code: 'rpc_error' })({
    'an error after progress': [
      stream((_reply, id) => `${NOTE}data: ${failed(id, 'no luck')}\n\n`),
      'no luck',
    ],
  }),
];

const ends: Fault[] = [
  ...ended({
    'a stream that ends at once': () => STREAM_HEAD,
    'a stream of comments that ends': stream(': hello\n\n'),
    'a stream that ends after progress': stream(NOTE),
    'a stream that ends inside an event': stream((reply) => `data: ${reply.slice(0, 40)}`),
  }),
  ...found({
    'a first stream that ends early': [inSequence(stream(NOTE), good), { requests: 2, waits: [250] }],
    'a stream with ids that breaks and is resumed': [
      inSequence(stream('id: 41\nretry: 7\ndata:\n\n'), ({ head }) =>
        events(/^GET .*\r\nlast-event-id: 41/is.test(head) ? `data: ${envelope(1)}\n\n` : ''),
      ),
      { requests: 2, waits: [7] },
    ],
  }),
  ...network({
    // When the end of the connection ends the body, undici treats a reset as an end.
    'a reset inside an event': [
      ({ socket }) => void socket.write(`${STREAM_HEAD}data: {"js`, () => socket.resetAndDestroy()),
      { requests: [2, 3] },
    ],
    'a stream with ids that keeps breaking': [stream('id: 1\nretry: 0\ndata:\n\n'), { requests: [6, 12] }],
  }),
  ...faultsEnding({ exit: 6, code: 'timeout' })({
    'a stream that may be resumed after a year': [
      stream('id: 1\nretry: 31536000000\ndata:\n\n'),
      { options: ['--timeout', '5s'] },
    ],
  }),
  ...timesOut({
    'a head, then silence': keepOpen(STREAM_HEAD),
    'half an event, then silence': keepOpen(`${STREAM_HEAD}data: {"js`),
    'endless comments': drip(STREAM_HEAD, ': still here\n\n', 20),
    'endless notifications': drip(STREAM_HEAD, NOTE, 20),
    'an event that never ends': drip(`${STREAM_HEAD}data: `, 'x', 20),
  }),
];

faultSuite('SSE', [...forms, ...messages, ...ends]);
