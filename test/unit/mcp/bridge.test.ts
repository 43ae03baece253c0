import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../src/client/restaurant.ts';
import { AppError } from '../../../src/errors.ts';
import { Bridge } from '../../../src/mcp/bridge/bridge.ts';
import { ProtocolError } from '../../../src/mcp/bridge/protocol.ts';
import type { Upstream as RealUpstream } from '../../../src/mcp/bridge/upstream.ts';
import { isObject, type JsonObject } from '../../../src/util/json.ts';

type Upstream = Pick<RealUpstream, keyof RealUpstream>;

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const TOOL = { name: 'find_restaurant', inputSchema: { type: 'object' } };

const RESULT = {
  content: [{ type: 'text', text: '{"status":"ok"}' }],
  structuredContent: { status: 'ok' },
  isError: false,
};

const SERVER = { name: 'restaurant', title: expect.any(String), version: expect.stringMatching(/^\d/) };

interface TestBridge {
  readonly bridge: Bridge;
  readonly sent: JsonObject[];
  /** The requests to the service. */
  readonly calls: [method: string, params: JsonObject][];
  /** Sends messages, and waits until the requests among them have begun. */
  begin(...messages: unknown[]): Promise<void>;
  /** Sends messages. @returns the responses, once no request is pending */
  ask(...messages: unknown[]): Promise<JsonObject[]>;
  /** Sends requests. @returns the results and errors by the ids of the requests */
  replies(...requests: unknown[]): Promise<Record<string, unknown>>;
}

interface Fake extends Partial<Upstream> {
  callTool?(name: unknown, args: unknown, options: CallOptions): Promise<JsonObject>;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  onFault?: (fault: unknown) => void;
}

const never = () => new Promise<void>(() => {});

function openBridge({
  callTool = async () => RESULT,
  request = (_method, { name, arguments: args }, options) => callTool(name, args, options),
  sleep = never,
  onFault,
  ...upstream
}: Fake = {}): TestBridge {
  const sent: JsonObject[] = [];
  const calls: [string, JsonObject][] = [];
  const bridge = new Bridge({
    upstream: {
      mayServe: async (name) => isObject((await upstream.capabilities?.())?.[name]),
      listTools: async () => [TOOL],
      listCaching: () => ({}),
      declare: () => {},
      hasTool: (name) => name === TOOL.name,
      capabilities: async () => ({}),
      request: (method, params, options) => {
        calls.push([method, params]);
        return request(method, params, options);
      },
      ...upstream,
    },
    sleep,
    send: (message) => sent.push(JSON.parse(JSON.stringify(message))),
    ...(onFault === undefined ? {} : { onFault }),
  });
  const receive = (messages: readonly unknown[]) => {
    for (const message of messages) bridge.receive({ text: JSON.stringify(message) });
  };
  const ask = async (...messages: unknown[]) => {
    const from = sent.length;
    receive(messages);
    await bridge.idle();
    return sent.slice(from);
  };
  return {
    bridge,
    sent,
    calls,
    async begin(...messages) {
      receive(messages);
      await settle();
    },
    ask,
    replies: async (...requests) =>
      Object.fromEntries((await ask(...requests)).map(({ id, result, error }) => [id, result ?? error])),
  };
}

const request = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: '2.0', id, method, params });
const call = (id: unknown, params: JsonObject = {}) =>
  request(id, 'tools/call', { name: 'find_restaurant', arguments: { name: 'Nopa' }, ...params });
const cancel = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const modern = (version = '2026-07-28') => ({ _meta: { [VERSION_KEY]: version } });

/** A promise and the function that resolves it. */
function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((yes) => {
    resolve = yes;
  });
  return { promise, resolve };
}

