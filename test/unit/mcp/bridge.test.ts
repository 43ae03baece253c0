import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../src/client/restaurant.ts';
import { AppError } from '../../../src/errors.ts';
import { Bridge } from '../../../src/mcp/bridge/bridge.ts';
import { ProtocolError } from '../../../src/mcp/bridge/protocol.ts';
import type { Upstream as RealUpstream } from '../../../src/mcp/bridge/upstream.ts';
import { isObject, type JsonObject } from '../../../src/util/object.ts';

type Upstream = Pick<RealUpstream, keyof RealUpstream>;

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const TOOL = { name: 'find_restaurant', inputSchema: { type: 'object' } };

const RESULT = {
  content: [{ type: 'text', text: '{"status":"ok"}' }],
  structuredContent: { status: 'ok' },
  isError: false,
};

interface TestBridge {
  readonly bridge: Bridge;
  readonly sent: JsonObject[];
  /** Sends messages. @returns the responses, once no request is pending */
  ask(...messages: unknown[]): Promise<JsonObject[]>;
}

interface Fake extends Partial<Upstream> {
  callTool?(name: unknown, args: unknown, options: CallOptions): Promise<JsonObject>;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  onFault?: (fault: unknown) => void;
}

const never = () => new Promise<void>(() => {});

function openBridge({
  callTool = async () => RESULT,
  sleep = never,
  onFault,
  ...upstream
}: Fake = {}): TestBridge {
  const sent: JsonObject[] = [];
  const bridge = new Bridge({
    upstream: {
      mayServe: async (name) => isObject((await upstream.capabilities?.())?.[name]),
      listTools: async () => [TOOL],
      listCaching: () => ({}),
      declare: () => {},
      hasTool: (name) => name === TOOL.name,
      capabilities: async () => ({}),
      request: (_method, params, options) => callTool(params.name, params.arguments, options),
      ...upstream,
    },
    sleep,
    send: (message) => sent.push(JSON.parse(JSON.stringify(message))),
    ...(onFault === undefined ? {} : { onFault }),
  });
  return {
    bridge,
    sent,
    async ask(...messages) {
      const from = sent.length;
      for (const message of messages) bridge.receive({ text: JSON.stringify(message) });
      await bridge.idle();
      return sent.slice(from);
    },
  };
}

const request = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: '2.0', id, method, params });
const call = (id: unknown, params: JsonObject = {}) =>
  request(id, 'tools/call', { name: 'find_restaurant', arguments: { name: 'Nopa' }, ...params });
const modern = (version = '2026-07-28') => ({ _meta: { [VERSION_KEY]: version } });

/** A promise with its resolve and reject functions. */
function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Waits for the next turn of the event loop. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the handshake', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'accepts protocol version %s',
    async (version) => {
      const [answer] = await openBridge().ask(request(1, 'initialize', { protocolVersion: version }));
      expect(answer).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion: version,
          capabilities: { tools: {}, resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
          serverInfo: {
            name: 'restaurant',
            title: expect.any(String),
            version: expect.stringMatching(/^\d/),
          },
          instructions: expect.stringContaining('find_restaurant'),
        },
      });
    },
  );

  it.each(['2026-07-28', '1999-01-01', 7, undefined])('offers its newest version for %s', async (version) => {
    const [answer] = await openBridge().ask(request(1, 'initialize', { protocolVersion: version }));
    expect(answer?.result).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  it('answers ping and server/discover without a handshake or the service', async () => {
    const unused = () => Promise.reject(new Error('sent'));
    const [ping, discovery] = await openBridge({ listTools: unused, callTool: unused }).ask(
      request('a', 'ping'),
      request('b', 'server/discover', modern()),
    );
    expect(ping).toEqual({ jsonrpc: '2.0', id: 'a', result: {} });
    expect(discovery?.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      capabilities: { tools: {} },
      ttlMs: expect.any(Number),
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'restaurant' } },
    });
  });
});

