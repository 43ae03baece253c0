import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { DOCUMENTED_TOOLS } from '../../../src/client/tools.ts';
import type { Tool } from '../../../src/client/types.ts';
import { AppError } from '../../../src/errors.ts';
import { restaurant } from '../../../src/hint.ts';
import { LIST_TTL_MS } from '../../../src/mcp/bridge/protocol.ts';
import { agentHint } from '../../../src/mcp/bridge/serve.ts';
import { type Connection, type StoredFacts, Upstream } from '../../../src/mcp/bridge/upstream.ts';
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

/** An upstream that opens one service after the other, each with the next function. */
function upstreamOver(services: (() => Fake)[], stored: StoredFacts = { isMcp: true, capabilities: {} }) {
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
      const client = async () => ({ request: raw });
      return { tools: { get: getTools, capabilities }, client } as unknown as Connection;
    },
    hintFor: (error) => agentHint(error, restaurant('login', '--profile', 'work')),
    stored: () => stored,
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
  const toolsOf = async (upstream: Upstream) => (await upstream.listTools()).tools;

  it('is requested once at a time, and again after its lifetime', async () => {
    let requests = 0;
    const tools = async () => {
      requests += 1;
      return [TOOL];
    };
    const { upstream, pass } = upstreamOver([() => ({ tools })]);
    const lists = await Promise.all([toolsOf(upstream), toolsOf(upstream), toolsOf(upstream)]);
    expect([lists, requests]).toEqual([[[TOOL], [TOOL], [TOOL]], 1]);
    for (const [ms, total] of [
      [LIST_TTL_MS - 1, 1],
      [1, 2],
    ] as const) {
      pass(ms);
      await toolsOf(upstream);
      expect(requests).toBe(total);
    }
  });

  it('gives each tool an object schema, without which hosts reject the whole list', async () => {
    const tools: Tool[] = [{ name: 'a' }, { name: 'b', inputSchema: { properties: { x: {} } } }];
    const { upstream } = upstreamOver([() => ({ tools: async () => tools })]);
    expect(await toolsOf(upstream)).toEqual([
      { name: 'a', inputSchema: { type: 'object' } },
      { name: 'b', inputSchema: { type: 'object', properties: { x: {} } } },
    ]);
  });

  it.each(['no_key', 'no_service', 'unauthorized', 'bad_config'] as const)(
    'is the built-in one until a login fixes %s',
    async (code) => {
      const { upstream, opened } = upstreamOver([failing(new AppError(code, 'no')), () => ({})]);
      expect(await toolsOf(upstream)).toEqual(DOCUMENTED_TOOLS);
      expect(await toolsOf(upstream)).toEqual([TOOL]);
      expect(opened()).toBe(2);
    },
  );

  it.each(['network', 'rate_limited', 'timeout', 'http_error'] as const)(
    'is the stored one, else the built-in one, after %s',
    async (code) => {
      const fail = [() => ({ tools: () => Promise.reject(new AppError(code, 'no')) })];
      expect(await toolsOf(upstreamOver(fail).upstream)).toEqual(DOCUMENTED_TOOLS);
      expect(await toolsOf(upstreamOver(fail, { tools: [TOOL] }).upstream)).toEqual([TOOL]);
    },
  );

  it('is the built-in one after 3 s, and the one of the service once it has arrived', async () => {
    let arrive: (tools: readonly Tool[]) => void = () => {};
    const tools = () => new Promise<readonly Tool[]>((resolve) => (arrive = resolve));
    const { upstream, sleeps } = upstreamOver([() => ({ tools })]);
    const has = () => ['find_restaurant', 'explore_area'].map((name) => upstream.hasTool(name));
    const first = toolsOf(upstream);
    await new Promise(setImmediate);
    expect(sleeps.map(({ ms }) => ms)).toEqual([3000]);
    sleeps[0]?.end();
    expect([await first, has()]).toEqual([DOCUMENTED_TOOLS, [true, false]]);
    arrive([TOOL]);
    expect([await toolsOf(upstream), has()]).toEqual([[TOOL], [false, true]]);
  });
});

describe('the capabilities', () => {
  const fetching = () => ({ capabilities: async () => ({ prompts: {} }) });

  it.each<[string, StoredFacts, object, number]>([
    ['stored, without a connection', { capabilities: { resources: {} } }, { resources: {} }, 0],
    ['those of the service when none are stored', { isMcp: true }, { prompts: {} }, 1],
    ['none before the protocol of the service is known', {}, {}, 0],
  ])('are %s', async (_what, stored, expected, connections) => {
    const { upstream, opened } = upstreamOver([fetching], stored);
    for (const _ of [1, 2]) expect(await upstream.capabilities()).toEqual(expected);
    expect(opened()).toBe(connections);
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

  it.each<[StoredFacts, string, boolean]>([
    [{}, 'prompts', true],
    [{ isMcp: false }, 'prompts', false],
    [{ isMcp: true }, 'prompts', true],
    [{ isMcp: true }, 'resources', false],
    [{ capabilities: { resources: {} } }, 'prompts', false],
  ])('with %j stored, requests for %s are sent: %s', async (stored, name, expected) => {
    expect(await upstreamOver([fetching], stored).upstream.mayServe(name)).toBe(expected);
  });
});

describe('a call', () => {
  const call = (upstream: Upstream) =>
    upstream.request('tools/call', { name: 'explore_area', arguments: { city: 'SF' } }, { signal });

  it('connects again after the key was rejected', async () => {
    const result = { content: [], isError: true, extra: [1] };
    const error = new AppError('unauthorized', 'refused (401)', { status: 401 });
    const { upstream, opened } = upstreamOver([
      answering({ envelope: { error: { code: -32001, message: 'x' } }, error }),
      answering({ envelope: { result } }),
    ]);
    expect(await failure(call(upstream))).toMatchObject({ code: error.code, message: error.message });
    for (const _ of [1, 2]) expect(await call(upstream)).toEqual(result);
    expect(opened()).toBe(2);
  });

  const unknown = { code: -32602, message: 'Unknown tool', data: { a: 1 } };
  const input = { resultType: 'input_required', inputRequests: { city: { method: 'elicitation/create' } } };
  const forwarded = (error: object) => ({ name: 'ProtocolError', ...error });
  const missing = new AppError('rpc_error', 'x', { status: 404 });
  const limited = new AppError('rate_limited', 'slow down');

  it.each<[JsonObject, AppError | undefined, object]>([
    [{ error: unknown }, undefined, forwarded(unknown)],
    [
      { error: { code: 'E1', message: 'odd' } },
      undefined,
      forwarded({ code: -32603, message: 'odd', data: { code: 'E1' } }),
    ],
    [{ error: 'flat' }, undefined, forwarded({ code: -32603, message: 'flat' })],
    [{ error: unknown }, missing, forwarded({ code: -32602 })],
    [{ error: unknown }, limited, { name: 'AppError', code: 'rate_limited' }],
    ...[null, 'text', 7, []].map((result): [JsonObject, undefined, object] => [
      { result },
      undefined,
      { code: 'bad_response' },
    ]),
    // The host cannot give input.
    [{ result: input }, undefined, { message: expect.stringContaining('city') }],
  ])('fails for the response %j with the HTTP error %j', async (envelope, error, expected) => {
    const { upstream } = upstreamOver([answering({ envelope, error })]);
    expect(await failure(call(upstream))).toMatchObject(expected);
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
});
