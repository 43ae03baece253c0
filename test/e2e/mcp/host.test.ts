import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useScriptedService } from '../../helpers/answers.ts';
import { UNPACED } from '../../helpers/enrich.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { PAID, useService } from '../../helpers/service.ts';
import { connectHost, useInstalled } from './installed.ts';

const installed = useInstalled();
const service = useService({ mode: 'mcp' });
const plain = useService({ reply: 'sse' });

const MODES = [
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
  ['pinned', '2026-07-28'],
] as const;

const FIND = { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } };

const textsOf = (result: object): string[] =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text);

describe.each(MODES)('a host in mode %s', (mode, version) => {
  it('lists and calls the tools, and reads the skill', async () => {
    const client = await connectHost(installed, { mode, env: service.env });
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'restaurant' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('explore_area');
    const [text = ''] = textsOf(await client.callTool(FIND));
    expect(JSON.parse(text)).toMatchObject({ status: 'ok', total_matches: 3 });

    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['skill://restaurant/SKILL.md']);
    const skills = new SkillsClient(client);
    expect(skills.supported).toBe(true);
    const [skill] = (await skills.list()).skills;
    if (skill === undefined) throw new Error('no skill');
    expect((await skills.get(skill.uri)).skill).toEqual(skill);
    const file = await skills.read(skill);
    expect(file).toMatchObject({ verified: true, frontmatter: { name: 'restaurant' } });
    expect(file.body).toContain('restaurant find');
    await expect(skills.get('skill://other/SKILL.md')).rejects.toMatchObject({ code: -32602 });
  });

  it('gets bounded results', async () => {
    const args = ['--columns', 'name,city', '--max-results', '1'];
    const client = await connectHost(installed, { mode, args, env: service.env });
    const area = { name: 'explore_area', arguments: { city: 'SF' } };
    const { tools } = await client.listTools();
    expect(tools.every(({ outputSchema }) => outputSchema === undefined)).toBe(true);
    const [text = '', note] = textsOf(await client.callTool(FIND));
    expect(JSON.parse(text).results).toEqual([{ name: 'Nopa', city: 'San Francisco' }]);
    expect(note).toBe('Cut: 1 of 3 records.');
    expect(await client.callTool(area)).not.toHaveProperty('structuredContent');
  });
});

it('a host on version 1 of the official SDK lists tools, calls them in parallel, and closes', async () => {
  const { command } = installed;
  const transport = new StdioClientTransport({ command, args: ['mcp'], env: plain.env, stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const client = new Client({ name: 'test-host', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(transport);
  expect(client.getServerVersion()).toMatchObject({ name: 'restaurant' });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['find_restaurant', 'lookup_restaurant']);
  const calls = Array.from({ length: 24 }, (_, index) =>
    client.callTool({ ...FIND, arguments: { name: `nothing ${index}`, city: 'SF' } }),
  );
  for (const result of await Promise.all(calls)) {
    expect(JSON.parse(textsOf(result)[0] ?? '')).toMatchObject({ status: 'ok', total_matches: 0 });
  }
  await client.ping();
  await client.close();
  expect(stderr).toBe('');
});

it('a host that passes no variables uses the saved login as soon as it is saved', async () => {
  const { home, env } = newHome();
  const client = await connectHost(installed, { mode: 'legacy', env: { HOME: home } });
  const before = await client.callTool(FIND);
  expect(before.isError).toBe(true);
  expect(textsOf(before)[0]).toContain('restaurant login');
  const login = ['login', '--base-url', plain.sandbox.baseUrl, '--key-stdin'];
  expect(await runCli(login, { env, stdin: PAID })).toMatchObject({ exit: 0 });
  expect((await client.callTool(FIND)).isError).toBeFalsy();
});

describe('progress just before the response', () => {
  const server = useScriptedService(({ id, params }, response) => {
    const token = params._meta?.progressToken;
    const notifications = [1, 2].map((progress) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: token, progress },
    }));
    const result = { content: [{ type: 'text', text: '{}' }] };
    const events = [...notifications, { jsonrpc: '2.0', id, result }];
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });
  const args = () => ['--endpoint', `${server.url}/api/mcp`, '--protocol', '2026-07-28'];
  const env = () => ({ ...newHome().env, ...UNPACED, RESTAURANT_API_KEY: PAID });

  async function expectProgress(
    callTool: (onprogress: (progress: { progress: number }) => void) => Promise<unknown>,
  ) {
    let received: number[] = [];
    const call = async () => {
      received = [];
      await callTool(({ progress }) => received.push(progress));
      return received;
    };
    // On a busy machine, a host may need longer than the time between the two.
    await expect.poll(call, { timeout: 30_000, interval: 1 }).toEqual([1, 2]);
  }

  it.each(['legacy', 'auto'] as const)('reaches a host in mode %s', async (mode) => {
    const client = await connectHost(installed, { mode, args: args(), env: env() });
    await expectProgress((onprogress) => client.callTool(FIND, { onprogress }));
  });

  it('reaches a host on version 1 of the official SDK', async () => {
    const client = new Client({ name: 'test-host', version: '1' });
    const command = { command: installed.command, args: ['mcp', ...args()], env: env() };
    onTestFinished(() => client.close());
    await client.connect(new StdioClientTransport(command));
    await expectProgress((onprogress) => client.callTool(FIND, undefined, { onprogress }));
  });
});
