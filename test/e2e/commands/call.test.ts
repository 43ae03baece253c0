import { describe, expect, it } from 'vitest';
import { newHome, runCli } from '../../helpers/program.ts';
import { type Exchange, output, refuse, result, serveScript, status } from '../../helpers/script.ts';
import { PAID } from '../../helpers/service.ts';

const COUNT = { name: 'count', inputSchema: { type: 'object', properties: { n: { type: 'integer' } } } };
const listed = (...tools: object[]): Exchange => ['tools/list', result({ tools })];
/** A call to which the service responds with its tool and arguments. */
const CALL: Exchange = ['tools/call', (request, response) => output(request.params)(request, response)];

/** Returns a function that runs commands with a service of the plain protocol, which gets exactly these messages. */
async function serviceOf(...script: readonly Exchange[]) {
  const { url } = await serveScript(script);
  const env = { ...newHome().env, RESTAURANT_API_KEY: PAID };
  return (...words: string[]) => runCli([...words, '--endpoint', url.href], { env });
}

describe('requests before a call', () => {
  it('lists the tools once', async () => {
    const run = await serviceOf(listed(COUNT), CALL, CALL, listed(COUNT), CALL);
    for (const age of [[], [], ['--max-age', '0']]) {
      const { exit, stdout } = await run('call', 'count', 'n=3', '--json', ...age);
      expect([exit, JSON.parse(stdout)]).toEqual([0, { name: 'count', arguments: { n: 3 } }]);
    }
  });

  it('refreshes a cached list before it rejects a call', async () => {
    const others = listed({ ...COUNT, inputSchema: {} });
    const run = await serviceOf(listed(COUNT), listed(COUNT, { name: 'cook' }), CALL, others, CALL);
    await run('tools');
    expect((await run('call', 'cook')).exit).toBe(0);
    expect((await run('call', 'count', 'n=x')).exit).toBe(0);
  });

  it('sends none if the arguments are documented', async () => {
    const run = await serviceOf(CALL, listed({ ...COUNT, name: 'find_restaurant' }), CALL);
    await run('call', 'find_restaurant', 'name=Nopa', 'city=SF', 'n:=3');
    const { stdout } = await run('call', 'find_restaurant', 'name=Nopa', 'city=SF', 'n=3', '--json');
    expect(JSON.parse(stdout).arguments).toEqual({ name: 'Nopa', city: 'SF', n: 3 });
  });

  const NO = { message: 'no' };
  it.each<[how: string, asked: readonly Exchange[]]>([
    ['a JSON-RPC error', [['tools/list', refuse(200, { code: -32601, ...NO })]]],
    ['another JSON-RPC error', [['tools/list', refuse(200, { code: -32000, ...NO })]]],
    ['405', [['tools/list', status(405, {}, 'no')]]],
    [
      '404, which may concern the protocol',
      [
        ['tools/list', status(404, {}, 'no')],
        ['initialize', status(404, {}, 'no')],
      ],
    ],
  ])('continues when tools/list is rejected with %s', async (_how, asked) => {
    const run = await serviceOf(...asked, CALL);
    const { exit, stdout } = await run('call', 'area', 'city=SF', 'limit:=3', '--json');
    expect([exit, JSON.parse(stdout)]).toEqual([0, { name: 'area', arguments: { city: 'SF', limit: 3 } }]);
  });

  it('stops on 401', async () => {
    const run = await serviceOf(['tools/list', status(401, {}, 'no')]);
    expect((await run('call', 'area', 'city=SF')).exit).toBe(4);
  });

  it('sends none for a preview, which uses the selected protocol', async () => {
    const run = await serviceOf();
    const bare = await run('call', 'count', 'n=3', '--dry-run');
    expect(JSON.parse(bare.stdout).body.params).toEqual({ name: 'count', arguments: { n: '3' } });
    const modern = await run('call', 'count', 'n:=3', '--dry-run', '--protocol', '2026-07-28');
    expect(JSON.parse(modern.stdout)).toMatchObject({
      headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Name': 'count' },
      body: { params: { _meta: expect.any(Object) } },
    });
  });
});
