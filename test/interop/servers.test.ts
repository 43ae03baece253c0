import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import type { RpcRequest } from '../helpers/answers.ts';
import { newHome, type RunOptions, realSleep, runCli } from '../helpers/program.ts';
import { playSessions } from '../helpers/session.ts';
import { answerTo, INITIALIZE, lines, messagesIn, request } from '../unit/mcp/lines.ts';
import { useServers } from './real-server.ts';

const PACKAGES = 'node_modules/@modelcontextprotocol';
const anywhere = (path: string) => ['test/interop/servers/anywhere.mjs', `${PACKAGES}/${path}.js`];
const SAMPLES = [
  ...['simpleStreamableHttp', 'simpleStatelessStreamableHttp', 'jsonResponseStreamableHttp'],
  ...['ssePollingExample', 'honoWebStandardStreamableHttp', 'sseAndStreamableHttpCompatibleServer'],
  'elicitationFormExample',
];
const V2 = 'test/interop/servers/v2.mjs';
const servers = useServers({
  everything: anywhere('server-everything/dist/transports/streamableHttp'),
  ...Object.fromEntries(SAMPLES.map((name) => [name, anywhere(`sdk/dist/esm/examples/server/${name}`)])),
  v2: [V2],
  'v2-modern': [V2, 'reject'],
  'v2-streams': [V2, 'reject', 'sse'],
});

/** Returns a request as text, with these headers; ids that a server makes change. */
function shown({ method, headers }: RpcRequest, names: readonly string[]): string {
  const values = names.map((name) => [name, name.endsWith('-id') && headers[name] ? '<id>' : headers[name]]);
  return names.length === 0 ? method : `${method} ${JSON.stringify(Object.fromEntries(values))}`;
}

playSessions(join(import.meta.dirname, 'servers.session'), {
  env: () => servers.env,
  commands: {
    server(_home, name = '') {
      servers.select(name);
      return '';
    },
    passed: (_home, ...names) =>
      `${servers
        .passed()
        .map((request) => shown(request, names))
        .join(names.length === 0 ? ', ' : '\n')}\n`,
  },
});

describe('the reference server "everything"', () => {
  const { home, env } = newHome();
  const run = (line: string, options: RunOptions = {}) =>
    runCli(line.split(' '), { ...options, env: { ...env, ...servers.env, ...options.env }, cwd: home });
  const atTerminal = (line: string) => run(line, { tty: { stdout: true }, env: { NO_COLOR: '1' } });
  beforeEach(() => servers.select('everything'));

  it.each([
    ['get-tiny-image', /^\[image\] image\/png, \d\.\d kB$/m],
    ['get-resource-links count=1', /^\[resource link\] .*demo:\/\/resource\/dynamic\//m],
    [
      'get-resource-reference resourceType=Text resourceId=1',
      /^\[resource\] demo:\/\/\S+, text\/plain\n {2}Resource 1/m,
    ],
    ['get-resource-reference resourceType=Blob resourceId=1', /^\[resource\] demo:\/\/\S+, .*\d+ bytes$/m],
  ])('names content that is not text: %s', async (words, name) => {
    expect((await atTerminal(`call ${words}`)).stdout).toMatch(name);
    const blocks: { type: string }[] = JSON.parse((await run(`call ${words} --json`)).stdout);
    expect(blocks.some(({ type }) => type !== 'text')).toBe(true);
  });

  it('receives a cancellation on Ctrl-C', async () => {
    const controller = new AbortController();
    const answering = servers.answering('tools/call');
    const running = run('call trigger-long-running-operation duration=9 steps=9', {
      signal: controller.signal,
    });
    await answering;
    controller.abort(new AppError('interrupted', 'interrupted'));
    expect((await running).exit).toBe(130);
    const passed = servers.passed();
    expect(passed.slice(-3).map(({ method }) => method)).toEqual([
      'tools/call',
      'notifications/cancelled',
      'DELETE',
    ]);
    expect(passed.at(-2)?.params?.requestId).toBeTypeOf('number');
  });

  it('shows progress on a terminal', async () => {
    const { exit, stderr } = await run('call trigger-long-running-operation duration=0.6 steps=2', {
      tty: { stderr: true },
      sleep: realSleep,
    });
    expect(exit).toBe(0);
    expect(stderr).toMatch(/trigger-long-running-operation 50 %/);
    const piped = await run('call trigger-long-running-operation duration=0.1 steps=1');
    expect(piped.stderr).toBe('');
    expect(servers.passed().at(-2)?.params).not.toHaveProperty('_meta');
  });

  it('offers its tools, resources, prompts and completion through the bridge', async () => {
    const ref = { type: 'ref/prompt', name: 'completable-prompt' };
    const argument = { name: 'department', value: 'E' };
    const call = (id: number, name: string, args: object, _meta?: object) =>
      request(id, 'tools/call', { name, arguments: args, ...(_meta && { _meta }) });
    const stdin = lines(
      INITIALIZE,
      request(1, 'resources/templates/list'),
      request(2, 'prompts/get', { name: 'args-prompt', arguments: { city: 'Oslo' } }),
      request(3, 'completion/complete', { ref, argument }),
      request(4, 'resources/read', { uri: 'demo://resource/dynamic/text/1' }),
      request(5, 'resources/read', { uri: 'demo://nothing' }),
      request(6, 'resources/subscribe', { uri: 'demo://resource/dynamic/text/1' }),
      call(7, 'get-structured-content', { location: 'Chicago' }),
      call(8, 'get-sum', { a: 2 }),
      call(9, 'trigger-long-running-operation', { duration: 0.2, steps: 2 }, { progressToken: 'mine' }),
    );
    const { exit, stdout } = await run('mcp', { stdin });
    expect(exit).toBe(0);
    expect(answerTo(stdout, 'init').result).toMatchObject({
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    });
    expect(JSON.stringify(answerTo(stdout, 1).result)).toContain('demo://resource/dynamic/text/');
    expect(JSON.stringify(answerTo(stdout, 2).result)).toContain('Oslo');
    expect(answerTo(stdout, 3).result).toMatchObject({ completion: { values: ['Engineering'] } });
    expect(JSON.stringify(answerTo(stdout, 4).result)).toContain('Resource 1');
    expect(answerTo(stdout, 5).error).toMatchObject({ code: expect.any(Number) });
    expect(answerTo(stdout, 6).error).toMatchObject({ code: -32601 });
    expect(answerTo(stdout, 7).result).toMatchObject({
      structuredContent: { temperature: expect.any(Number) },
    });
    expect(answerTo(stdout, 8).result).toMatchObject({ isError: true });
    const progress = messagesIn(stdout).flatMap(({ method, params }) =>
      method === undefined ? [] : [params],
    );
    expect(progress).toMatchObject([1, 2].map((progress) => ({ progressToken: 'mine', progress, total: 2 })));
  });
});
