import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import type { Service } from '../../../src/app/service.ts';
import { DOCUMENTED_TOOLS } from '../../../src/client/tools.ts';
import type { Tool } from '../../../src/client/types.ts';
import { AppError } from '../../../src/errors.ts';
import { restaurant } from '../../../src/hint.ts';
import { LIST_TTL_MS } from '../../../src/mcp/bridge/protocol.ts';
import { agentHint } from '../../../src/mcp/bridge/serve.ts';
import { Upstream } from '../../../src/mcp/bridge/upstream.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import type { JsonObject } from '../../../src/util/json.ts';
import { failure } from '../../helpers/client.ts';

const TOOL: Tool = { name: 'explore_area', inputSchema: { type: 'object' } };
const signal = new AbortController().signal;

interface Fake {
  tools?: () => Promise<readonly Tool[] | undefined>;
  capabilities?: () => Promise<JsonObject>;
  raw?: (method: string, params: JsonObject) => Promise<unknown>;
}

interface Stored {
  tools?: readonly Tool[];
  capabilities?: JsonObject;
  isMcp?: boolean;
}

/** An upstream that opens one service after the other, each with the next function. */
function upstreamOver(services: (() => Fake)[], stored: Stored = { isMcp: true, capabilities: {} }) {
  let opened = 0;
  let time = 0;
  const sleeps: { ms: number; end: () => void }[] = [];
  const upstream = new Upstream({
    async connect() {
      const fake = services[Math.min(opened, services.length - 1)];
      opened += 1;
      const { tools = async () => [TOOL], capabilities = async () => ({}), raw } = fake?.() ?? {};
      const getTools = async () => {
        const found = await tools();
        return { caching: {}, at: time, fromCache: false, tools: found };
      };
      return { getTools, capabilities, client: async () => ({ request: raw }) } as unknown as Service;
    },
    hintFor: (error) => agentHint(error, restaurant('login', '--profile', 'work')),
    storedTools: () => stored.tools,
    storedCapabilities: () => stored.capabilities,
    supportsMcp: () => stored.isMcp,
    context: {
      now: () => time,
      sleep: (ms) => new Promise((resolve) => sleeps.push({ ms, end: resolve })),
    },
  });
  return {
    upstream,
    sleeps,
    opened: () => opened,
    pass: (ms: number) => {
      time += ms;
    },
  };
}

const failing = (error: AppError) => (): Fake => {
  throw error;
};
const answering = (answer: object) => (): Fake => ({ raw: async () => answer });
describe('the list of tools', () => {
  it('is requested once at a time, and again after its lifetime', async () => {
    let requests = 0;
    const { upstream, pass } = upstreamOver([
      () => ({
        tools: async () => {
          requests += 1;
          return [TOOL];
        },
      }),
    ]);
    const lists = await Promise.all([upstream.listTools(), upstream.listTools(), upstream.listTools()]);
    expect(lists).toEqual([[TOOL], [TOOL], [TOOL]]);
    expect(requests).toBe(1);
    pass(LIST_TTL_MS - 1);
    await upstream.listTools();
    expect(requests).toBe(1);
    pass(1);
    await upstream.listTools();
    expect(requests).toBe(2);
  });

  it('gives each tool an object schema, without which hosts reject the whole list', async () => {
    const tools: Tool[] = [{ name: 'a' }, { name: 'b', inputSchema: { properties: { x: {} } } }];
    const { upstream } = upstreamOver([() => ({ tools: async () => tools })]);
    expect(await upstream.listTools()).toEqual([
      { name: 'a', inputSchema: { type: 'object' } },
      { name: 'b', inputSchema: { type: 'object', properties: { x: {} } } },
    ]);
  });

  it.each(['no_key', 'no_service', 'unauthorized', 'bad_config'] as const)(
    'is the built-in one until a login fixes %s',
    async (code) => {
      const { upstream, opened } = upstreamOver([failing(new AppError(code, 'no')), () => ({})]);
      expect(await upstream.listTools()).toEqual(DOCUMENTED_TOOLS);
      expect(await upstream.listTools()).toEqual([TOOL]);
      expect(opened()).toBe(2);
    },
  );

  it.each(['network', 'rate_limited', 'timeout', 'http_error'] as const)(
    'is the stored one, else the built-in one, after %s',
    async (code) => {
      const fail = [() => ({ tools: () => Promise.reject(new AppError(code, 'no')) })];
      expect(await upstreamOver(fail).upstream.listTools()).toEqual(DOCUMENTED_TOOLS);
      expect(await upstreamOver(fail, { tools: [TOOL] }).upstream.listTools()).toEqual([TOOL]);
    },
  );

  it('is the built-in one after 3 s, and the one of the service once it has arrived', async () => {
    let arrive: (tools: readonly Tool[]) => void = () => {};
    const { upstream, sleeps } = upstreamOver([
      () => ({ tools: () => new Promise((resolve) => (arrive = resolve)) }),
    ]);
    const first = upstream.listTools();
    await new Promise(setImmediate);
    expect(sleeps.map(({ ms }) => ms)).toEqual([3000]);
    sleeps[0]?.end();
    expect(await first).toEqual(DOCUMENTED_TOOLS);
    arrive([TOOL]);
    expect(await upstream.listTools()).toEqual([TOOL]);
  });

  it('contains the tools that hasTool reports', async () => {
    const { upstream } = upstreamOver([() => ({})]);
    expect([upstream.hasTool('find_restaurant'), upstream.hasTool('explore_area')]).toEqual([true, false]);
    await upstream.listTools();
    expect([upstream.hasTool('find_restaurant'), upstream.hasTool('explore_area')]).toEqual([false, true]);
  });
});