/** Waits for the next turn of the event loop. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the handshake', () => {
  it.each([
    ...['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map((version) => [version, version]),
    ...['2026-07-28', '1999-01-01', 7, undefined].map((version) => [version, '2025-11-25']),
  ])('for protocol version %s offers %s', async (version, protocolVersion) => {
    const { replies } = openBridge();
    expect(await replies(request(1, 'initialize', { protocolVersion: version }))).toEqual({
      1: {
        protocolVersion,
        capabilities: { tools: {}, resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
        serverInfo: SERVER,
        instructions: expect.stringContaining('find_restaurant'),
      },
    });
  });

  it('answers ping and server/discover without a handshake or the service', async () => {
    const unused = () => Promise.reject(new Error('sent'));
    const { replies } = openBridge({ listTools: unused, callTool: unused });
    expect(await replies(request('a', 'ping'), request('b', 'server/discover', modern()))).toEqual({
      a: {},
      b: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
        capabilities: { tools: {}, resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
        instructions: expect.any(String),
        ttlMs: expect.any(Number),
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': SERVER },
      },
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
    const codes = sent.map(({ id, error }) => `${id} ${(error as JsonObject | undefined)?.code}`);
    expect(codes.sort()).toEqual([
      '1 -32600',
      '2 undefined',
      ...Array(4).fill('null -32600'),
      ...Array(2).fill('null -32700'),
    ]);
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
    const { replies } = openBridge();
    const wrong = [
      request(1, 'prompts/list'),
      request(2, 'tools/call', { arguments: {} }),
      request(3, 'tools/call', { name: 'x', arguments: [] }),
      request(4, 'tools/list', { cursor: 'zz' }),
      request(5, 'ping', []),
    ];
    const invalid = { code: -32602 };
    expect(await replies(...wrong)).toMatchObject({
      1: { code: -32601 },
      2: invalid,
      3: invalid,
      4: invalid,
      5: invalid,
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
  it('returns failures as tool errors with a hint', async () => {
    const { replies } = openBridge({
      callTool: () =>
        Promise.reject(
          new AppError('rate_limited', 'too many requests (429, wait 7 seconds)', {
            status: 429,
            retryAfter: 7,
            hint: { text: 'try again in 7 seconds' },
          }),
        ),
    });
    const message = 'too many requests (429, wait 7 seconds)';
    const hint = 'try again in 7 seconds';
    expect(await replies(call(1))).toEqual({
      1: {
        isError: true,
        content: [{ type: 'text', text: `${message}\nhint: ${hint}` }],
        _meta: {
          'restaurant/error': {
            code: 'rate_limited',
            message,
            hint,
            retryable: true,
            status: 429,
            retry_after: 7,
          },
        },
      },
    });
  });

  it('reports an unexpected error and continues', async () => {
    const faults: unknown[] = [];
    const { replies } = openBridge({
      callTool: () => Promise.reject(new TypeError('boom')),
      onFault: (fault) => faults.push(fault),
    });
    expect(await replies(call(1), request(2, 'ping'))).toEqual({
      1: { code: -32603, message: 'Internal error' },
      2: {},
    });
    expect(faults).toEqual([new TypeError('boom')]);
  });

  it('responds in the order in which calls end', async () => {
    const slow = deferred<JsonObject>();
    const { ask, begin, sent } = openBridge({
      callTool: (name) => (name === 'slow' ? slow.promise : Promise.resolve(RESULT)),
    });
    await begin(call('slow', { name: 'slow' }), call('fast', { name: 'fast' }));
    expect(sent.map(({ id }) => id)).toEqual(['fast']);
    slow.resolve(RESULT);
    expect((await ask()).map(({ id }) => id)).toEqual(['slow']);
  });

  it('rejects the id of a pending request, and accepts it again afterwards', async () => {
    const wait = deferred<JsonObject>();
    const { begin, sent, ask } = openBridge({ callTool: () => wait.promise });
    await begin(call(1), call(1));
    expect(sent).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    wait.resolve(RESULT);
    expect(await ask(call('1'))).toHaveLength(2);
    expect(await ask(call(1))).toMatchObject([{ id: 1, result: RESULT }]);
  });
});

describe('cancellation', () => {
  it('aborts the call and sends no response, even if the service ignores it', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { bridge, begin, sent } = openBridge({
      callTool: (_name, _args, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    await begin(call(1), call(2));
    await begin(cancel(1));
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
    bridge.stop(new AppError('interrupted', 'the end'));
    await bridge.idle();
    expect(sent).toMatchObject([{ id: 2, result: { isError: true } }]);
  });

  it('removes a call from the queue before it starts', async () => {
    const begun: unknown[] = [];
    const first = deferred<JsonObject>();
    const { bridge, begin, sent } = openBridge({
      callTool: (name) => {
        begun.push(name);
        return first.promise;
      },
    });
    await begin(...Array.from({ length: 10 }, (_, id) => call(id, { name: `tool${id}` })), cancel(8));
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
    const { bridge, begin, sent } = openBridge({
      callTool: async (name) => {
        running += 1;
        most = Math.max(most, running);
        order.push(name);
        await new Promise<void>((resolve) => gates.push(resolve));
        running -= 1;
        return RESULT;
      },
    });
    await begin(...Array.from({ length: 1010 }, (_, id) => call(id, { name: String(id) })));
    expect(sent).toMatchObject([
      { id: 1008, error: { code: -32000 } },
      { id: 1009, error: { code: -32000 } },
    ]);
    await begin(request('p', 'ping'));
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
    const { begin, sent } = openBridge({
      callTool: (_name, _args, { onProgress }) => {
        report = onProgress;
        return new Promise(() => {});
      },
      sleep: (ms) => {
        waits.push(ms);
        return new Promise((resolve) => beats.push(resolve));
      },
    });
    await begin(call(1, { _meta: { progressToken: 't' } }));
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
  it('of a known tool are a tool error, those of an unknown tool stay a JSON-RPC error', async () => {
    const { replies } = openBridge({
      callTool: () => Promise.reject(new ProtocolError(-32602, 'city is required', { at: 'city' })),
    });
    expect(await replies(call(1), call(2, { name: 'other' }))).toEqual({
      1: {
        isError: true,
        content: [{ type: 'text', text: expect.stringMatching(/^city is required\nhint: /) }],
        _meta: { 'restaurant/error': expect.objectContaining({ code: 'tool_error', rpc_code: -32602 }) },
      },
      2: { code: -32602, message: 'city is required', data: { at: 'city' } },
    });
  });
});

describe('metadata', () => {
  it('of the host reaches the service, without its connection and progress token', async () => {
    const { ask, calls } = openBridge();
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
  const forwarding = (capabilities: JsonObject) =>
    openBridge({
      capabilities: async () => capabilities,
      request: async (method) => {
        if (method === 'prompts/get')
          throw new AppError('network', 'refused', { hint: { text: 'try again' } });
        return { of: method };
      },
    });

  it('are forwarded when the service has them, and advertised without change notifications', async () => {
    const all = {
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
      logging: {},
    };
    const { replies, calls } = forwarding(all);
    expect(
      await replies(
        request(1, 'initialize', {}),
        request(2, 'resources/list', { cursor: 'c' }),
        request(3, 'resources/templates/list'),
        request(4, 'resources/read', { uri: 'a:b' }),
        request(5, 'prompts/list'),
        request(6, 'completion/complete', { ref: {} }),
        request(7, 'prompts/get', { name: 'p' }),
        request(8, 'resources/subscribe', { uri: 'a:b' }),
      ),
    ).toEqual({
      1: expect.objectContaining({
        capabilities: {
          tools: {},
          resources: {},
          prompts: {},
          completions: {},
          extensions: { 'io.modelcontextprotocol/skills': {} },
        },
      }),
      2: { of: 'resources/list', resources: [] },
      3: { of: 'resources/templates/list' },
      4: { of: 'resources/read' },
      5: { of: 'prompts/list' },
      6: { of: 'completion/complete' },
      7: { code: -32603, message: 'refused; hint: try again' },
      8: expect.objectContaining({ code: -32601 }),
    });
    expect(calls).toContainEqual(['resources/list', { cursor: 'c' }]);
    expect(calls).toHaveLength(6);
  });

  it('are unknown methods when the service does not have them', async () => {
    const { replies, calls } = forwarding({ prompts: {} });
    expect(
      await replies(
        request(1, 'logging/setLevel'),
        request(2, 'completion/complete'),
        request(3, 'resources/list'),
        request(4, 'resources/templates/list'),
        request(5, 'resources/read', { uri: 'a:b' }),
      ),
    ).toMatchObject({
      1: { code: -32601 },
      2: { code: -32601 },
      3: { resources: [{ uri: 'skill://restaurant/SKILL.md' }] },
      4: { resourceTemplates: [] },
      5: { code: -32602 },
    });
    expect(calls).toEqual([]);
  });
});

describe('a 2026-07-28 host', () => {
  it('gets lists of the service with a lifetime, that of the service first', async () => {
    const { replies } = openBridge({
      capabilities: async () => ({ resources: {}, prompts: {} }),
      request: async (method) =>
        method === 'prompts/list' ? { prompts: [], ttlMs: 7, cacheScope: 'public' } : { resources: [] },
      listCaching: () => ({ ttlMs: 0, cacheScope: 'public' }),
    });
    const lists = ['resources/list', 'prompts/list', 'tools/list'];
    expect(await replies(...lists.map((method) => request(method, method, modern())))).toMatchObject({
      'resources/list': { ttlMs: 0, cacheScope: 'private' },
      'prompts/list': { prompts: [], ttlMs: 7, cacheScope: 'public' },
      'tools/list': { tools: [TOOL], ttlMs: 0, cacheScope: 'public' },
    });
  });

  it('gets complete results, with the name of the server only in _meta', async () => {
    const { replies } = openBridge({ callTool: async () => ({ ...RESULT, _meta: { own: 1 } }) });
    const named = { 'io.modelcontextprotocol/serverInfo': SERVER };
    expect(
      await replies(
        request(1, 'tools/list', modern()),
        call(2, modern()),
        request(3, 'skills/list', modern()),
        request(4, 'tools/list', modern('2031-01-01')),
      ),
    ).toMatchObject({
      1: { tools: [TOOL], resultType: 'complete', ttlMs: 300_000, cacheScope: 'private', _meta: named },
      2: { ...RESULT, resultType: 'complete', _meta: { own: 1, ...named } },
      3: { _meta: named },
      4: {
        code: -32022,
        data: { requested: '2031-01-01', supported: expect.arrayContaining(['2026-07-28']) },
      },
    });
  });
});
