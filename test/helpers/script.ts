import { expect, onTestFinished } from 'vitest';
import { type Reply, type RpcRequest, rpcRequest } from './answers.ts';
import { clientFor, endpointAt, FOUND, type TestOptions } from './client.ts';
import { httpServer } from './servers.ts';

/** The method of a message, or `GET`, `POST` or `DELETE` without one; its reply; and values of its headers. */
export type Exchange = readonly [
  method: string,
  reply: Reply,
  headers?: Readonly<Record<string, string | undefined>>,
];

/** Serves the replies of a script. When the test ends, exactly its messages must have arrived, in this order. */
export async function serveScript(
  script: readonly Exchange[],
): Promise<{ url: URL; requests: readonly RpcRequest[]; connections: () => number }> {
  const requests: RpcRequest[] = [];
  const { origin, connections, close } = await httpServer((received, response, count) => {
    const request = rpcRequest(received);
    requests.push(request);
    const reply = script[count]?.[1] ?? status(500);
    reply(request, response);
  });
  onTestFinished(close);
  onTestFinished(() => {
    expect(requests.map(({ method }) => method)).toEqual(script.map(([method]) => method));
    for (const [index, [, , headers = {}]] of script.entries()) {
      const received = Object.keys(headers).map((name) => [name, requests[index]?.headers[name]]);
      expect(Object.fromEntries(received)).toEqual(headers);
    }
  });
  return { url: endpointAt(origin), requests, connections };
}

/** Returns a client of a service that gets the messages of a script. It is closed before they are checked. */
export async function scripted(script: readonly Exchange[], options: TestOptions = {}) {
  const service = await serveScript(script);
  return { ...service, ...clientFor(service.url, options) };
}

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Reply =>
  (_, response) =>
    response.writeHead(code, headers).end(body);

/** Responds with JSON as it is. */
export const json = (body: string, code = 200): Reply =>
  status(code, { 'Content-Type': 'application/json' }, body);

/** Responds with a message, made from the request. */
const message =
  (parts: (request: RpcRequest) => object, code = 200, headers: Record<string, string> = {}): Reply =>
  (request, response) =>
    response
      .writeHead(code, { 'Content-Type': 'application/json', ...headers })
      .end(JSON.stringify({ jsonrpc: '2.0', ...parts(request) }));

export const result = (value: unknown, headers: Record<string, string> = {}): Reply =>
  message(({ id }) => ({ id, result: value }), 200, headers);

/** Responds with the output of a tool. */
export const output = (value: unknown): Reply =>
  result({ content: [{ type: 'text', text: JSON.stringify(value) }] });

/** A call of a tool that succeeds. */
export const FIND: Exchange = ['tools/call', output(FOUND)];

/** Responds with an error that has the id of the request. */
export const refuse = (code: number, error: object): Reply => message(({ id }) => ({ id, error }), code);

/** Responds with an error that has no id. */
export const refuseAny = (code: number, error: object): Reply => message(() => ({ id: null, error }), code);

/** Responds with a stream of events. */
export const events =
  (...list: readonly string[]): Reply =>
  (_, response) =>
    response
      .writeHead(200, { 'Content-Type': 'text/event-stream' })
      .end(list.map((event) => `${event}\n\n`).join(''));
