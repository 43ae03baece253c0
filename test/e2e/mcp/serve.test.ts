import { describe, expect, it } from 'vitest';
import { DOCUMENTED_TOOLS } from '../../../src/client/tools.ts';
import { parseFault } from '../../../src/sandbox/faults.ts';
import type { JsonObject } from '../../../src/util/json.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { REVOKED, useService } from '../../helpers/service.ts';
import {
  answerTo,
  find,
  INITIALIZE,
  INITIALIZED,
  LIST,
  lines,
  messagesIn,
  request,
} from '../../unit/mcp/lines.ts';

const errorText = (answer: JsonObject): string => {
  const { isError, content } = answer.result as { isError: boolean; content: { text: string }[] };
  expect(isError).toBe(true);
  return content[0]?.text ?? '';
};

describe.each(['json', 'sse'] as const)('with the plain service that responds in %s', (reply) => {
  const service = useService({ reply });

  it('handles a whole session, and exits when stdin is closed', async () => {
    const stdin = lines(INITIALIZE, INITIALIZED, LIST, find(1), request(2, 'ping'));
    const { exit, stdout, stderr } = await service.run(['mcp'], { stdin });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(messagesIn(stdout)).toHaveLength(4);
    expect(answerTo(stdout, 'init').result).toMatchObject({ protocolVersion: '2025-06-18' });
    expect(answerTo(stdout, 'list').result).toEqual({ tools: DOCUMENTED_TOOLS });
    expect(answerTo(stdout, 2).result).toEqual({});
    const { content } = answerTo(stdout, 1).result as { content: { type: string; text: string }[] };
    expect(content[0]?.type).toBe('text');
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({
      status: 'ok',
      results: expect.arrayContaining([expect.objectContaining({ name: 'Nopa', city: 'San Francisco' })]),
    });
  });

  it('returns invalid arguments of a known tool as a tool error', async () => {
    const stdin = lines(request(1, 'tools/call', { name: 'find_restaurant', arguments: { name: 'Nopa' } }));
    const { stdout } = await service.run(['mcp'], { stdin });
    expect(errorText(answerTo(stdout, 1))).toMatch(/city.*\nhint: /s);
    const unknown = lines(request(2, 'tools/call', { name: 'no_such_tool', arguments: {} }));
    const other = await service.run(['mcp'], { stdin: unknown });
    expect(answerTo(other.stdout, 2).error).toMatchObject({ code: expect.any(Number) });
  });

  it('passes the metadata of a call to the service', async () => {
    const _meta = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      progressToken: 1,
    };
    await service.run(['mcp'], { stdin: lines(find(1, { _meta })) });
    expect(service.sandbox.requests.at(-1)?.body).toMatchObject({
      params: { _meta: { traceparent: _meta.traceparent } },
    });
  });

  it('sends additional headers to the service', async () => {
    await service.run(['mcp', '-H', 'X-Team: blue'], { stdin: lines(find(1)) });
    expect(service.sandbox.requests.at(-1)?.headers).toMatchObject({ 'x-team': 'blue' });
  });

  it('marks the built-in tools as read-only', async () => {
    const { stdout } = await service.run(['mcp'], { stdin: lines(INITIALIZE, LIST) });
    const { tools } = answerTo(stdout, 'list').result as { tools: JsonObject[] };
    for (const tool of tools) {
      expect(tool).toMatchObject({ title: expect.any(String), annotations: { readOnlyHint: true } });
    }
    expect(answerTo(stdout, 'init').result).toMatchObject({ instructions: expect.any(String) });
  });

  it('requests the list of tools once, and not again at the next start', async () => {
    const env = { ...newHome().env, RESTAURANT_MAX_AGE: '10m' };
    service.sent();
    await service.run(['mcp'], { stdin: lines(LIST), env });
    await service.run(['mcp'], { stdin: lines(LIST), env });
    expect(service.sent()).toBe(1);
  });

  it('sends one request for a call', async () => {
    service.sent();
    await service.run(['mcp'], { stdin: lines(INITIALIZE, find(1)) });
    expect(service.sent()).toBe(1);
    expect(service.sandbox.requests.at(-1)?.body).toMatchObject({
      method: 'tools/call',
      params: { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'San Francisco' } },
    });
  });

  it('responds to twenty calls with their own ids', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? index : `call-${index}`));
    const { stdout } = await service.run(['mcp'], { stdin: lines(...ids.map((id) => find(id))) });
    expect(
      messagesIn(stdout)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...ids].sort());
  });

  it('writes only messages to stdout, even with --verbose', async () => {
    const stdin = lines(INITIALIZE, find(1));
    const { stdout, stderr } = await service.run(['mcp', '--verbose'], { stdin });
    expect(messagesIn(stdout)).toHaveLength(2);
    expect(stderr).toContain('tools/call');
    expect(stderr).not.toContain('sk_service_demo_paid');
  });
});

