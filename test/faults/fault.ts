import type { Socket } from 'node:net';
import type { Code } from '../../src/errors.ts';

export const KEY = 'sk_service_faults_0123456789abcdef';

/** A request as the server of a fault saw it. */
export interface FaultRequest {
  /** Of the JSON-RPC message. */
  readonly id: unknown;
  /** Requests before it. */
  readonly count: number;
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
}

/** What a server does with a request: it says so much and closes, or acts on the socket by itself. */
export type Reply = (asked: FaultRequest) => string | Uint8Array | undefined;

/** What the program is asked for: --json, or lines and tables for people. */
export type OutputFormat = 'json' | 'table';

/** A fault, and how the program has to end it. */
export interface Fault {
  readonly name: string;
  readonly reply: Reply;
  readonly exit: number;
  readonly code?: Code;
  /** Requests that reach the server; the least and the most where it depends on who is quicker. Default: 1. */
  readonly requests?: number | readonly [least: number, most: number];
  /** What the message or the hint says. */
  readonly message?: string | RegExp;
  /** What stdout holds. */
  readonly stdout?: string | RegExp;
  /** Waits between tries, ms; they take no time here. */
  readonly waits?: readonly number[];
  /** The command line. Default: one search. */
  readonly words?: readonly string[];
  readonly options?: readonly string[];
  /** Default: both. */
  readonly formats?: readonly OutputFormat[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The base URL for a port of this machine. Default: http at 127.0.0.1. */
  readonly baseUrl?: (port: number) => string;
  /** Everything is over in so many ms. Default: 15,000, half of what the program itself allows. */
  readonly maxMs?: number;
  /** The server speaks TLS. */
  readonly tls?: true;
  /** It says this as soon as somebody connects, and closes. */
  readonly banner?: string | Uint8Array;
}

/** Makes the faults that end in the same way: the name, what the server does, and what is different. */
export const faultsEnding =
  (wanted: Partial<Fault> & Pick<Fault, 'exit'>) =>
  (name: string, talk: Reply, more: Partial<Fault> = {}): Fault => ({
    ...wanted,
    name,
    reply: talk,
    ...more,
  });

/** Never ends by itself: time is up. On a busy machine that may be so before the request is sent. */
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

/** An envelope around the result of a tool whose text is `output` as JSON. */
export const envelope = (id: unknown, output: unknown = FOUND): string =>
  withText(id, JSON.stringify(output));

/** An envelope around the result of a tool with this text. */
export const withText = (id: unknown, text: string): string =>
  withResult(id, { content: [{ type: 'text', text }] });

export const withResult = (id: unknown, result: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });

/** A head and whatever follows, as it is. */
export const httpHead = (head: string, body = ''): string => `HTTP/1.1 ${head}\r\n\r\n${body}`;

/** A whole answer, its length told. */
export const httpResponse = (
  body: string,
  { status = '200 OK', type = 'application/json', more = '' } = {},
): string =>
  httpHead(
    `${status}\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}${more}Content-Length: ${Buffer.byteLength(body)}`,
    body,
  );

/** A stream of events that ends with the connection. */
export const events = (text: string): string => httpHead('200 OK\r\nContent-Type: text/event-stream', text);

/** The good answer. */
export const good: Reply = ({ id }) => httpResponse(envelope(id));

/** One after the other; the last for all that follow. */
export const inSequence =
  (...talks: readonly Reply[]): Reply =>
  (asked) =>
    talks[Math.min(asked.count, talks.length - 1)]?.(asked);

/** Says something and leaves the connection open. */
export const keepOpen =
  (text: string): Reply =>
  ({ socket }) => {
    socket.write(text);
    return undefined;
  };

/** Says something, then the same piece for ever. */
export const drip =
  (text: string, piece: string, ms: number): Reply =>
  ({ socket }) => {
    socket.write(text);
    const timer = setInterval(() => socket.write(piece), ms);
    socket.on('close', () => clearInterval(timer));
    return undefined;
  };
