import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../../src/client/restaurant.ts';
import type { AppError } from '../../src/errors.ts';
import { skippingClock } from './clock.ts';
import { httpServer, type ReceivedRequest, type RequestHandler } from './servers.ts';

export const KEY = 'sk_service_test_0123456789abcdef';

/** Serves HTTP until the test ends. */
export async function serve(answer: RequestHandler): Promise<{ url: URL; requests: ReceivedRequest[] }> {
  const { origin, requests, close } = await httpServer(answer);
  onTestFinished(close);
  return { url: endpointAt(origin), requests };
}

export const endpointAt = (origin: string): URL => new URL(`${origin}/api/mcp`);

export type TestOptions = Partial<Omit<ClientOptions, 'context'>> & {
  context?: Partial<ClientOptions['context']>;
};

/** Returns the options of a client that skips waits. */
export const optionsFor = (endpoint: URL, options: TestOptions = {}, clock = skippingClock()) => ({
  endpoint,
  apiKey: KEY,
  protocol: 'bare' as const,
  timeoutMs: 30_000,
  retries: 2,
  maxWaitMs: 60_000,
  ...options,
  context: {
    env: {},
    random: () => 0.5,
    signal: new AbortController().signal,
    now: clock.now,
    sleep: clock.sleep,
    ...options.context,
  },
});

/** Returns a client of `url` that skips waits; `slept` lists them. */
export function clientFor(url: URL, options: TestOptions = {}): { client: Client; slept: number[] } {
  const clock = skippingClock();
  const client = createClient(optionsFor(url, options, clock));
  onTestFinished(() => client.close());
  return { client, slept: clock.waits };
}

/** Returns the id of a request. */
export const idOf = (body: string): number => (JSON.parse(body) as { id: number }).id;

/** Returns a result envelope with `output` as JSON in its text block. */
export function toolReply(id: unknown, output: unknown): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    result: { content: [{ type: 'text', text: JSON.stringify(output) }] },
  });
}

/** Responds to a request with JSON. */
export function sendJson(response: ServerResponse, body: string, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
}

export const FOUND = { status: 'ok', results: [{ service_id: 'r-1', name: 'Nopa' }], total_matches: 1 };

/** Returns the error with which a promise is rejected. */
export async function failure(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise;
  } catch (error) {
    return error as AppError;
  }
  throw new Error('expected a failure');
}
