import { describe, expect, it } from 'vitest';
import { sendJson, serve, toolReply } from '../../helpers/client.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import type { ReceivedRequest } from '../../helpers/servers.ts';
import { PAID } from '../../helpers/service.ts';

describe('requests before a call', () => {
  interface Message {
    id?: number;
    method: string;
    params?: { name?: string; arguments?: unknown };
  }
  const messageOf = ({ body }: ReceivedRequest) => JSON.parse(body) as Message;
  const COUNT = { name: 'count', inputSchema: { type: 'object', properties: { n: { type: 'integer' } } } };

  /** A service of the plain protocol. `list` responds to `tools/list`; tools return their arguments. */
  async function plainService(list: (id: unknown) => { status?: number; body: string }) {
    const server = await serve((seen, response) => {
      const { id, method, params } = messageOf(seen);
      if (method === 'tools/call') return sendJson(response, toolReply(id, params));
      const { status = 200, body } = method === 'tools/list' ? list(id) : { status: 404, body: 'no' };
      sendJson(response, body, status);
    });
    const { env } = newHome();
    const run = (...words: string[]) =>
      runCli([...words, '--endpoint', server.url.href], { env: { ...env, RESTAURANT_API_KEY: PAID } });
    const methods = () => server.requests.splice(0).map((seen) => messageOf(seen).method);
    return { run, methods };
  }
  const tools =
    (...all: object[]) =>
    (id: unknown) => ({
      body: JSON.stringify({ jsonrpc: '2.0', id, result: { tools: all } }),
    });
  const refusal = (code: number) => (id: unknown) => ({
    body: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no' } }),
  });

  it('lists the tools once', async () => {
    const { run, methods } = await plainService(tools(COUNT));
    for (const sent of [['tools/list', 'tools/call'], ['tools/call']]) {
      const { exit, stdout } = await run('call', 'count', 'n=3', '--json');
      expect([exit, JSON.parse(stdout)]).toEqual([0, { name: 'count', arguments: { n: 3 } }]);
      expect(methods()).toEqual(sent);
    }
    await run('call', 'count', 'n=3', '--max-age', '0');
    expect(methods()).toEqual(['tools/list', 'tools/call']);
  });

  it('refreshes a cached list before it rejects a call', async () => {
    const lists = [[COUNT], [COUNT, { name: 'cook' }], [{ ...COUNT, inputSchema: {} }]];
    const { run, methods } = await plainService((id) => tools(...(lists.shift() ?? []))(id));
    await run('tools');
    expect((await run('call', 'cook')).exit).toBe(0);
    expect((await run('call', 'count', 'n=x')).exit).toBe(0);
    expect(methods()).toEqual(['tools/list', 'tools/list', 'tools/call', 'tools/list', 'tools/call']);
  });

  it('sends none if the arguments are documented', async () => {
    const { run, methods } = await plainService(
      tools({ name: 'find_restaurant', inputSchema: COUNT.inputSchema }),
    );
    await run('call', 'find_restaurant', 'name=Nopa', 'city=SF', 'n:=3');
    expect(methods()).toEqual(['tools/call']);
    const { stdout } = await run('call', 'find_restaurant', 'name=Nopa', 'city=SF', 'n=3', '--json');
    expect(methods()).toEqual(['tools/list', 'tools/call']);
    expect(JSON.parse(stdout).arguments).toEqual({ name: 'Nopa', city: 'SF', n: 3 });
  });

  it.each([
    ['a JSON-RPC error', refusal(-32601), ['tools/list']],
    ['another JSON-RPC error', refusal(-32000), ['tools/list']],
    ['405', () => ({ status: 405, body: 'no' }), ['tools/list']],
    [
      '404, which may concern the protocol',
      () => ({ status: 404, body: 'no' }),
      ['tools/list', 'initialize'],
    ],
  ])('continues when tools/list is rejected with %s', async (_name, list, asked) => {
    const { run, methods } = await plainService(list);
    const { exit, stdout } = await run('call', 'area', 'city=SF', 'limit:=3', '--json');
    expect([exit, JSON.parse(stdout)]).toEqual([0, { name: 'area', arguments: { city: 'SF', limit: 3 } }]);
    expect(methods()).toEqual([...asked, 'tools/call']);
  });

  it('stops on 401', async () => {
    const { run, methods } = await plainService(() => ({ status: 401, body: 'no' }));
    expect((await run('call', 'area', 'city=SF')).exit).toBe(4);
    expect(methods()).toEqual(['tools/list']);
  });

  it('sends none for a preview, which uses the selected protocol', async () => {
    const { run, methods } = await plainService(tools(COUNT));
    const bare = await run('call', 'count', 'n=3', '--dry-run');
    expect(JSON.parse(bare.stdout).body.params).toEqual({ name: 'count', arguments: { n: '3' } });
    const modern = await run('call', 'count', 'n:=3', '--dry-run', '--protocol', '2026-07-28');
    expect(JSON.parse(modern.stdout)).toMatchObject({
      headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Name': 'count' },
      body: { params: { _meta: expect.any(Object) } },
    });
    expect(methods()).toEqual([]);
  });
});
