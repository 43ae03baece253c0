import { describe, expect, it, onTestFinished } from 'vitest';
import type { Protocol } from '../../../src/client/mcp/protocol.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { clientFor, failure } from '../../helpers/client.ts';

type Mode = 'service' | 'mcp';
type Form = 'json' | 'sse';

async function open(mode: Mode, reply: Form, protocol: Protocol, key: 'free' | 'paid' = 'paid') {
  const sandbox = await startSandbox({ mode, reply, perMinute: 0, perDay: 0 });
  onTestFinished(() => sandbox.close());
  let requests = 0;
  const { client } = clientFor(new URL(sandbox.endpoint), {
    apiKey: sandbox.keys[key],
    protocol,
    onRequest: () => {
      requests += 1;
    },
  });
  return { client, requests: () => requests };
}

const FORMS: readonly Form[] = ['json', 'sse'];
const SPOKEN: readonly [Mode, Protocol, number][] = [
  ['service', 'auto', 2],
  ['service', 'bare', 2],
  ['mcp', 'auto', 5],
  ['mcp', '2025-11-25', 4],
  ['mcp', '2026-07-28', 2],
];

describe.each(FORMS)('the sandbox replying with %s', (reply) => {
  it.each(SPOKEN)(
    'receives the expected number of requests for two calls in mode %s with protocol %s: %d',
    async (mode, protocol, cost) => {
      const { client, requests } = await open(mode, reply, protocol);
      const { results } = await client.find({ name: 'Nopa', city: 'San Francisco' });
      const id = (results[0] as { service_id: string }).service_id;
      expect(Object.keys(await client.lookup(id, 'premium')).length).toBeGreaterThan(5);
      expect(requests()).toBe(cost);
    },
  );

  it('lists its tools in mode mcp, and has no list in mode service', async () => {
    const { client } = await open('mcp', reply, 'auto');
    expect((await client.listTools()).map(({ name }) => name)).toContain('find_restaurant');
    const plain = await open('service', reply, 'auto');
    expect(await failure(plain.client.listTools())).toMatchObject({ code: 'rpc_error' });
  });

  it('rejects fields that require a paid key, and unknown ids', async () => {
    const { client } = await open('service', reply, 'auto', 'free');
    const { results } = await client.find({ name: 'Nopa', city: 'San Francisco' });
    const id = (results[0] as { service_id: string }).service_id;
    expect(await failure(client.lookup(id, 'standard'))).toMatchObject({
      kind: 'auth',
      code: 'plan_required',
    });
    expect(await failure(client.lookup('nothing', 'basic'))).toMatchObject({ code: 'not_found' });
  });
});
