import { type HttpResponse, ResponseReader } from '../../src/client/http/body.ts';
import type { HttpRequest } from '../../src/client/http/transport.ts';
import type { Protocol } from '../../src/client/mcp/protocol.ts';
import { type Client, createClient } from '../../src/client/restaurant.ts';
import { optionsFor } from '../helpers/client.ts';

/** A response as a connection delivers it. */
export interface Canned {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Size in bytes of the pieces in which the body arrives. */
  readonly piece: number;
}

/** Returns a client that gets `answer` for every request, without a network. */
export function cannedClient(
  answer: (id: unknown, method: unknown) => Canned,
  protocol: Protocol = 'bare',
): { client: Client; sent: () => number } {
  let sent = 0;
  const send = async (_call: unknown, request: HttpRequest): Promise<HttpResponse> => {
    sent += 1;
    const { id = 1, method } = JSON.parse(request.body ?? '{}');
    return read(request, answer(id, method));
  };
  const client = createClient(optionsFor(new URL('http://127.0.0.1:9/api/mcp'), { protocol }), () => ({
    send,
    close: async () => {},
  }));
  return { client, sent: () => sent };
}

/** Reads a response as the transport does. */
function read(request: HttpRequest, { status, type, bytes, piece }: Canned): HttpResponse {
  let stopped = false;
  const headers = { 'content-type': type, 'content-length': String(bytes.length) };
  const reader = new ResponseReader({ status, statusText: '', headers }, false, 1024 * 1024, {
    event(event) {
      if (!stopped && request.onEvent?.(event) === 'stop') stopped = true;
    },
    end() {},
    error(error) {
      throw error;
    },
  });
  for (let at = 0; at < bytes.length && !stopped; at += piece) reader.write(bytes.subarray(at, at + piece));
  if (!stopped) reader.end();
  return reader.response;
}
