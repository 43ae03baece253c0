import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../src/client/restaurant.ts';
import { AppError } from '../../../src/errors.ts';
import { Bridge } from '../../../src/mcp/bridge/bridge.ts';
import type { Upstream } from '../../../src/mcp/bridge/upstream.ts';
import type { JsonObject } from '../../../src/util/json.ts';
import { request } from './lines.ts';

const RESULT = { content: [{ type: 'text', text: '{"status":"ok"}' }], isError: false };

interface Fake {
  callTool?(name: unknown, options: CallOptions): Promise<JsonObject>;
  sleep?(ms: number): Promise<void>;
  onFault?(fault: unknown): void;
}

const never = () => new Promise<never>(() => {});
/** A promise of a result, and the function that resolves it. */
function deferred() {
  let end = (_result: JsonObject) => {};
  const result = new Promise<JsonObject>((resolve) => {
    end = resolve;
  });
  return { result, end };
}
/** Waits for the next turn of the event loop. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A bridge to a service that is a function. */
function openBridge({ callTool = async () => RESULT, sleep = never, ...more }: Fake = {}) {
  const sent: JsonObject[] = [];
  const upstream: Partial<Upstream> = {
    capabilities: async () => ({}),
    listTools: async () => ({ tools: [], caching: { ttlMs: 0, cacheScope: 'public' }, at: 0 }),
    request: (_method, { name }, options) => callTool(name, options),
  };
  const send = (message: unknown) => sent.push(JSON.parse(JSON.stringify(message)));
  const bridge = new Bridge({
    upstream: upstream as Upstream,
    context: { now: () => 0, sleep },
    send,
    ...more,
  });
  return {
    bridge,
    sent,
    ids: () => sent.map(({ id }) => id),
    /** Sends messages, and waits until the requests among them have begun. */
    async begin(...messages: unknown[]) {
      for (const message of messages) bridge.receive({ text: JSON.stringify(message) });
      await settle();
    },
  };
}

const call = (id: unknown, name = 'find_restaurant', _meta?: JsonObject) =>
  request(id, 'tools/call', { name, ...(_meta && { _meta }) });
const cancel = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

