import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newHome } from '../../helpers/program.ts';
import { PAID } from '../../helpers/service.ts';
import { useInstalled } from './installed.ts';

const installed = useInstalled();

const QUESTION = {
  mode: 'form' as const,
  message: 'A table for whom?',
  requestedSchema: {
    type: 'object' as const,
    properties: { guest: { type: 'string' as const, title: 'Guest' } },
    required: ['guest'],
  },
};

const outcomeOf = ({ action, content }: ElicitResult) => ({
  content: [{ type: 'text' as const, text: action === 'accept' ? `Booked for ${content?.guest}` : action }],
});

/** Serves MCP 2026-07-28: a result requests the input. */
function modernServer(): RequestListener {
  const newServer = () => {
    const server = new McpServer({ name: 'modern', version: '1' });
    const inputSchema = fromJsonSchema<object>({ type: 'object' });
    server.registerTool('book', { inputSchema }, async (_args, { mcpReq }) => {
      const { inputResponses } = mcpReq;
      if (inputResponses === undefined) {
        const inputRequests = { table: { method: 'elicitation/create' as const, params: QUESTION } };
        return { resultType: 'input_required', inputRequests, requestState: 'round 1' };
      }
      expect(mcpReq.requestState()).toBe('round 1');
      return outcomeOf(inputResponses.table as ElicitResult);
    });
    return server;
  };
  return toNodeHandler(createMcpHandler(newServer, { legacy: 'reject' }));
}

/** Serves MCP 2025-11-25: requests the input while the call is running. */
function legacyServer(): RequestListener {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => `session-${sessions.size + 1}`,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
    if (known === undefined) {
      const server = new OldServer({ name: 'legacy', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: [{ name: 'book', inputSchema: { type: 'object' } }],
      }));
      server.setRequestHandler(CallToolRequestSchema, async (_request, { sendRequest }) => {
        const elicitation = { method: 'elicitation/create' as const, params: QUESTION };
        return outcomeOf((await sendRequest(elicitation, ElicitResultSchema)) as ElicitResult);
      });
      await server.connect(transport as Parameters<OldServer['connect']>[0]);
    }
    await transport.handleRequest(request, response);
  };
}

/** Starts a server around the tests of a `describe`. @returns its endpoint */
function useEndpoint(listener: RequestListener): () => string {
  const server = createServer(listener);
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

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
  const args = ['mcp', '--endpoint', endpoint, '--per-minute', '0'].slice(0, 3);
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
