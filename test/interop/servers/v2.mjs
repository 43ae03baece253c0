// A server built on the official SDK v2: `stateless` (its default) answers older clients too, `reject` only new ones.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

const [legacy = 'stateless', responseMode = 'auto'] = process.argv.slice(2);

const inputSchema = fromJsonSchema({
  type: 'object',
  properties: {
    name: { type: 'string', 'x-mcp-header': 'Name' },
    times: { type: 'integer', minimum: 1, maximum: 3 },
  },
  required: ['name'],
});

async function greet({ name, times = 1 }, { mcpReq }) {
  const progressToken = mcpReq._meta?.progressToken;
  for (let step = 1; progressToken !== undefined && step <= times; step += 1) {
    const params = { progressToken, progress: step, total: times, message: `greeting ${step}` };
    await mcpReq.notify({ method: 'notifications/progress', params });
  }
  return { content: [{ type: 'text', text: Array(times).fill(`Hello, ${name}!`).join(' ') }] };
}

function newServer() {
  const server = new McpServer({ name: 'interop-v2', version: '1.0.0' });
  server.registerTool('greet', { description: 'Greets somebody', inputSchema }, greet);
  return server;
}

const server = createServer(toNodeHandler(createMcpHandler(newServer, { legacy, responseMode })));
server.listen(0, '127.0.0.1', () => process.stdout.write(`PORT ${server.address().port}\n`));