it.each([
  ...['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map((version) => [version, version]),
  ...['2026-07-28', '1999-01-01', 7, undefined].map((version) => [version, '2025-11-25']),
])('a handshake for protocol version %s offers %s', async (version, protocolVersion) => {
  const { begin, sent } = openBridge();
  await begin(request(1, 'initialize', { protocolVersion: version }));
  expect(sent).toMatchObject([{ result: { protocolVersion } }]);
});

it('a 2026-07-28 host gets the lifetime of the list, the metadata of a result, and the name of the server', async () => {
  const { bridge, begin, sent } = openBridge({ callTool: async () => ({ ...RESULT, _meta: { own: 1 } }) });
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  await begin(request(2, 'tools/list', { _meta }));
  await begin(call(3, 'x', _meta));
  await bridge.idle();
  const named = { 'io.modelcontextprotocol/serverInfo': { name: 'restaurant' } };
  expect(sent.map(({ result }) => result)).toMatchObject([
    { resultType: 'complete', ttlMs: 0, cacheScope: 'public', tools: [], _meta: named },
    { ...RESULT, resultType: 'complete', _meta: { own: 1, ...named } },
  ]);
});

it('reports a line that cannot be read and an unexpected error, and continues', async () => {
  const faults: unknown[] = [];
  const { bridge, begin, sent } = openBridge({
    callTool: () => Promise.reject(new TypeError('boom')),
    onFault: (fault) => faults.push(fault),
  });
  bridge.receive({ problem: 'the line is too long' });
  await begin(call(1), request(2, 'ping'));
  expect(sent).toEqual(
    expect.arrayContaining([
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error: the line is too long' } },
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]),
  );
  expect(faults).toEqual([new TypeError('boom')]);
});

describe('calls at the same time', () => {
  it('are answered in the order in which they end', async () => {
    const slow = deferred();
    const { bridge, begin, ids } = openBridge({
      callTool: async (name) => (name === 'slow' ? slow.result : RESULT),
    });
    await begin(call('slow', 'slow'), call('fast'));
    expect(ids()).toEqual(['fast']);
    slow.end(RESULT);
    await bridge.idle();
    expect(ids()).toEqual(['fast', 'slow']);
  });

  it('cannot have the same id, which is free again afterwards', async () => {
    const { result, end } = deferred();
    const { bridge, begin, sent, ids } = openBridge({ callTool: () => result });
    await begin(call(1), call(1), call('1'));
    expect(sent).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    end(RESULT);
    await bridge.idle();
    await begin(call(1));
    expect(ids()).toEqual([1, 1, '1', 1]);
    expect(sent.at(-1)).toMatchObject({ result: RESULT });
  });

  it('are aborted by their cancellation, without a response even if the service ignores it', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { bridge, begin, sent } = openBridge({
      callTool: (_name, { signal }) => {
        signals.push(signal);
        return never();
      },
    });
    await begin(call(1), call(2), cancel(1));
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
    bridge.stop(new AppError('interrupted', 'the end'));
    await bridge.idle();
    expect(sent).toMatchObject([{ id: 2, result: { isError: true } }]);
  });

  it('are eight, in order; those that wait can be cancelled, and 1,000 may wait', async () => {
    let running = 0;
    let most = 0;
    const order: unknown[] = [];
    const gates: (() => void)[] = [];
    const { bridge, begin, sent, ids } = openBridge({
      callTool: async (name) => {
        running += 1;
        most = Math.max(most, running);
        order.push(name);
        await new Promise<void>((resolve) => gates.push(resolve));
        running -= 1;
        return RESULT;
      },
    });
    const all = Array.from({ length: 1010 }, (_, id) => id);
    await begin(...all.map((id) => call(id, String(id))));
    expect(sent).toMatchObject([1008, 1009].map((id) => ({ id, error: { code: -32000 } })));
    await begin(request('p', 'ping'), cancel(8));
    expect(sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
    while (gates.length > 0) {
      for (const open of gates.splice(0)) open();
      await settle();
    }
    await bridge.idle();
    expect(most).toBe(8);
    const begun = all.filter((id) => id < 1008 && id !== 8);
    expect(order).toEqual(begun.map(String));
    expect(ids()).toEqual([1008, 1009, 'p', ...begun]);
  });
});

describe('progress', () => {
  it('has the token of the host, precedes the response by 50 ms, never follows the response, and is requested only by the host', async () => {
    const tell: CallOptions['onProgress'][] = [];
    const gaps: number[] = [];
    let end = () => {};
    const { bridge, begin, sent } = openBridge({
      callTool: async (_name, { onProgress }) => {
        tell.push(onProgress);
        onProgress?.({ progressToken: 44, progress: 1, total: 2, message: 'half' });
        return RESULT;
      },
      sleep: (ms) => {
        gaps.push(ms);
        return new Promise((resolve) => {
          end = resolve;
        });
      },
    });
    await begin(call(1, 'x', { progressToken: 0 }));
    expect(sent).toHaveLength(1);
    expect(gaps).toEqual([5000, 50]);
    end();
    await bridge.idle();
    await begin(call(2), call(3, 'x', {}));
    tell[0]?.({ progress: 2 });
    expect(sent).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 0, progress: 1, total: 2, message: 'half' },
      },
      ...[1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, result: RESULT })),
    ]);
    expect(tell.slice(1)).toEqual([undefined, undefined]);
  });

  it('is a sign of life every 5 s, until the service reports its own', async () => {
    let report: ((progress: JsonObject) => void) | undefined;
    const beats: (() => void)[] = [];
    const waits: number[] = [];
    const { begin, sent } = openBridge({
      callTool: (_name, { onProgress }) => {
        report = onProgress;
        return never();
      },
      sleep: (ms) => {
        waits.push(ms);
        return new Promise((resolve) => beats.push(resolve));
      },
    });
    await begin(call(1, 'x', { progressToken: 't' }));
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