describe('the capabilities', () => {
  const fetching = () => ({ capabilities: async () => ({ prompts: {} }) });

  it('are the stored ones, without a connection', async () => {
    const { upstream, opened } = upstreamOver([fetching], { capabilities: { resources: {} } });
    expect(await upstream.capabilities()).toEqual({ resources: {} });
    expect(opened()).toBe(0);
  });

  it('come from the service when none are stored', async () => {
    const { upstream, opened } = upstreamOver([fetching], { isMcp: true });
    expect(await upstream.capabilities()).toEqual({ prompts: {} });
    expect(await upstream.capabilities()).toEqual({ prompts: {} });
    expect(opened()).toBe(1);
  });

  it('are empty when the service fails or is slow', async () => {
    const failed = upstreamOver([failing(new AppError('network', 'refused'))], { isMcp: true });
    expect(await failed.upstream.capabilities()).toEqual({});
    const slow = upstreamOver([() => ({ capabilities: () => new Promise(() => {}) })], { isMcp: true });
    const result = slow.upstream.capabilities();
    await new Promise(setImmediate);
    slow.sleeps[0]?.end();
    expect(await result).toEqual({});
  });

  it('are asked from the service itself before its protocol is known, and never from a plain one', async () => {
    const mayServe = (stored: Stored, name = 'prompts') =>
      upstreamOver([fetching], stored).upstream.mayServe(name);
    expect(await mayServe({})).toBe(true);
    expect(await mayServe({ isMcp: false })).toBe(false);
    expect(await mayServe({ isMcp: true })).toBe(true);
    expect(await mayServe({ isMcp: true }, 'resources')).toBe(false);
    expect(await mayServe({ capabilities: { resources: {} } })).toBe(false);
    const { upstream, opened } = upstreamOver([fetching], {});
    expect([await upstream.capabilities(), opened()]).toEqual([{}, 0]);
  });
});

describe('a call', () => {
  const RESULT = { content: [], isError: true, extra: [1] };
  const call = (upstream: ReturnType<typeof upstreamOver>['upstream']) =>
    upstream.request('tools/call', { name: 'explore_area', arguments: { city: 'SF' } }, { signal });

  it('connects again after the key was rejected', async () => {
    const error = new AppError('unauthorized', 'refused (401)', { status: 401 });
    const { upstream, opened } = upstreamOver([
      answering({ envelope: { error: { code: -32001, message: 'x' } }, error }),
      answering({ envelope: { result: RESULT } }),
    ]);
    expect(await failure(call(upstream))).toMatchObject({ code: error.code, message: error.message });
    for (const _ of [1, 2]) expect(await call(upstream)).toEqual(RESULT);
    expect(opened()).toBe(2);
  });

  it.each([
    [
      { code: -32602, message: 'Unknown tool', data: { a: 1 } },
      { code: -32602, message: 'Unknown tool', data: { a: 1 } },
    ],
    [
      { code: 'E1', message: 'odd' },
      { code: -32603, message: 'odd', data: { code: 'E1' } },
    ],
    ['flat', { code: -32603, message: 'flat' }],
  ])('forwards the error %j', async (error, expected) => {
    const { upstream } = upstreamOver([answering({ envelope: { error } })]);
    expect(await failure(call(upstream))).toMatchObject({ name: 'ProtocolError', ...expected });
  });

  it('forwards a JSON-RPC error that came with an HTTP status, but not 429', async () => {
    const envelope = { error: { code: -32601, message: 'Method not found' } };
    const asRpc = upstreamOver([
      answering({ envelope, error: new AppError('rpc_error', 'x', { status: 404 }) }),
    ]);
    expect(await failure(call(asRpc.upstream))).toMatchObject({ name: 'ProtocolError', code: -32601 });
    const limited = upstreamOver([answering({ envelope, error: new AppError('rate_limited', 'slow down') })]);
    expect(await failure(call(limited.upstream))).toMatchObject({ name: 'AppError', code: 'rate_limited' });
  });

  it.each([null, 'text', 7, []])('rejects the result %j', async (result) => {
    const { upstream } = upstreamOver([answering({ envelope: { result } })]);
    expect(await failure(call(upstream))).toMatchObject({ code: 'bad_response' });
  });

  it('gives hints for people without a command line', async () => {
    const { upstream } = upstreamOver([failing(new AppError('timeout', 'no answer'))]);
    expect(hintText(hintFor(await failure(call(upstream))))).toContain('restaurant mcp --timeout');
  });

  it('leaves out the metadata of the connection to the service', async () => {
    const meta = { 'io.modelcontextprotocol/serverInfo': { name: 'x' }, 'a/b': 1 };
    const { upstream } = upstreamOver([answering({ envelope: { result: { content: [], _meta: meta } } })]);
    expect(await call(upstream)).toEqual({ content: [], _meta: { 'a/b': 1 } });
  });

  it('rejects a result that requests input of a host that cannot give it', async () => {
    const inputRequests = { city: { method: 'elicitation/create' } };
    const result = { resultType: 'input_required', inputRequests };
    const { upstream } = upstreamOver([answering({ envelope: { result } })]);
    expect(await failure(call(upstream))).toMatchObject({ message: expect.stringContaining('city') });
  });
});
