import type { Socket } from 'node:net';
import type { Code } from '../../src/errors.ts';

export { KEY } from '../helpers/client.ts';

/** A request as the fault server received it. */
export interface FaultRequest {
  /** The id of the JSON-RPC message. */
  readonly id: unknown;
  /** Number of earlier requests. */
  readonly count: number;
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
}

/** Handles a request: returns the bytes to send before closing, or acts on the socket and returns undefined. */
export type Reply = (request: FaultRequest) => string | Uint8Array | undefined;

/** The output of the program: --json, or lines and tables for people. */
export type OutputFormat = 'json' | 'table';

/** A fault and the expected result of the program. */
export interface Fault {
  readonly name: string;
  readonly reply: Reply;
  readonly exit: number;
  readonly code?: Code;
  /** Number of requests that reach the server, or a range if it depends on timing. Default: 1. */
  readonly requests?: number | readonly [least: number, most: number];
  /** Expected in the message or the hint. */
  readonly message?: string | RegExp;
  /** Expected in stdout. */
  readonly stdout?: string | RegExp;
  /** Waits between attempts, in ms; the test clock skips them. */
  readonly waits?: readonly number[];
  /** Arguments of the program. Default: one search. */
  readonly words?: readonly string[];
  readonly options?: readonly string[];
  /** Default: both. */
  readonly formats?: readonly OutputFormat[];
  readonly env?: Readonly<Record<string, string>>;
  /** Returns the base URL for a local port. Default: http at 127.0.0.1. */
  readonly baseUrl?: (port: number) => string;
  /** Expected among the remarks of --verbose about the response. */
  readonly remark?: RegExp;
  /** Also runs the built program, whose bundle omits parts of the HTTP library and loads Node's modules late. */
  readonly built?: true;
  /** The address of the server. */
  readonly host?: string;
  /** The server uses TLS. */
  readonly tls?: true;
  /** Sent as soon as a client connects, before the server closes the connection. */
  readonly banner?: string | Uint8Array;
}

export const BUILT = { built: true } as const;

/** A reply, and what differs from the other faults of its table; a text or pattern alone is the message. */
export type FaultRow = Reply | readonly [reply: Reply, more: string | RegExp | Partial<Fault>];

function differences(more: string | RegExp | Partial<Fault>): Partial<Fault> {
  return typeof more === 'string' || more instanceof RegExp ? { message: more } : more;
}

/** Returns a function that makes faults with the same expected result from a table, by their names. */
export const faultsEnding =
  (wanted: Partial<Fault> & Pick<Fault, 'exit'>) =>
  (table: Readonly<Record<string, FaultRow>>): Fault[] =>
    Object.entries(table).map(([name, row]) => {
      const [reply, more] = typeof row === 'function' ? [row, {}] : row;
      return { ...wanted, name, reply, ...differences(more) };
    });

/** Returns a row for each value, named by a text and the value. */
export const rowsFor = <T>(
  name: string,
  values: readonly T[],
  row: (value: T) => FaultRow,
): Record<string, FaultRow> =>
  Object.fromEntries(values.map((value) => [`${name} ${JSON.stringify(value) ?? 'nothing'}`, row(value)]));

/** Makes faults that only the timeout ends. On a busy machine it may expire before the request is sent. */
export const timesOut = faultsEnding({
  exit: 6,
  code: 'timeout',
  requests: [0, 1],
  options: ['--timeout', '300ms'],
  formats: ['json'],
  message: 'within 300ms',
});

export const FOUND = {
  status: 'ok',
  results: [{ service_id: 'r-1', name: 'Nopa', city: 'San Francisco' }],
  total_matches: 1,
};

/** Returns an envelope with a tool result whose text is `output` as JSON. */
export const envelope = (id: unknown, output: unknown = FOUND): string =>
  withText(id, JSON.stringify(output));

/** Returns an envelope with a tool result that has this text. */
export const withText = (id: unknown, text: string): string =>
  withResult(id, { content: [{ type: 'text', text }] });

export const withResult = (id: unknown, result: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });

export const withError = (id: unknown, error: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error });

/** Returns a response head followed by `body`, without a length. */
export const httpHead = (head: string, body = ''): string => `HTTP/1.1 ${head}\r\n\r\n${body}`;

/**
 * Returns a complete response with its Content-Length. It announces that the connection closes, so that the next request
 * does not meet the close and is sent twice.
 */
export const httpResponse = (
  body: string,
  { status = '200 OK', type = 'application/json', more = '', closes = true } = {},
): string => {
  const headers = [
    ...(type === '' ? [] : [`Content-Type: ${type}`]),
    ...(closes ? ['Connection: close'] : []),
    `${more}Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return httpHead([status, ...headers].join('\r\n'), body);
};

/** Sends a valid response in an encoding. */
export const encoded =
  (coding: string, encode: (text: string) => Uint8Array): Reply =>
  ({ id }) => {
    const body = encode(envelope(id));
    const head = httpHead(`200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}`);
    return Buffer.concat([Buffer.from(head), body]);
  };

/** The head of a response in chunks. */
export const CHUNKED_HEAD: string = httpHead(
  '200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked',
);

export const chunk = (text: string, extension = ''): string =>
  `${Buffer.byteLength(text).toString(16)}${extension}\r\n${text}\r\n`;

/** The head of an event stream that may stay open. */
export const STREAM_HEAD: string = httpHead('200 OK\r\nContent-Type: text/event-stream');

/** Returns an event stream that ends when the connection closes. */
export const events = (text: string): string =>
  httpHead('200 OK\r\nContent-Type: text/event-stream\r\nConnection: close', text);

/** Sends a valid response. */
export const good: Reply = ({ id }) => httpResponse(envelope(id));

export const silent: Reply = () => undefined;

export const reset: Reply = ({ socket }) => void socket.resetAndDestroy();

/** Uses one reply after the other; the last one for all later requests. */
export const inSequence =
  (...replies: readonly Reply[]): Reply =>
  (request) =>
    replies[Math.min(request.count, replies.length - 1)]?.(request);

/** Sends `text` and leaves the connection open. */
export const keepOpen =
  (text: string): Reply =>
  ({ socket }) => {
    socket.write(text);
    return undefined;
  };

/** Sends `text`, then `piece` every `ms` milliseconds until the connection closes. */
export const drip =
  (text: string, piece: string, ms: number): Reply =>
  ({ socket }) => {
    socket.write(text);
    const timer = setInterval(() => socket.write(piece), ms);
    socket.on('close', () => clearInterval(timer));
    return undefined;
  };

/** Sends `head`, then `piece` endlessly, as fast as the client reads. */
export const flood =
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