describe('other messages', () => {
  it('return -32700 or -32600 with the id if there is one, and the bridge continues', async () => {
    const { bridge, sent } = openBridge();
    const lines = ['{', '[]', '7', '{"id":1}', '{"jsonrpc":"2.0","id":null,"method":"ping"}'];
    for (const text of [...lines, '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}']) {
      bridge.receive({ text });
    }
    bridge.receive({ problem: 'the line is longer than 20971520 bytes' });
    bridge.receive({ text: JSON.stringify(request(2, 'ping')) });
    await bridge.idle();
    const codes = sent.map(({ id, error }) => [id, (error as JsonObject | undefined)?.code]);
    expect(codes).toEqual(
      expect.arrayContaining([
        [null, -32700],
        [1, -32600],
        [2, undefined],
      ]),
    );
    expect(sent).toHaveLength(8);
    expect(codes.filter(([id]) => id === null).map(([, code]) => code)).toEqual(
      expect.arrayContaining([-32700, -32600, -32600, -32600, -32600, -32700]),
    );
  });

  it('get no response when they are notifications or responses', async () => {
    const answers = await openBridge().ask(
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'unknown' } },
      { jsonrpc: '2.0', method: 'tools/call', params: {} },
      { jsonrpc: '2.0', id: 5, result: {} },
      { jsonrpc: '2.0', id: 5, error: { code: 1, message: 'x' } },
    );
    expect(answers).toEqual([]);
  });

  it('return -32601 for unknown methods and -32602 for wrong params', async () => {
    const answers = await openBridge().ask(
      request(1, 'prompts/list'),
      request(2, 'tools/call', { arguments: {} }),
      request(3, 'tools/call', { name: 'x', arguments: [] }),
      request(4, 'tools/list', { cursor: 'zz' }),
      request(5, 'ping', []),
    );
    expect(Object.fromEntries(answers.map(({ id, error }) => [id, (error as JsonObject).code]))).toEqual({
      1: -32601,
      2: -32602,
      3: -32602,
      4: -32602,
      5: -32602,
    });
  });

  it('return a batch for a batch', async () => {
    const [batch, ...more] = await openBridge().ask([
      request(1, 'ping'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      request(2, 'tools/list'),
      7,
    ]);
    expect(more).toEqual([]);
    expect(batch).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: { tools: [TOOL] } },
      { id: null, error: { code: -32600 } },
    ]);
  });
});

describe('tools/call', () => {
  it('forwards name and arguments, and returns the result as received', async () => {
    const calls: unknown[] = [];
    const { ask } = openBridge({
      callTool: async (name, args) => {
        calls.push([name, args]);
        return RESULT;
      },
    });
    expect(await ask(call(7), request(8, 'tools/call', { name: 'other' }))).toEqual([
      { jsonrpc: '2.0', id: 7, result: RESULT },
      { jsonrpc: '2.0', id: 8, result: RESULT },
    ]);
    expect(calls).toEqual([
      ['find_restaurant', { name: 'Nopa' }],
      ['other', {}],
    ]);
  });

  it('forwards a tool error and a JSON-RPC error of the service', async () => {
    const failed = { isError: true, content: [{ type: 'text', text: 'no such city' }] };
    const { ask } = openBridge({
      callTool: async (name) => {
        if (name === 'a') return failed;
        throw new ProtocolError(-32602, 'Unknown tool', { name });
      },
    });
    const answers = await ask(call(1, { name: 'a' }), call(2, { name: 'b' }));
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 1, result: failed },
      { jsonrpc: '2.0', id: 2, error: { code: -32602, message: 'Unknown tool', data: { name: 'b' } } },
    ]);
  });

  it('returns failures as tool errors with a hint', async () => {
    const { ask } = openBridge({
      callTool: async () => {
        throw new AppError('rate_limited', 'too many requests (429, wait 7 seconds)', {
          status: 429,
          retryAfter: 7,
          hint: { text: 'try again in 7 seconds' },
        });
      },
    });
    const [answer] = await ask(call(1));
    expect(answer?.result).toEqual({
      isError: true,
      content: [
        { type: 'text', text: 'too many requests (429, wait 7 seconds)\nhint: try again in 7 seconds' },
      ],
      _meta: {
        'restaurant/error': {
          code: 'rate_limited',
          message: 'too many requests (429, wait 7 seconds)',
          hint: 'try again in 7 seconds',
          retryable: true,
          status: 429,
          retry_after: 7,
        },
      },
    });
  });

  it('reports an unexpected error and continues', async () => {
    const faults: unknown[] = [];
    const { ask, sent } = openBridge({
      callTool: async () => {
        throw new TypeError('boom');
      },
      onFault: (fault) => faults.push(fault),
    });
    await ask(call(1), request(2, 'ping'));
    expect(sent).toContainEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: 'Internal error' },
    });
    expect(sent).toContainEqual({ jsonrpc: '2.0', id: 2, result: {} });
    expect(faults).toEqual([new TypeError('boom')]);
  });

  it('responds in the order in which calls end', async () => {
    const slow = deferred<JsonObject>();
    const { ask, bridge, sent } = openBridge({
      callTool: (name) => (name === 'slow' ? slow.promise : Promise.resolve(RESULT)),
    });
    bridge.receive({ text: JSON.stringify(call('slow', { name: 'slow' })) });
    bridge.receive({ text: JSON.stringify(call('fast', { name: 'fast' })) });
    await settle();
    expect(sent.map(({ id }) => id)).toEqual(['fast']);
    slow.resolve(RESULT);
    await ask();
    expect(sent.map(({ id }) => id)).toEqual(['fast', 'slow']);
  });

  it('rejects the id of a pending request, and accepts it again afterwards', async () => {
    const wait = deferred<JsonObject>();
    const { bridge, sent, ask } = openBridge({ callTool: () => wait.promise });
    bridge.receive({ text: JSON.stringify(call(1)) });
    bridge.receive({ text: JSON.stringify(call(1)) });
    await settle();
    expect(sent).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    wait.resolve(RESULT);
    expect(await ask(call('1'))).toHaveLength(2);
    expect(await ask(call(1))).toMatchObject([{ id: 1, result: RESULT }]);
  });
});

