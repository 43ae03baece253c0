import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults.ts';
import { sessionServer, useEndpoint } from '../../helpers/asking-servers.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { PAID, useService } from '../../helpers/service.ts';
import { useInstalled } from './installed.ts';

const installed = useInstalled();

interface Connected {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  stderr(): string;
}

/** Starts the bridge as a host does that is built on the official SDK. */
async function connect(args: readonly string[], env: Record<string, string>): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: installed.command,
    args: ['mcp', ...args],
    env,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const client = new Client({ name: 'test-host', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, transport, stderr: () => stderr };
}

const textOf = (result: Awaited<ReturnType<Client['callTool']>>): string => {
  const [block] = result.content as { type: string; text: string }[];
  return block?.text ?? '';
};

const NOPA = { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'San Francisco' } };

describe.each(['json', 'sse'] as const)(
  'a host on the official SDK, with the plain service in %s',
  (reply) => {
    const service = useService({ reply });

    it('lists tools, calls them and closes', async () => {
      const { client, stderr } = await connect([], service.env);
      expect(client.getServerVersion()).toMatchObject({ name: 'restaurant' });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['find_restaurant', 'lookup_restaurant']);
      const found = await client.callTool(NOPA);
      const { results } = JSON.parse(textOf(found));
      expect(results[0]).toMatchObject({ name: 'Nopa' });
      const details = await client.callTool({
        name: 'lookup_restaurant',
        arguments: { restaurant_id: results[0].service_id, fields: 'premium' },
      });
      expect(JSON.parse(textOf(details))).toHaveProperty('grade');
      await client.ping();
      await client.close();
      expect(stderr()).toBe('');
    });

    it('runs calls in parallel', async () => {
      const { client } = await connect([], service.env);
      const cities = ['San Francisco', 'London', 'Tokyo'];
      const calls = Array.from({ length: 24 }, (_, index) =>
        client.callTool({
          name: 'find_restaurant',
          arguments: { name: `nothing ${index}`, city: cities[index % 3] },
        }),
      );
      for (const result of await Promise.all(calls)) expect(JSON.parse(textOf(result)).status).toBe('ok');
    });
  },
);

describe('the saved login', () => {
  const service = useService();

  it('is used as soon as it is saved, when the host passes no variables', async () => {
    const { env } = newHome();
    const { client } = await connect([], { HOME: env.HOME ?? '' });
    const before = await client.callTool(NOPA);
    expect(before.isError).toBe(true);
    expect(textOf(before)).toContain('restaurant login');
    const login = ['login', '--base-url', service.sandbox.baseUrl, '--key-stdin'];
    expect(await runCli(login, { env, stdin: PAID })).toMatchObject({ exit: 0 });
    expect((await client.callTool(NOPA)).isError).toBeFalsy();
  });
});

describe('cancellation', () => {
  const service = useService({ faults: [parseFault('hang')] });

  it('ends the call at the service', async () => {
    const { client } = await connect([], service.env);
    const controller = new AbortController();
    const call = client.callTool(NOPA, undefined, { signal: controller.signal });
    while (service.sandbox.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort('not wanted any more');
    await expect(call).rejects.toThrow('not wanted');
    await client.ping();
  });
});

describe('a foreign server', () => {
  const steps: number[] = [];
  const endpoint = useEndpoint(sessionServer(() => foreignServer(steps)));

  it('is called with handshake, session, progress and structured output', async () => {
    const { env } = newHome();
    const { client } = await connect(['--endpoint', endpoint()], { ...env, RESTAURANT_API_KEY: PAID });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['add', 'fail']);
    const sum = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } }, undefined, {
      onprogress: ({ progress }) => steps.push(progress),
    });
    expect(sum.structuredContent).toEqual({ sum: 5 });
    expect(steps).toEqual([1, 2]);
    const failed = await client.callTool({ name: 'fail', arguments: {} });
    expect(failed).toMatchObject({ isError: true, content: [{ type: 'text', text: 'it is broken' }] });
  });
});

/** A server on the official SDK that has nothing to do with restaurants. @param received the progress that its client got */
function foreignServer(received: readonly number[]): McpServer {
  const foreign = new McpServer({ name: 'foreign', version: '1' }, { capabilities: { tools: {} } });
  foreign.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      { name: 'add', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } },
      { name: 'fail', inputSchema: { type: 'object' } },
    ],
  }));
  foreign.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
    if (params.name === 'fail') return { isError: true, content: [{ type: 'text', text: 'it is broken' }] };
    const progressToken = params._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [1, 2]) {
      const notice = { progressToken, progress };
      await sendNotification({ method: 'notifications/progress', params: notice });
      // The SDK's client drops progress that it reads together with the response.
      await vi.waitFor(() => expect(received).toContain(progress), { timeout: 20_000 });
    }
    const sum = Number(params.arguments?.a) + Number(params.arguments?.b);
    return { content: [{ type: 'text', text: String(sum) }], structuredContent: { sum } };
  });
  return foreign;
}
