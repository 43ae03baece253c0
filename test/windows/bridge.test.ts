import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, it, onTestFinished } from 'vitest';
import { restaurant } from '../helpers/process.ts';
import { envWith, installCommand } from './installed.ts';

const env = envWith(installCommand());

async function entryOf(client: string) {
  const words = ['mcp', 'config', client, '--via', 'stdio', '--demo', '--json', '--scope', 'user'];
  const { command, args = [], ...entry } = JSON.parse((await restaurant(words, { env })).stdout).entry;
  const [program, ...more] = [command, args].flat();
  return { command: program, args: more, env: { ...env, ...(entry.env ?? entry.environment) } };
}

it.each(['claude-desktop', 'opencode'])('the entry of %s starts the bridge', async (name) => {
  const client = new Client({ name: 'test-host', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ ...(await entryOf(name)), stderr: 'inherit' }));
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('find_restaurant');
  const found = await client.callTool({ name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } });
  expect(JSON.stringify(found.content)).toContain('560 Divisadero');
});

it('mcp config --check starts it, too', async () => {
  const { exit, stdout, stderr } = await restaurant(
    ['mcp', 'config', 'cursor', '--via', 'stdio', '--demo', '--check', '--json'],
    { env },
  );
  expect([exit, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout).check).toMatchObject({ ok: true });
});
