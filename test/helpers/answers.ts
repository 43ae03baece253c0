import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { newHome, type RunOptions, runCli, type Transcript } from './program.ts';
import { type HttpTestServer, httpServer, type ReceivedRequest } from './servers.ts';

/** A request as the service received it. */
export interface RpcRequest {
  readonly id: number;
  /** That of the message, or the HTTP method if there is none. */
  readonly method: string;
  readonly path: string;
  readonly params: {
    name?: string;
    arguments?: Record<string, unknown>;
    _meta?: Record<string, unknown>;
    [key: string]: unknown;
  };
  readonly headers: IncomingHttpHeaders;
  /** The body as received. */
  readonly text: string;
}

export function rpcRequest({ method: verb, headers, path, body: text }: ReceivedRequest): RpcRequest {
  const { id, method = verb, params = {} } = JSON.parse(text === '' ? '{}' : text);
  return { id, method, path, params, headers, text };
}

export type Reply = (request: RpcRequest, response: ServerResponse) => void;

export interface ScriptedService {
  readonly url: string;
  readonly home: string;
  /** Sets the response to all further requests of the test, or that none may follow. An unused response fails the test. */
  answer(reply?: Reply): void;
  readonly requests: readonly RpcRequest[];
  /** The requests since the response was set. */
  readonly asked: readonly RpcRequest[];
  /** Number of connections so far. */
  readonly connections: number;
  run(argv: readonly string[], options?: RunOptions): Promise<Transcript>;
}

export const KEY = 'sk_service_of_a_test_1234';

const refuse: Reply = (_, response) => response.writeHead(500).end();

/**
 * Starts a service whose responses the test defines, around the tests of a file, and creates a home for commands.
 * @param otherwise the response if the test defines none. Without it, such a request fails the test.
 */
export function useScriptedService(otherwise?: Reply): ScriptedService {
  const { home, env } = newHome();
  const requests: RpcRequest[] = [];
  const faults: string[] = [];
  let answeredFrom = 0;
  let reply: Reply | undefined;
  let server: HttpTestServer | undefined;
  const urlOf = () => server?.origin ?? 'http://127.0.0.1:0';
  beforeAll(async () => {
    server = await httpServer((received, response) => {
      const request = rpcRequest(received);
      requests.push(request);
      if (reply === undefined && otherwise === undefined) faults.push(`unexpected request: ${request.text}`);
      (reply ?? otherwise ?? refuse)(request, response);
    });
  });
  const endReply = (next?: Reply) => {
    if (reply !== undefined && requests.length === answeredFrom) faults.push('a response without a request');
    reply = next;
    answeredFrom = requests.length;
  };
  afterEach(() => {
    endReply();
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(() => server?.close());
  return {
    get url() {
      return urlOf();
    },
    home,
    answer: endReply,
    requests,
    get asked() {
      return requests.slice(answeredFrom);
    },
    get connections() {
      return server?.connections() ?? 0;
    },
    run: (argv, options = {}) => {
      const own = {
        RESTAURANT_BASE_URL: urlOf(),
        RESTAURANT_API_KEY: KEY,
        RESTAURANT_MAX_AGE: '0',
        RESTAURANT_RETRIES: '0',
        RESTAURANT_PER_MINUTE: '0',
        RESTAURANT_PER_DAY: '0',
      };
      return runCli(argv, { ...options, env: { ...env, ...own, ...options.env } });
    },
  };
}

/** Responds with this text as the result, as JSON. */
export const resultText =
  (json: string): Reply =>
  ({ id }, response) =>
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${json}}`);

/** Responds with this text as the only text block of a tool's result. */
export const toolText = (text: string): Reply =>
  resultText(`{"content":[${JSON.stringify({ type: 'text', text })}]}`);

/** Responds to a search with these restaurants. */
export const found = (...restaurants: readonly object[]): Reply =>
  toolText(JSON.stringify({ status: 'ok', results: restaurants, total_matches: restaurants.length }));
