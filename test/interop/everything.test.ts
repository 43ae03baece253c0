import { describe, expect, it } from 'vitest';
import { newHome, realSleep } from '../helpers/program.ts';
import { answerTo, INITIALIZE, lines, messagesIn, request } from '../unit/mcp/lines.ts';
import { ANYWHERE, methodsOf, useServer } from './real-server.ts';

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js';

describe('the reference server "everything"', () => {
  const server = useServer(ANYWHERE, EVERYTHING);
  const home = newHome();
  const run = (line: string, options = {}) => server.run(line, { home, ...options });
  const atTerminal = (line: string) => run(line, { tty: { stdout: true }, env: { NO_COLOR: '1' } });

  it('lists its tools with their arguments', async () => {
    const { exit, stdout } = await atTerminal('tools');
    expect(exit).toBe(0);
    expect(stdout).toMatch(/get-sum +<a> <b>/);
    expect((await atTerminal('tools get-structured-content')).stdout).toMatch(
      /location +string +yes +.*One of: New York, Chicago/,
    );
  });

  it('is called with the stored protocol after the first command', async () => {
    server.passed();
    expect((await run('call echo message=hi')).stdout).toBe('Echo: hi\n');
    const session = ['initialize', 'notifications/initialized', 'tools/call', 'DELETE'];
    expect(methodsOf(server.passed())).toEqual(session);
  });

  it('is called with the protocol of --protocol', async () => {
    server.passed();
    const fresh = { home: newHome() };
    expect((await run('call echo message=hi --protocol 2025-11-25', fresh)).stdout).toBe('Echo: hi\n');
    expect(methodsOf(server.passed())[0]).toBe('initialize');
    const modern = await run('call echo message=hi --protocol 2026-07-28', fresh);
    expect(modern).toMatchObject({ exit: 7, stderr: expect.stringContaining('--protocol auto') });
  });

  it('receives numbers for numeric arguments', async () => {
    expect((await run('call get-sum a=2 b=3 --json')).stdout).toBe('"The sum of 2 and 3 is 5."\n');
  });

  it('returns structured content', async () => {
    const { stdout } = await run('call get-structured-content location=Chicago --json');
    expect(JSON.parse(stdout)).toMatchObject({ temperature: expect.any(Number) });
  });

  it.each([
    ['get-sum a=2', 'get-sum needs b', /^restaurant tools get-sum /],
    ['get-sum a=2 b=x', 'b "x": expected number', /^restaurant tools get-sum /],
    [
      'get-structured-content location=Chicgo',
      'location "Chicgo": expected one of New York, Chicago, Los Angeles',
      /did you mean Chicago\?/,
    ],
  ])('receives no request for %s', async (words, message, hint) => {
    server.passed();
    const { exit, stderr } = await run(`call ${words} --json`);
    expect(exit).toBe(2);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'usage',
      message,
      hint: expect.stringMatching(hint),
    });
    expect(methodsOf(server.passed())).not.toContain('tools/call');
  });

  it('has tools with other names', async () => {
    const { exit, stderr } = await run('call get_summ a=1 b=2');
    expect([exit, stderr]).toEqual([3, expect.stringContaining('did you mean get-sum?')]);
  });

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

  it('shows progress on a terminal', async () => {
    const { exit, stderr } = await run('call trigger-long-running-operation duration=0.6 steps=2', {
      tty: { stderr: true },
      sleep: realSleep,
    });
    expect(exit).toBe(0);
    expect(stderr).toMatch(/trigger-long-running-operation 50 %/);
    const piped = await run('call trigger-long-running-operation duration=0.1 steps=1');
    expect(piped.stderr).toBe('');
    expect(server.passed().at(-2)?.params).not.toHaveProperty('_meta');
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