describe('with an MCP server', () => {
  const service = useService({ mode: 'mcp', reply: 'sse' });

  it('lists all its tools, undocumented ones included', async () => {
    const area = request(1, 'tools/call', { name: 'explore_area', arguments: { city: 'San Francisco' } });
    const { stdout } = await service.run(['mcp'], { stdin: lines(INITIALIZE, LIST, area) });
    const { tools } = answerTo(stdout, 'list').result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(['find_restaurant', 'lookup_restaurant', 'explore_area']);
    expect(answerTo(stdout, 1).result).toMatchObject({
      structuredContent: { status: 'ok', city: 'San Francisco' },
    });
  });

  it('offers its resources, prompts and completion', async () => {
    const stdin = lines(
      INITIALIZE,
      request(1, 'resources/list'),
      request(2, 'resources/read', { uri: 'restaurant://sample/cities' }),
      request(3, 'prompts/get', { name: 'plan_dinner', arguments: { city: 'Oslo' } }),
      request(4, 'completion/complete', {
        ref: { type: 'ref/prompt', name: 'plan_dinner' },
        argument: { name: 'city', value: 'sao' },
      }),
      request(5, 'resources/read', { uri: 'restaurant://sample/none' }),
    );
    for (const words of [[], ['--protocol', '2026-07-28']]) {
      await service.run(['tools', ...words]);
      const { stdout } = await service.run(['mcp', ...words], { stdin });
      expect(answerTo(stdout, 'init').result).toMatchObject({
        capabilities: { resources: {}, prompts: {}, completions: {} },
      });
      expect(answerTo(stdout, 1).result).toMatchObject({
        resources: [{ uri: 'skill://restaurant/SKILL.md' }, { name: 'cities' }],
      });
      expect(JSON.stringify(answerTo(stdout, 2).result)).toContain('San Francisco');
      expect(JSON.stringify(answerTo(stdout, 3).result)).toContain('Oslo');
      expect(answerTo(stdout, 4).result).toMatchObject({ completion: { values: ['São Paulo'] } });
      expect(answerTo(stdout, 5).error).toMatchObject({ code: -32002 });
    }
  });

  it('asks for its resources and prompts at the first start, before its protocol is known', async () => {
    const stdin = lines(INITIALIZE, request(1, 'resources/list'), request(2, 'prompts/list'));
    const { stdout } = await runCli(['mcp'], { env: { ...service.env, ...newHome().env }, stdin });
    expect(answerTo(stdout, 1).result).toMatchObject({
      resources: [{ uri: 'skill://restaurant/SKILL.md' }, { name: 'cities' }],
    });
    expect(answerTo(stdout, 2).result).toMatchObject({ prompts: [{ name: 'plan_dinner' }] });
  });

  it('forwards progress with the token of the host', async () => {
    const stdin = lines(find(1, { _meta: { progressToken: 'mine' } }));
    const { stdout } = await service.run(['mcp'], { stdin });
    const messages = messagesIn(stdout);
    expect(messages.slice(0, -1).map(({ method, params }) => [method, params])).toEqual([
      ['notifications/progress', { progressToken: 'mine', progress: 1, total: 2, message: 'searching' }],
      ['notifications/progress', { progressToken: 'mine', progress: 2, total: 2, message: 'writing' }],
    ]);
    expect(messages.at(-1)?.id).toBe(1);
  });

  it('returns invalid arguments of a known tool as a tool error', async () => {
    const stdin = lines(request(1, 'tools/call', { name: 'find_restaurant', arguments: { name: 7 } }));
    const { stdout } = await service.run(['mcp'], { stdin });
    expect(answerTo(stdout, 1).result).toMatchObject({ isError: true });
  });

  it('forwards the error of the service with its code', async () => {
    const stdin = lines(request(1, 'tools/call', { name: 'no_such_tool' }));
    const { stdout } = await service.run(['mcp'], { stdin });
    expect(answerTo(stdout, 1).error).toMatchObject({ code: -32602, message: expect.any(String) });
  });
});