describe('cancellation', () => {
  const cancel = (requestId: unknown) => ({
    text: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
  });

  it('aborts the call and sends no response, even if the service ignores it', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { bridge, sent } = openBridge({
      callTool: (_name, _args, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    bridge.receive({ text: JSON.stringify(call(1)) });
    bridge.receive({ text: JSON.stringify(call(2)) });
    await settle();
    bridge.receive(cancel(1));
    await settle();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
    bridge.stop(new AppError('interrupted', 'the end'));
    await bridge.idle();
    expect(sent).toMatchObject([{ id: 2, result: { isError: true } }]);
  });

  it('removes a call from the queue before it starts', async () => {
    const begun: unknown[] = [];
    const first = deferred<JsonObject>();
    const { bridge, sent } = openBridge({
      callTool: (name) => {
        begun.push(name);
        return first.promise;
      },
    });
    for (let id = 0; id < 10; id += 1) {
      bridge.receive({ text: JSON.stringify(call(id, { name: `tool${id}` })) });
    }
    bridge.receive(cancel(8));
    await settle();
    expect(begun).toHaveLength(8);
    first.resolve(RESULT);
    await bridge.idle();
    expect(begun).toHaveLength(9);
    expect(begun).not.toContain('tool8');
    expect(sent.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 9]);
  });
});

describe('load', () => {
  it('runs eight calls at a time, in order, and rejects calls when 1,000 are waiting', async () => {
    let running = 0;
    let most = 0;
    const order: unknown[] = [];
    const gates: (() => void)[] = [];
    const { bridge, sent } = openBridge({
      callTool: async (name) => {
        running += 1;
        most = Math.max(most, running);
        order.push(name);
        await new Promise<void>((resolve) => gates.push(resolve));
        running -= 1;
        return RESULT;
      },
    });
    for (let id = 0; id < 1010; id += 1) {
      bridge.receive({ text: JSON.stringify(call(id, { name: String(id) })) });
    }
    await settle();
    expect(sent).toMatchObject([
      { id: 1008, error: { code: -32000 } },
      { id: 1009, error: { code: -32000 } },
    ]);
    bridge.receive({ text: JSON.stringify(request('p', 'ping')) });
    await settle();
    expect(sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
    while (gates.length > 0) {
      for (const open of gates.splice(0)) open();
      await settle();
    }
    await bridge.idle();
    expect(most).toBe(8);
    expect(order).toEqual(Array.from({ length: 1008 }, (_, id) => String(id)));
    expect(sent).toHaveLength(1011);
  });
});

describe('progress', () => {
  it('has the token of the host, and never follows the response', async () => {
    let tell: ((progress: JsonObject) => void) | undefined;
    const { ask, sent } = openBridge({
      callTool: async (_name, _args, { onProgress }) => {
        tell = onProgress;
        onProgress?.({ progressToken: 44, progress: 1, total: 2, message: 'half' });
        return RESULT;
      },
    });
    await ask(call(1, { _meta: { progressToken: 'mine' } }));
    tell?.({ progress: 2 });
    expect(sent).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'mine', progress: 1, total: 2, message: 'half' },
      },
      { jsonrpc: '2.0', id: 1, result: RESULT },
    ]);
  });

  it('is not requested unless the host requests it', async () => {
    const wanted: boolean[] = [];
    const { ask } = openBridge({
      callTool: async (_name, _args, options) => {
        wanted.push(options.onProgress !== undefined);
        return RESULT;
      },
    });
    await ask(call(1), call(2, { _meta: {} }), call(3, { _meta: { progressToken: 0 } }));
    expect(wanted).toEqual([false, false, true]);
  });
});

