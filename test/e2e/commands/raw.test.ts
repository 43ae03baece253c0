import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PAID, useService } from '../../helpers/service.ts';

const shell = promisify(execFile);
const service = useService();
const raw = (...words: string[]) => service.run(['raw', ...words]);
const PARAMS = '{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}';

it('raw prints a curl command that gets the same response', async () => {
  const quotes = JSON.stringify({
    name: 'find_restaurant',
    arguments: { name: 'L\'Été "9" $HOME `x` \\n', city: 'Paris\n' },
  });
  for (const params of [PARAMS, quotes]) {
    const command = (await raw('tools/call', params, '--curl')).stdout;
    expect(command).not.toContain(PAID);
    const env = { PATH: process.env.PATH, RESTAURANT_API_KEY: PAID };
    const { stdout: reply } = await shell('sh', ['-c', `${command.trim()} -s`], { env, timeout: 50_000 });
    const { stdout } = await raw('tools/call', params);
    const [byCurl, own] = service.sandbox.requests.slice(-2);
    expect(byCurl?.body).toMatchObject({ params: JSON.parse(params) });
    for (const name of ['accept', 'content-type', 'user-agent'])
      expect(byCurl?.headers[name]).toBe(own?.headers[name]);
    expect({ ...JSON.parse(reply), id: 0 }).toEqual({ ...JSON.parse(stdout), id: 0 });
  }
});
