import { FOUND, sendJson, serve, toolReply } from '../../helpers/client.ts';
import { newHome } from '../../helpers/program.ts';

/** Starts a service with one tool that records its requests, and creates a home for the commands that call it. */
export async function serviceWithHome() {
  const { home, env } = newHome();
  const { url, requests } = await serve((seen, response) => {
    const { id, method } = JSON.parse(seen.body) as { id: number; method: string };
    const tools = { jsonrpc: '2.0', id, result: { tools: [{ name: 't', inputSchema: { type: 'object' } }] } };
    sendJson(response, method === 'tools/list' ? JSON.stringify(tools) : toolReply(id, FOUND));
  });
  return {
    home,
    env: { ...env, RESTAURANT_MAX_AGE: '0' } as Record<string, string>,
    base: url.origin,
    requests,
  };
}