describe('waiting', () => {
  it('is reported every 5 s to a host that requested progress, until the service reports its own', async () => {
    let report: ((progress: JsonObject) => void) | undefined;
    const beats: (() => void)[] = [];
    const waits: number[] = [];
    const { bridge, sent } = openBridge({
      callTool: (_name, _args, { onProgress }) => {
        report = onProgress;
        return new Promise(() => {});
      },
      sleep: (ms) => {
        waits.push(ms);
        return new Promise((resolve) => beats.push(resolve));
      },
    });
    bridge.receive({ text: JSON.stringify(call(1, { _meta: { progressToken: 't' } })) });
    await settle();
    for (let beat = 0; beat < 3; beat += 1) {
      if (beat === 2) report?.({ progress: 1 });
      beats[beat]?.();
      await settle();
    }
    expect(waits).toEqual([5000, 5000, 5000, 5000]);
    expect(sent.map(({ params }) => params)).toEqual([
      { progressToken: 't', progress: 0.001, message: 'waiting for the service' },
      { progressToken: 't', progress: 0.002, message: 'waiting for the service' },
      { progressToken: 't', progress: 1 },
    ]);
  });
});

describe('invalid arguments', () => {
  const rejecting = {
    callTool: async () => {
      throw new ProtocolError(-32602, 'city is required');
    },
  };

  it('of a known tool are a tool error', async () => {
    const [answer] = await openBridge(rejecting).ask(call(1));
    expect(answer?.result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/^city is required\nhint: /) }],
      _meta: { 'restaurant/error': { code: 'tool_error', rpc_code: -32602 } },
    });
  });

  it('of an unknown tool stay a JSON-RPC error', async () => {
    const [answer] = await openBridge(rejecting).ask(call(1, { name: 'other' }));
    expect(answer?.error).toEqual({ code: -32602, message: 'city is required' });
  });
});

describe('metadata', () => {
  it('of the host reaches the service, without its connection and progress token', async () => {
    const calls: unknown[] = [];
    const { ask } = openBridge({
      request: async (method, params) => {
        calls.push([method, params]);
        return RESULT;
      },
    });
    const meta = { traceparent: '00-1', progressToken: 1, [VERSION_KEY]: '2026-07-28', 'x/y': { a: 1 } };
    await ask(
      call(1, { _meta: meta, task: {} }),
      call(2, { _meta: { progressToken: 1 } }),
      call(3, { _meta: 7 }),
    );
    const own = { name: 'find_restaurant', arguments: { name: 'Nopa' } };
    expect(calls).toEqual([
      ['tools/call', { ...own, _meta: { traceparent: '00-1', 'x/y': { a: 1 } } }],
      ['tools/call', own],
      ['tools/call', own],
    ]);
  });
});

