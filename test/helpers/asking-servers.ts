import type { RequestListener } from 'node:http';
import type { ElicitResult } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect } from 'vitest';
import { listenerServer, type TestServer } from './servers.ts';

/** The question of the tool `book`. */
const QUESTION = {
  mode: 'form' as const,
  message: 'A table for whom?',
  requestedSchema: {
    type: 'object' as const,
    properties: { guest: { type: 'string' as const, title: 'Guest' } },
    required: ['guest'],
  },
};

const textOf = (action: string, content: ElicitResult['content']): string => {
  if (action !== 'accept' || content === undefined) return action;
  return Object.keys(content ?? {}).join() === 'guest'
    ? `Booked for ${content?.guest}`
    : JSON.stringify(content);
};

const outcomeOf = ({ action, content }: ElicitResult) => ({
  content: [{ type: 'text' as const, text: textOf(action, content) }],
});

/** Serves MCP 2026-07-28: a result requests the input. */
export function modernServer(): RequestListener {
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

/** Serves MCP 2025-11-25 with sessions, each with a server of its own. */
function sessionServer(newServer: () => OldServer): RequestListener {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => `session-${sessions.size + 1}`,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
    if (known === undefined) await newServer().connect(transport as Parameters<OldServer['connect']>[0]);
    await transport.handleRequest(request, response);
  };
}

/** Serves MCP 2025-11-25: requests the input while the call is running. */
export const legacyServer = (): RequestListener =>
  sessionServer(() => {
    const server = new OldServer({ name: 'legacy', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'book', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, async (_request, { sendRequest }) => {
      const elicitation = { method: 'elicitation/create' as const, params: QUESTION };
      return outcomeOf((await sendRequest(elicitation, ElicitResultSchema)) as ElicitResult);
    });
    return server;
  });

/** Starts a server around the tests of a `describe`. @returns its endpoint */
export function useEndpoint(listener: RequestListener): () => string {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await listenerServer(listener);
  });
  afterAll(() => server?.close());
  return () => `${server?.origin}/mcp`;
}