describe('a failure', () => {
  const service = useService();

  it('without a key is a tool error with a hint, and the built-in list is used', async () => {
    service.sent();
    const { exit, stdout } = await service.run(['mcp'], {
      env: { RESTAURANT_API_KEY: '' },
      stdin: lines(INITIALIZE, LIST, find(1)),
    });
    expect(exit).toBe(0);
    expect(answerTo(stdout, 'list').result).toEqual({ tools: DOCUMENTED_TOOLS });
    const text = errorText(answerTo(stdout, 1));
    expect(text).toContain('no API key');
    expect(text).toMatch(/hint: .*restaurant login.*KEY or TOKEN/);
    expect(service.sent()).toBe(0);
  });

  it('without a service is a tool error with a hint', async () => {
    const { env } = newHome();
    const bundle = await runCli(['mcp'], { env: { ...env, RESTAURANT_BUNDLE: '1' }, stdin: lines(find(1)) });
    expect(bundle.stdout).toContain('in the settings of the extension');
    const { exit, stdout } = await runCli(['mcp'], { env, stdin: lines(LIST, find(1)) });
    expect(exit).toBe(0);
    expect(answerTo(stdout, 'list').result).toEqual({ tools: DOCUMENTED_TOOLS });
    expect(errorText(answerTo(stdout, 1))).toContain('restaurant login --base-url');
  });

  it('with a revoked key is a tool error', async () => {
    const { endpoint } = service.sandbox;
    const { exit, stdout } = await service.run(['mcp', '--endpoint', endpoint], {
      env: { RESTAURANT_API_KEY: REVOKED },
      stdin: lines(find(1)),
    });
    expect(exit).toBe(0);
    const text = errorText(answerTo(stdout, 1));
    expect(text).toContain('401');
    expect(text).toContain(`restaurant login --endpoint ${endpoint}`);
    expect(stdout).not.toContain(REVOKED);
  });

  it('is a tool error when the service is down, and the list is the stored or built-in one', async () => {
    const { stdout } = await service.run(['mcp'], {
      env: { RESTAURANT_BASE_URL: 'http://127.0.0.1:9', RESTAURANT_RETRIES: '0' },
      stdin: lines(LIST, find(1)),
    });
    expect(errorText(answerTo(stdout, 1))).toContain('127.0.0.1:9');
    expect(answerTo(stdout, 'list').result).toEqual({ tools: DOCUMENTED_TOOLS });
  });

  it.each([
    { RESTAURANT_API_KEY: '' },
    { RESTAURANT_BASE_URL: 'http://127.0.0.1:9', RESTAURANT_RETRIES: '0' },
  ])('leaves the other lists without what the service has: %o', async (env) => {
    const templates = request(2, 'resources/templates/list');
    const { stdout } = await service.run(['mcp'], {
      env,
      stdin: lines(INITIALIZE, request(1, 'resources/list'), templates, request(3, 'prompts/list')),
    });
    expect(answerTo(stdout, 1).result).toMatchObject({ resources: [{ uri: 'skill://restaurant/SKILL.md' }] });
    expect(answerTo(stdout, 2).result).toEqual({ resourceTemplates: [] });
    expect(answerTo(stdout, 3).result).toEqual({ prompts: [] });
  });

  it('in one line does not affect the others', async () => {
    const stdin = `${lines(find(1))}garbage\n{"jsonrpc":"2.0"\n\n\r\n${lines(find(2)).replace('\n', '\r\n')}${lines(find(3)).trimEnd()}`;
    const { exit, stdout } = await service.run(['mcp'], { stdin });
    expect(exit).toBe(0);
    const messages = messagesIn(stdout);
    expect(
      messages
        .filter(({ result }) => result !== undefined)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([1, 2, 3]);
    expect(messages.filter(({ error }) => error !== undefined)).toHaveLength(2);
  });
});

describe('limits', () => {
  const limited = useService({ perMinute: 1 });

  it('of the service are a tool error with the time, without a long wait', async () => {
    const { exit, stdout, stderr } = await limited.run(['mcp'], { stdin: lines(find(1), find(2)) });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const failed = messagesIn(stdout).filter(({ result }) => (result as JsonObject).isError === true);
    expect(failed).toHaveLength(1);
    const [failure = {}] = failed;
    expect(errorText(failure)).toMatch(
      /429, wait \d+ ?s.*\nhint: try again in \d+s; see the quota: restaurant status/s,
    );
    expect((failure.result as JsonObject)._meta).toMatchObject({
      'restaurant/error': { code: 'rate_limited', retry_after: expect.any(Number) },
    });
  });

  const refusing = useService({ faults: [parseFault('429')] });

  it('of the service are waited out once, for at most 15 s', async () => {
    const { stdout } = await refusing.run(['mcp'], { stdin: lines(find(1)) });
    expect(errorText(answerTo(stdout, 1))).toContain('try again in 1s');
    expect(refusing.sent()).toBe(2);
  });

  const free = useService();

  it('of the quota count the requests of the bridge', async () => {
    await free.run(['mcp'], { stdin: lines(INITIALIZE, find(1), find(2)) });
    const { stdout } = await free.run(['status', '--json']);
    expect(JSON.parse(stdout).budget.per_day.used).toBe(2);
  });
});

describe('faults of the service', () => {
  const faulty = (kind: string) => ({ faults: [parseFault(kind)] });

  describe('tool-error', () => {
    const service = useService(faulty('tool-error'));
    it('is forwarded as received', async () => {
      const { stdout } = await service.run(['mcp'], { stdin: lines(find(1)) });
      const result = answerTo(stdout, 1).result as JsonObject;
      expect(result.isError).toBe(true);
      expect(result._meta).toBeUndefined();
    });
  });

  describe('rpc-error', () => {
    const service = useService(faulty('rpc-error'));
    it('is forwarded with its code', async () => {
      const { stdout } = await service.run(['mcp'], { stdin: lines(find(1)) });
      expect(answerTo(stdout, 1).error).toMatchObject({ code: expect.any(Number) });
    });
  });

  describe.each(['500', 'html', 'truncate', 'reset', 'bad-json', 'wrong-id'])('%s', (kind) => {
    const service = useService(faulty(kind));
    it('is a tool error with a hint, and the bridge continues', async () => {
      const { exit, stdout } = await service.run(['mcp', '--retries', '0'], {
        stdin: lines(find(1), find(2), request(3, 'ping')),
      });
      expect(exit).toBe(0);
      expect(errorText(answerTo(stdout, 1))).toMatch(/\nhint: .*restaurant /);
      expect(errorText(answerTo(stdout, 2))).toMatch(/hint: /);
      expect(answerTo(stdout, 3).result).toEqual({});
    });
  });

  describe('hang', () => {
    const service = useService(faulty('hang'));
    const cancel = (requestId: unknown) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId },
    });

    it('ends with the cancellation, without a response', async () => {
      const { exit, stdout } = await service.run(['mcp'], { stdin: lines(find(1), cancel(1)) });
      expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' });
    });

    it('delays the exit for at most five seconds', async () => {
      const waits: number[] = [];
      const { exit, stdout } = await service.run(['mcp'], {
        stdin: lines(find(1)),
        sleep: async (ms) => {
          waits.push(ms);
        },
      });
      expect(exit).toBe(0);
      expect(waits).toEqual([5000]);
      expect(errorText(answerTo(stdout, 1))).toContain('closed');
    });

    it('ends with Ctrl-C', async () => {
      const controller = new AbortController();
      const running = service.run(['mcp'], { stdin: lines(find(1)), signal: controller.signal });
      setTimeout(() => controller.abort(new Error('stop')), 100);
      expect((await running).exit).not.toBe(0);
    });
  });
});

describe('--demo', () => {
  it('works without a service or key', async () => {
    const { env } = newHome();
    const { exit, stdout } = await runCli(['mcp', '--demo'], { env, stdin: lines(LIST, find(1)) });
    expect(exit).toBe(0);
    expect((answerTo(stdout, 'list').result as { tools: unknown[] }).tools.length).toBeGreaterThan(2);
    expect(answerTo(stdout, 1).result).toHaveProperty('content');
  });

  it('explains itself at a terminal', async () => {
    const { env } = newHome();
    const { stderr } = await runCli(['mcp', '--demo', '--no-color'], {
      env,
      tty: { stdin: true, stderr: true },
    });
    expect(stderr.replace(/\s+/g, ' ')).toContain('restaurant mcp config');
  });
});
