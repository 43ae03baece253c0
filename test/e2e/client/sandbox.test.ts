import { describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { clientFor } from '../../helpers/client.ts';

describe.each(['json', 'sse'] as const)('the sandbox replying with %s', (reply) => {
  it.each([
    ['service', 'auto', 2],
    ['service', 'bare', 2],
    ['mcp', 'auto', 5],
    ['mcp', '2025-11-25', 4],
    ['mcp', '2026-07-28', 2],
  ] as const)(
    'in mode %s gets, for two calls with protocol %s, %d requests',
    async (mode, protocol, cost) => {
      const sandbox = await startSandbox({ mode, reply, perMinute: 0, perDay: 0 });
      onTestFinished(() => sandbox.close());
      const { client } = clientFor(new URL(sandbox.endpoint), { apiKey: sandbox.keys.paid, protocol });
      const { results } = await client.find({ name: 'Nopa', city: 'San Francisco' });
      const id = (results[0] as { service_id: string }).service_id;
      expect(Object.keys(await client.lookup(id, 'premium')).length).toBeGreaterThan(5);
      expect(sandbox.requests).toHaveLength(cost);
    },
  );
});
