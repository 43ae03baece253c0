import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/server.ts';

/** An HTTP response as received. */
export interface HttpReply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

/** Sends one HTTP request without optional headers. Rejects if the connection breaks. */
export function send(
  sandbox: Sandbox,
  { method = 'POST', path = '/api/mcp', headers = {}, body = '' }: Sent,
): Promise<HttpReply> {
  const { port } = new URL(sandbox.baseUrl);
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Headers of a well-formed request with the free key. */
export const HEADERS = { authorization: 'Bearer sk_service_demo_free', 'content-type': 'application/json' };

/** The media types that clients of MCP accept. */
export const ACCEPT = { accept: 'application/json, text/event-stream' };

/** POSTs text unchanged, or a value as JSON. */
export function post(
  sandbox: Sandbox,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<HttpReply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return send(sandbox, { headers: { ...HEADERS, ...headers }, body: text });
}

/** Returns the documented request envelope. */
export function toolCall(name: string, args: unknown, id: unknown = 1): Record<string, unknown> {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export const NOPA_ID = 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53';

/** A search that succeeds. */
export const NOPA = toolCall('find_restaurant', { name: 'Nopa', city: 'SF' });

/** Returns the tool's output, parsed from `result.content[0].text`, and `isError`. */
export function outputOf({ text }: HttpReply): { output: Record<string, unknown>; isError: boolean } {
  const { result } = JSON.parse(text) as {
    result: { content: { type: string; text: string }[]; isError?: boolean };
  };
  return {
    output: JSON.parse(result.content[0]?.text ?? '') as Record<string, unknown>,
    isError: result.isError === true,
  };
}

/** Returns the status, and the code of the JSON-RPC error. */
export const codeOf = ({ status, text }: HttpReply) => [status, JSON.parse(text).error?.code];

/** Calls a tool and returns its output. */
export async function useTool(
  sandbox: Sandbox,
  name: string,
  args: unknown,
  key: string = sandbox.keys.free,
) {
  return outputOf(await post(sandbox, toolCall(name, args), { authorization: `Bearer ${key}` }));
}

/** Opens a connection to write any bytes to. `received` is what arrives until it is closed. */
export function dial(sandbox: Sandbox, bytes = ''): { socket: Socket; received: Promise<string> } {
  const port = Number(new URL(sandbox.baseUrl).port);
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += chunk;
    });
  socket.write(bytes, 'latin1');
  return { socket, received: new Promise((resolve) => socket.on('close', () => resolve(text))) };
}

/** Returns the bytes of a request. */
export const wire = (sandbox: Sandbox, { body = JSON.stringify(NOPA), more = '' } = {}): string =>
  `POST /api/mcp HTTP/1.1\r\nHost: ${new URL(sandbox.baseUrl).host}\r\nAuthorization: ${HEADERS.authorization}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;

/** Returns the events of a stream, without one that has no blank line. */
export function eventsOf({ text }: HttpReply): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(text);
  return events;
}

/** Starts a sandbox until the test ends. */
export async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}
