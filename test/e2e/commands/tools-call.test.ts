import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendJson, serve, toolReply } from '../../helpers/client.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import type { ReceivedRequest } from '../../helpers/servers.ts';
import { PAID, useService } from '../../helpers/service.ts';

describe('call and tools, with a service that lists its tools', () => {
  const service = useService({ mode: 'mcp' });
  const call = (...words: string[]) => service.run(['call', ...words]);

  it('list the tools and show one', async () => {
    const { exit, stdout } = await service.run(['tools', '--json']);
    expect(exit).toBe(0);
    const names = JSON.parse(stdout).tools.map((tool: { name: string }) => tool.name);
    expect(names).toEqual(expect.arrayContaining(['find_restaurant', 'lookup_restaurant', 'explore_area']));
    const one = await service.run(['tools', 'find_restaurant', '--format', 'table']);
    expect(one.stdout).toMatch(/find_restaurant[\s\S]*name[\s\S]*string[\s\S]*city/);
    const unknown = await service.run(['tools', 'find_resturant']);
    expect(unknown.exit).toBe(3);
    expect(unknown.stderr).toMatch(/hint: did you mean find_restaurant\?/);
  });

  it('call an undocumented tool', async () => {
    const { exit, stdout, stderr } = await call('explore_area', 'city=SF', '--json');
    expect([exit, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  });

  it('print one object in a pipe as lookup does, and a list as rows', async () => {
    const piped = async (...words: string[]) => (await call(...words)).stdout;
    const area = ['explore_area', 'city=SF'];
    expect(await piped(...area)).toMatch(/^status\tok\ncity\tSan Francisco\n(?:\S+\t.*\n)+$/);
    expect(await piped(...area, '--columns', 'status,city')).toBe('ok\tSan Francisco\n');
    expect(await piped('find_restaurant', 'name=Nopa', 'city=SF')).toMatch(/^[\da-f-]{36}\tNopa\t/);
  });

  it('refuse an empty name before a request', async () => {
    const { exit, stderr } = await service.run(['call', '']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('the tool name is empty')]);
  });

  it('name the nearest tool and the missing argument', async () => {
    const unknown = await call('explore_are', 'city=SF');
    expect(unknown.exit).toBe(3);
    expect(unknown.stderr).toContain('did you mean explore_area?');
    const missing = await call('explore_area');
    expect(missing.exit).toBe(2);
    expect(missing.stderr).toContain('explore_area needs city');
    const misspelt = await call('explore_area', 'ciy=SF');
    expect([misspelt.exit, misspelt.stderr]).toEqual([
      2,
      "error: explore_area needs city; it has no argument 'ciy'\nhint: did you mean city? restaurant tools explore_area\n",
    ]);
  });

  it('explain how to pass text where JSON was expected', async () => {
    const typed = await call('find_restaurant', 'name:=Chez Nous', 'city=SF');
    expect([typed.exit, typed.stderr]).toEqual([
      2,
      `error: name is not valid JSON: line 1, column 1\nhint: as text: 'name=Chez Nous'; as JSON text: 'name:="Chez Nous"'\n`,
    ]);
    const raw = await service.run(['raw', 'tools/call', '-F', 'name=text']);
    expect(raw.stderr).toContain(`hint: as text: -f name=text; as JSON text: -F 'name="text"'`);
    const broken = await call('find_restaurant', 'name:={"a":', 'city=SF');
    expect(broken.stderr).toContain('hint: JSON needs double quotes');
  });

  it('list the arguments of one tool as CSV and TSV', async () => {
    const tool = (format: string) => service.run(['tools', 'lookup_restaurant', '--format', format]);
    const { exit, stdout } = await tool('csv');
    expect(exit).toBe(0);
    const [header, ...rows] = stdout.trim().split('\n');
    expect(header).toBe('argument,type,required,description,allowed,default');
    expect(rows.map((row) => row.split(',').slice(0, 3).join(' '))).toEqual([
      'restaurant_id string true',
      'fields string false',
    ]);
    expect((await tool('tsv')).stdout.split('\n')).toHaveLength(3);
    expect(JSON.parse((await tool('ndjson')).stdout)).toHaveProperty('inputSchema');
  });
});

describe('call and tools, with the plain service', () => {
  const service = useService();
  const call = (...words: string[]) => service.run(['call', ...words]);

  it('name the documented tools for an unknown tool', async () => {
    const { exit, stderr } = await service.run(['call', 'find_restaurnt', 'name=x']);
    expect(exit).toBe(7);
    expect(stderr).toMatch(/^error: find_restaurnt: .* unknown tool/);
    expect(stderr).toMatch(/hint: did you mean find_restaurant\? .*: restaurant tools find_restaurant\n$/);
  });

  it('report that there is no list', async () => {
    const { exit, stderr } = await service.run(['tools', '--json']);
    expect(exit).toBe(7);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'rpc_error',
      message: expect.stringContaining('does not list its tools'),
    });
  });

  it('show a documented tool without a list', async () => {
    const { exit, stdout, stderr } = await service.run(['tools', 'find_restaurant']);
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/name[\s\S]*city/);
    expect((await service.run(['tools', 'explore_area'])).exit).toBe(7);
  });

  it('call a documented tool with one request', async () => {
    service.sent();
    const { exit, stdout } = await call('find_restaurant', 'name=Nopa', 'city=SF', '--json');
    expect([exit, service.sent()]).toEqual([0, 1]);
    expect(JSON.parse(stdout).results[0].name).toBe('Nopa');
  });

  it('accept arguments in every form', async () => {
    const file = join(service.home, 'name.txt');
    writeFileSync(file, 'Nopa');
    const forms = [
      ['name=Nopa', 'city=SF'],
      ['name:="Nopa"', 'city=SF'],
      [`name=@${file}`, 'city=SF'],
      ['city=SF', '--args', '{"name":"Nopa"}'],
      ['--args', '{"name":"Nopa","city":"SF"}'],
    ];
    for (const words of forms) {
      expect((await call('find_restaurant', ...words)).exit).toBe(0);
      expect(service.sandbox.requests.at(-1)?.body).toMatchObject({
        params: { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } },
      });
    }
    await call('find_restaurant', 'name=@@home', 'city=SF');
    expect(service.sandbox.requests.at(-1)?.body).toMatchObject({ params: { arguments: { name: '@home' } } });
    for (const words of [
      ['nonsense'],
      ['name=a', 'name=b'],
      ['--args', '[]'],
      ['name:=nope'],
      ['name=@missing'],
    ]) {
      expect([words, (await call('find_restaurant', ...words, 'city=SF')).exit]).toEqual([words, 2]);
    }
  });

  it('suggest --args for JSON', async () => {
    const { exit, stderr } = await call('find_restaurant', '{"name":"Nopa"}');
    expect([exit, stderr]).toEqual([
      2,
      `error: '{"name":"Nopa"}': expected key=value\nhint: restaurant call find_restaurant --args '{"name":"Nopa"}'\n`,
    ]);
  });

  it('quote names in hints', async () => {
    const { stderr } = await call('x;id>y', 'nonsense');
    expect(stderr).toContain(
      "hint: restaurant call 'x;id>y' key=text key:=3; see its arguments: restaurant tools 'x;id>y'",
    );
  });

  it('fail when the tool fails', async () => {
    const args = ['restaurant_id=00000000-0000-4000-8000-000000000000', '--json'];
    const { exit, stdout, stderr } = await call('lookup_restaurant', ...args);
    expect([exit, stdout]).toEqual([3, '']);
    expect(JSON.parse(stderr).error.code).toBe('not_found');
  });
});

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

  it('validates documented arguments without a request', async () => {
    const { run, methods } = await plainService(refusal(-32601));
    const wrong = await run('call', 'lookup_restaurant', 'restaurant_id=x', 'fields=premum');
    expect(wrong).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(
        /^error: fields "premum": expected one of standard, premium\nhint: did you mean premium\? restaurant tools lookup_restaurant --endpoint \S+\n$/,
      ),
    });
    expect(methods()).toEqual([]);
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

  it('reports the reason of a service without a list', async () => {
    const { run } = await plainService(refusal(-32601));
    const { exit, stderr } = await run('tools', '--json');
    expect([exit, JSON.parse(stderr).error]).toEqual([
      7,
      expect.objectContaining({
        code: 'rpc_error',
        rpc_code: -32601,
        message: expect.stringMatching(/does not list its tools: .* says: no/),
      }),
    ]);
  });
});