describe('resources, prompts and completion', () => {
  const forwarding = (capabilities: JsonObject, calls: unknown[] = []) =>
    openBridge({
      capabilities: async () => capabilities,
      request: async (method, params) => {
        calls.push([method, params]);
        if (method === 'prompts/get')
          throw new AppError('network', 'refused', { hint: { text: 'try again' } });
        return { of: method };
      },
    });

  it('are forwarded when the service has them, and advertised without change notifications', async () => {
    const calls: unknown[] = [];
    const all = {
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
      logging: {},
    };
    const { ask } = forwarding(all, calls);
    const answers = await ask(
      request(1, 'initialize', {}),
      request(2, 'resources/list', { cursor: 'c' }),
      request(3, 'resources/templates/list'),
      request(4, 'resources/read', { uri: 'a:b' }),
      request(5, 'prompts/list'),
      request(6, 'completion/complete', { ref: {} }),
      request(7, 'prompts/get', { name: 'p' }),
      request(8, 'resources/subscribe', { uri: 'a:b' }),
    );
    const byId = Object.fromEntries(answers.map(({ id, result, error }) => [id, result ?? error]));
    expect(byId[1]).toMatchObject({
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    });
    expect(Object.keys((byId[1] as { capabilities: object }).capabilities)).toHaveLength(5);
    expect(byId[2]).toEqual({ of: 'resources/list', resources: [] });
    expect(byId[7]).toEqual({ code: -32603, message: 'refused; hint: try again' });
    expect(byId[8]).toMatchObject({ code: -32601 });
    expect(calls).toContainEqual(['resources/list', { cursor: 'c' }]);
    expect(calls).toHaveLength(6);
  });

  it('are unknown methods when the service does not have them', async () => {
    const calls: unknown[] = [];
    const { ask } = forwarding({ prompts: {} }, calls);
    const unknown = await ask(request(1, 'logging/setLevel'), request(2, 'completion/complete'));
    expect(unknown).toMatchObject([{ error: { code: -32601 } }, { error: { code: -32601 } }]);
    const answers = await ask(
      request(3, 'resources/list'),
      request(4, 'resources/templates/list'),
      request(5, 'resources/read', { uri: 'a:b' }),
    );
    expect(Object.fromEntries(answers.map(({ id, result, error }) => [id, result ?? error]))).toMatchObject({
      3: { resources: [{ uri: 'skill://restaurant/SKILL.md' }] },
      4: { resourceTemplates: [] },
      5: { code: -32602 },
    });
    expect(calls).toEqual([]);
  });
});

describe('a 2026-07-28 host', () => {
  it('gets lists of the service with a lifetime, that of the service first', async () => {
    const { ask } = openBridge({
      capabilities: async () => ({ resources: {}, prompts: {} }),
      request: async (method) =>
        method === 'prompts/list' ? { prompts: [], ttlMs: 7, cacheScope: 'public' } : { resources: [] },
      listCaching: () => ({ ttlMs: 0, cacheScope: 'public' }),
    });
    const [resources] = await ask(request(1, 'resources/list', modern()));
    const [prompts] = await ask(request(2, 'prompts/list', modern()));
    const [tools] = await ask(request(3, 'tools/list', modern()));
    expect(resources?.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    expect(prompts?.result).toMatchObject({ prompts: [], ttlMs: 7, cacheScope: 'public' });
    expect(tools?.result).toMatchObject({ tools: [TOOL], ttlMs: 0, cacheScope: 'public' });
  });

  it('gets complete results, and lists with a lifetime', async () => {
    const { ask } = openBridge({ callTool: async () => ({ ...RESULT, _meta: { own: 1 } }) });
    const [list] = await ask(request(1, 'tools/list', modern()));
    expect(list?.result).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope: 'private' });
    const [result] = await ask(call(2, modern()));
    expect(result?.result).toMatchObject({
      ...RESULT,
      resultType: 'complete',
      _meta: { own: 1, 'io.modelcontextprotocol/serverInfo': { name: 'restaurant' } },
    });
  });

  it('gets the name of the server only in _meta', async () => {
    const [discovery] = await openBridge().ask(request(1, 'server/discover', modern()));
    expect(discovery?.result).not.toHaveProperty('serverInfo');
    const [skills] = await openBridge().ask(request(2, 'skills/list', modern()));
    for (const { result } of [discovery, skills] as { result: JsonObject }[]) {
      expect(result._meta).toMatchObject({
        'io.modelcontextprotocol/serverInfo': { name: 'restaurant', version: expect.any(String) },
      });
    }
  });

  it('gets -32022 for an unknown version', async () => {
    const [answer] = await openBridge().ask(request(1, 'tools/list', modern('2031-01-01')));
    expect(answer?.error).toMatchObject({
      code: -32022,
      data: { requested: '2031-01-01', supported: expect.arrayContaining(['2026-07-28']) },
    });
  });
});
