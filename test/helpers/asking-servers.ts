import type { RequestListener } from 'node:http';
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
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
export function modernServer(params: ElicitRequest['params'] = QUESTION): RequestListener {
  const newServer = () => {
    const server = new McpServer({ name: 'modern', version: '1' });
    const inputSchema = fromJsonSchema<object>({ type: 'object' });
    server.registerTool('book', { inputSchema }, async (_args, { mcpReq }) => {
      const { inputResponses } = mcpReq;
      if (inputResponses === undefined) {
        const inputRequests = { table: { method: 'elicitation/create' as const, params } };
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
export function sessionServer(newServer: () => OldServer): RequestListener {
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

/** Serves MCP 2025-11-25: sends all requests for input at once. The result is the replies. */
export function hostileServer(questions: readonly object[]): RequestListener {
  const replies: unknown[] = [];
  let end = (): void => {};
  return async (request, response) => {
    const { id, method, result, error } = JSON.parse(
      Buffer.concat(await request.toArray()).toString() || '{}',
    );
    const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
    const respond = (message: object) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: message }));
    };
    if (method === 'initialize') {
      respond({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'hostile', version: '1' },
      });
    } else if (method === 'tools/list') {
      respond({ tools: [{ name: 'book', inputSchema: { type: 'object' } }] });
    } else if (method === 'tools/call' && request.headers['mcp-protocol-version'] !== undefined) {
      end = () => {
        const text = `replies: ${JSON.stringify(replies)}`;
        response.end(event({ id, result: { content: [{ type: 'text', text }] } }));
      };
      response.setHeader('Content-Type', 'text/event-stream');
      for (const [index, params] of questions.entries())
        response.write(event({ id: `q${index}`, method: 'elicitation/create', params }));
    } else if (method === undefined) {
      replies.push(result ?? error);
      response.writeHead(202).end();
      if (replies.length === questions.length) end();
    } else response.writeHead(method?.startsWith('notifications/') ? 202 : 400).end();
  };
}

/** Starts a server around the tests of a `describe`. @returns its endpoint */
export function useEndpoint(listener: RequestListener): () => string {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await listenerServer(listener);
  });
  afterAll(() => server?.close());
  return () => `${server?.origin}/mcp`;
}
