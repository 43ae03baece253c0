import { Client, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { legacyServer, modernServer, useEndpoint } from '../../helpers/asking-servers.ts';
import { newHome } from '../../helpers/program.ts';
import { PAID } from '../../helpers/service.ts';
import { useInstalled } from './installed.ts';

const installed = useInstalled();

interface HostOptions {
  readonly endpoint: string;
  readonly mode: 'legacy' | 'auto';
  /** Undefined for a host that cannot ask. */
  readonly answer?: (message: string) => ElicitResult;
}

async function connect({ endpoint, mode, answer }: HostOptions): Promise<Client> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client(
    { name: 'test-host', version: '1' },
    { capabilities, versionNegotiation: { mode } },
  );
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message));
  }
  onTestFinished(() => client.close());
  const env = { ...(newHome().env as Record<string, string>), RESTAURANT_API_KEY: PAID };
  const args = ['mcp', '--endpoint', endpoint];
  const limits = { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' };
  await client.connect(
    new StdioClientTransport({ command: installed.command, args, env: { ...env, ...limits } }),
  );
  return client;
}

const SERVERS = [
  ['2026-07-28', modernServer()],
  ['2025-11-25', legacyServer()],
] as const;

describe.each(SERVERS)('input that a server of %s requests', (_version, listener) => {
  const endpoint = useEndpoint(listener);
  const book = { name: 'book', arguments: {} };

  it.each(['legacy', 'auto'] as const)('reaches the person at a host in mode %s, 25 times', async (mode) => {
    const asked: string[] = [];
    const answer = (message: string): ElicitResult => {
      asked.push(message);
      return { action: 'accept', content: { guest: `Ada ${asked.length}` } };
    };
    const client = await connect({ endpoint: endpoint(), mode, answer });
    for (let round = 1; round <= 25; round += 1) {
      const { content } = await client.callTool(book);
      expect(content).toEqual([{ type: 'text', text: `Booked for Ada ${round}` }]);
    }
    expect(asked).toEqual(Array(25).fill('A table for whom?'));
  });

  it.each(['legacy', 'auto'] as const)('may be declined at a host in mode %s', async (mode) => {
    const client = await connect({ endpoint: endpoint(), mode, answer: () => ({ action: 'decline' }) });
    expect((await client.callTool(book)).content).toEqual([{ type: 'text', text: 'decline' }]);
  });

  it.each(['legacy', 'auto'] as const)('is an error at a host in mode %s that cannot ask', async (mode) => {
    const client = await connect({ endpoint: endpoint(), mode });
    const outcome = await client.callTool(book).then(
      ({ isError }) => isError,
      (error: unknown) => error instanceof Error,
    );
    expect(outcome).toBe(true);
  });
});
