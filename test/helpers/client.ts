import { onTestFinished } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../../src/client/restaurant.ts';
import type { AppError } from '../../src/errors.ts';
import { skippingClock } from './clock.ts';

export const KEY = 'sk_service_test_0123456789abcdef';

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

/** Returns a result envelope with `output` as JSON in its text block. */
export function toolReply(id: unknown, output: unknown): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    result: { content: [{ type: 'text', text: JSON.stringify(output) }] },
  });
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
