import { describe, expect, it } from 'vitest';
import { askFor } from '../../../src/client/mcp/input.ts';
import { AppError } from '../../../src/errors.ts';
import { Host, Parking } from '../../../src/mcp/bridge/input.ts';
import { untilAborted } from '../../../src/util/async.ts';
import type { JsonObject } from '../../../src/util/json.ts';

const { signal } = new AbortController();
const QUESTION = { method: 'elicitation/create', params: { message: 'who?' } };
const BOOK = { name: 'book', arguments: { seats: 2 } };

/** A parking whose time passes on demand, and a call that asks for input twice. */
function openParking() {
  const ends: (() => void)[] = [];
  const signals: AbortSignal[] = [];
  const parking = new Parking(
    (_ms, aborted) =>
      new Promise((resolve, reject) => {
        ends.push(resolve);
        aborted?.addEventListener('abort', () => reject(aborted.reason));
      }),
  );
  const call = (params: JsonObject) =>
    parking.call('tools/call', params, signal, async (answer, callSignal) => {
      signals.push(callSignal);
      const [first, second] = [await answer(QUESTION), await answer(QUESTION)];
      return { content: [first.content, second.content] };
    });
  const answered = (previous: JsonObject, content: string) =>
    call({ ...BOOK, requestState: previous.requestState, inputResponses: { input: { content } } });
  return { parking, call, answered, ends, signals };
}

const refused = { code: -32602, message: expect.stringContaining('the call has ended') };

describe('a parked call', () => {
  it('returns each request for input as a result, then the result', async () => {
    const { call, answered, signals } = openParking();
    const first = await call(BOOK);
    expect(first).toMatchObject({ resultType: 'input_required', inputRequests: { input: QUESTION } });
    const second = await answered(first, 'Ada');
    expect(second.requestState).not.toBe(first.requestState);
    expect(await answered(second, 'Ben')).toEqual({ content: ['Ada', 'Ben'] });
    expect(signals).toHaveLength(1);
  });

  it('is continued only once, and only by the same request', async () => {
    const { call, answered } = openParking();
    const first = await call(BOOK);
    await answered(first, 'Ada');
    await expect(answered(first, 'Ada')).rejects.toMatchObject(refused);
    const { requestState } = await call(BOOK);
    const other = { name: 'cancel', requestState, inputResponses: { input: {} } };
    await expect(call(other)).rejects.toMatchObject(refused);
  });

  it('ends with the request that waits for it', async () => {
    const controller = new AbortController();
    const never = (_answer: unknown, callSignal: AbortSignal) =>
      untilAborted(new Promise<never>(() => {}), callSignal);
    const pending = openParking().parking.call('tools/call', BOOK, controller.signal, never);
    controller.abort(new Error('cancelled'));
    await expect(pending).rejects.toThrow('cancelled');
  });

  it('ends when the host does not repeat it in time, or the bridge stops', async () => {
    const { parking, call, answered, ends, signals } = openParking();
    const first = await call(BOOK);
    ends[0]?.();
    await expect.poll(() => signals[0]?.aborted).toBe(true);
    await expect(answered(first, 'Ada')).rejects.toMatchObject(refused);
    await call(BOOK);
    parking.stop(new AppError('interrupted', 'stopped'));
    expect(signals[1]?.reason).toMatchObject({ message: 'stopped' });
  });
});

describe('a request to a host', () => {
  const open = () => {
    const sent: JsonObject[] = [];
    return { sent, host: new Host((message) => sent.push(message)) };
  };

  it('gets the response with its id', async () => {
    const { sent, host } = open();
    const [one, two] = [host.ask(QUESTION, signal), host.ask(QUESTION, signal)];
    const [first, second] = sent.map(({ id }) => id);
    host.receive({ id: 'unknown', result: {} });
    host.receive({ id: second, result: { action: 'decline' } });
    host.receive({ id: first, error: { message: 'no screen' } });
    expect(await two).toEqual({ action: 'decline' });
    await expect(one).rejects.toThrow('refused the request for input: no screen');
  });

  it('is cancelled with its call', async () => {
    const { sent, host } = open();
    const controller = new AbortController();
    const asked = host.ask(QUESTION, controller.signal);
    controller.abort(new Error('cancelled'));
    await expect(asked).rejects.toThrow('cancelled');
    expect(sent[1]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: sent[0]?.id } });
  });
});

it('the time limit of a call stands still while it waits for input', async () => {
  let now = 1000;
  const state = { effect: 'write', signal, deadline: 2000, totalMs: 1000 } as const;
  const limits = { ...state, deadline: 2000 as number };
  const source = {
    capabilities: {},
    answer: async () => {
      expect(limits.deadline).toBeGreaterThan(60_000);
      now += 30_000;
      return {};
    },
  };
  await askFor(QUESTION, source, limits, { now: () => now });
  expect(limits.deadline).toBe(32_000);
});
