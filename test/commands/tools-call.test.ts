import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useService } from '../helpers/service.ts';

describe('call and tools, at a service that has a list of its tools', () => {
  const service = useService({ mode: 'mcp' });
  const call = (...words: string[]) => service.run(['call', ...words]);

  it('lists the tools, and shows one', async () => {
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

  it('calls a tool that this program has never heard of', async () => {
    const { exit, stdout, stderr } = await call('explore_area', 'city=SF', '--json');
    expect([exit, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  });

  it('names the nearest tool and the missing argument', async () => {
    const unknown = await call('explore_are', 'city=SF');
    expect(unknown.exit).toBe(3);
    expect(unknown.stderr).toContain('did you mean explore_area?');
    const missing = await call('explore_area');
    expect(missing.exit).toBe(2);
    expect(missing.stderr).toContain('explore_area needs city');
  });
});

describe('call and tools, at the plain service', () => {
  const service = useService();
  const call = (...words: string[]) => service.run(['call', ...words]);

  it('says that there is no list', async () => {
    const { exit, stderr } = await service.run(['tools', '--json']);
    expect(exit).toBe(7);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'rpc_error',
      message: expect.stringContaining('has no list of its tools'),
    });
  });

  it('calls a documented tool with one request', async () => {
    service.sent();
    const { exit, stdout } = await call('find_restaurant', 'name=Nopa', 'city=SF', '--json');
    expect([exit, service.sent()]).toEqual([0, 1]);
    expect(JSON.parse(stdout).results[0].name).toBe('Nopa');
  });

  it('takes arguments in every form', async () => {
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
      const { params } = service.sandbox.requests.at(-1)?.body as { params: unknown };
      expect(params).toEqual({ name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } });
    }
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

  it('fails where the tool failed', async () => {
    const args = ['restaurant_id=00000000-0000-4000-8000-000000000000', '--json'];
    const { exit, stdout, stderr } = await call('lookup_restaurant', ...args);
    expect([exit, stdout]).toEqual([3, '']);
    expect(JSON.parse(stderr).error.code).toBe('not_found');
  });
});
