import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { newHome, type RunOptions, runCli, type Transcript } from './program.ts';
import { type HttpTestServer, httpServer } from './servers.ts';

/** A request as the service got it. */
export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: { name?: string; arguments?: Record<string, unknown> };
  readonly headers: IncomingHttpHeaders;
  /** The body as it came. */
  readonly text: string;
}

export type Reply = (asked: RpcRequest, response: ServerResponse) => void;

export interface ScriptedService {
  readonly url: string;
  readonly home: string;
  /** What it says from now on. */
  answer(how: Reply): void;
  readonly requests: readonly RpcRequest[];
  /** How many connections were made to it. */
  readonly connections: number;
  run(argv: readonly string[], options?: RunOptions): Promise<Transcript>;
}

export const KEY = 'sk_service_of_a_test_1234';

/** A service that says what a test tells it to say, byte for byte, and a home of its own to run commands in. */
export function useScriptedService(): ScriptedService {
  const { home, env } = newHome();
  const asked: RpcRequest[] = [];
  let how: Reply = (_, response) => response.writeHead(500).end();
  let server: HttpTestServer | undefined;
  const urlOf = () => server?.origin ?? 'http://127.0.0.1:0';
  beforeAll(async () => {
    server = await httpServer(({ headers, body: text }, response) => {
      const { id, method, params = {} } = JSON.parse(text === '' ? '{}' : text);
      const one = { id, method, params, headers, text };
      asked.push(one);
      how(one, response);
    });
  });
  afterAll(() => server?.close());
  return {
    get url() {
      return urlOf();
    },
    home,
    answer(next) {
      how = next;
    },
    requests: asked,
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

/** Answers with this text as the result, in one JSON body. */
export const resultText =
  (json: string): Reply =>
  ({ id }, response) =>
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${id},"result":${json}}`);

/** Answers with this text as the one text block of a tool's result. */
export const toolText = (text: string): Reply =>
  resultText(`{"content":[${JSON.stringify({ type: 'text', text })}]}`);
