import { describe, expect, it } from 'vitest';
import type { Service } from '../../../src/app/service.ts';
import { DOCUMENTED_TOOLS } from '../../../src/client/documented.ts';
import type { Tool } from '../../../src/client/types.ts';
import { AppError } from '../../../src/errors.ts';
import { LIST_TTL_MS } from '../../../src/mcp/bridge/protocol.ts';
import { openUpstream } from '../../../src/mcp/bridge/upstream.ts';

const TOOL: Tool = { name: 'explore_area', inputSchema: { type: 'object' } };
const signal = new AbortController().signal;

interface Fake {
  tools?: () => Promise<readonly Tool[] | undefined>;
  raw?: () => Promise<unknown>;
}

/** An upstream over services that open one after the other, each as the next function says. */
function upstreamOver(...services: (() => Fake)[]) {
  let opened = 0;
  let time = 0;
  const upstream = openUpstream({
    async connect() {
      const fake = services[Math.min(opened, services.length - 1)];
      opened += 1;
      const { tools = async () => [TOOL], raw } = fake?.() ?? {};
      return { tools, client: { raw } } as unknown as Service;
    },
    profileName: 'work',
    now: () => time,
  });
  return {
    upstream,
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
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the list of tools', () => {
  it('is asked for once, also by many at a time, and again when it is old', async () => {
    let asked = 0;
    const { upstream, pass } = upstreamOver(() => ({
      tools: async () => {
        asked += 1;
        return [TOOL];
      },
    }));
    const lists = await Promise.all([upstream.listTools(), upstream.listTools(), upstream.listTools()]);
    expect(lists).toEqual([[TOOL], [TOOL], [TOOL]]);
    expect(asked).toBe(1);
    pass(LIST_TTL_MS - 1);
    await upstream.listTools();
    expect(asked).toBe(1);
    pass(1);
    await upstream.listTools();
    expect(asked).toBe(2);
  });

  it('gives each tool a schema of an object, without which hosts refuse them all', async () => {
    const tools: Tool[] = [{ name: 'a' }, { name: 'b', inputSchema: { properties: { x: {} } } }];
    const { upstream } = upstreamOver(() => ({ tools: async () => tools }));
    expect(await upstream.listTools()).toEqual([
      { name: 'a', inputSchema: { type: 'object' } },
      { name: 'b', inputSchema: { type: 'object', properties: { x: {} } } },
    ]);
  });

  it.each([404, 405, 400, 501])(
    'is the documented one where the method is answered with %i',
    async (status) => {
      const error = new AppError('http_error', 'not here', { status });
      const { upstream } = upstreamOver(() => ({ tools: () => Promise.reject(error) }));
      expect(await upstream.listTools()).toEqual(DOCUMENTED_TOOLS);
    },
  );

  it.each(['no_key', 'no_service', 'unauthorized', 'bad_config'] as const)(
    'is the documented one for now where a login is missing: %s',
    async (code) => {
      const { upstream, opened } = upstreamOver(failing(new AppError(code, 'no')), () => ({}));
      expect(await upstream.listTools()).toEqual(DOCUMENTED_TOOLS);
      expect(await upstream.listTools()).toEqual([TOOL]);
      expect(opened()).toBe(2);
    },
  );

  it('fails where the service cannot be reached', async () => {
    const error = new AppError('network', 'refused');
    const { upstream, opened } = upstreamOver(() => ({ tools: () => Promise.reject(error) }));
    expect(await caught(upstream.listTools())).toMatchObject({ code: 'network' });
    expect(await caught(upstream.listTools())).toMatchObject({ code: 'network' });
    expect(opened()).toBe(1);
  });
});

describe('a call', () => {
  const RESULT = { content: [], isError: true, extra: [1] };
  const call = (upstream: ReturnType<typeof upstreamOver>['upstream']) =>
    upstream.callTool('explore_area', { city: 'SF' }, { signal });

  it('gives the result as it came', async () => {
    const { upstream } = upstreamOver(answering({ envelope: { jsonrpc: '2.0', id: 1, result: RESULT } }));
    expect(await call(upstream)).toBe(RESULT);
  });

  it('counts a login that came after the failure', async () => {
    const { upstream, opened } = upstreamOver(
      failing(new AppError('no_key', 'no API key for the profile work')),
      answering({ envelope: { result: RESULT } }),
    );
    expect(await caught(call(upstream))).toMatchObject({
      code: 'no_key',
      hint: expect.stringContaining('restaurant login --profile work'),
    });
    expect(await call(upstream)).toBe(RESULT);
    await call(upstream);
    expect(opened()).toBe(2);
  });

  it('opens the service anew when its key was refused', async () => {
    const error = new AppError('unauthorized', 'refused (401)', { status: 401 });
    const { upstream } = upstreamOver(
      answering({ envelope: { error: { code: -32001, message: 'x' } }, error }),
      answering({ envelope: { result: RESULT } }),
    );
    expect(await caught(call(upstream))).toBe(error);
    expect(await call(upstream)).toBe(RESULT);
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
  ])('passes the error %j on', async (error, told) => {
    const { upstream } = upstreamOver(answering({ envelope: { error } }));
    expect(await caught(call(upstream))).toMatchObject({ name: 'ProtocolError', ...told });
  });

  it('passes a JSON-RPC error on that came with an HTTP status, but tells 429 itself', async () => {
    const envelope = { error: { code: -32601, message: 'Method not found' } };
    const asRpc = upstreamOver(
      answering({ envelope, error: new AppError('rpc_error', 'x', { status: 404 }) }),
    );
    expect(await caught(call(asRpc.upstream))).toMatchObject({ name: 'ProtocolError', code: -32601 });
    const limited = upstreamOver(answering({ envelope, error: new AppError('rate_limited', 'slow down') }));
    expect(await caught(call(limited.upstream))).toMatchObject({ name: 'AppError', code: 'rate_limited' });
  });

  it.each([null, 'text', 7, []])('fails where the result is %j', async (result) => {
    const { upstream } = upstreamOver(answering({ envelope: { result } }));
    expect(await caught(call(upstream))).toMatchObject({ code: 'bad_response' });
  });

  it('has hints that fit someone without a command line', async () => {
    const { upstream } = upstreamOver(failing(new AppError('timeout', 'no answer')));
    expect(await caught(call(upstream))).toMatchObject({
      hint: expect.stringContaining('restaurant mcp --timeout'),
    });
  });
});
