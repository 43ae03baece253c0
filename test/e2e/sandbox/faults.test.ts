import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Code } from '../../../src/errors.ts';
import { createFaults, FAULT_KINDS, type FaultKind, parseFault } from '../../../src/sandbox/faults.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { SEARCH } from '../../faults/suite.ts';
import { expectSurvived } from '../../faults/survival.ts';
import { skippingClock } from '../../helpers/clock.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { PAID } from '../../helpers/service.ts';
import { dial, NOPA, post, start, wire } from './http.ts';

describe('parseFault', () => {
  it.each(FAULT_KINDS)('accepts %s', (kind) => {
    expect(parseFault(kind)).toEqual({ kind, rate: 1 });
    expect(parseFault(`${kind}:0.25`)).toEqual({ kind, rate: 0.25 });
    expect(parseFault(`${kind}:3x`)).toEqual({ kind, rate: 1, first: 3 });
  });

  it.each([
    ...['', 'teapot', '418', ':1', '503 ', '503:', '503:2', '503:-1', '503:x', '503:0x', '503:0x1'],
    ...['503:1e-1', '503:NaN', '503:0.1:2'],
  ])('rejects %j', (text) => {
    expect(() => parseFault(text)).toThrowError(expect.objectContaining({ code: 'usage' }));
  });

  it('lists the kinds in the error', () => {
    expect(() => parseFault('teapot')).toThrow(FAULT_KINDS.join(', '));
  });

  it('accepts every rate from 0 to 1', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), (thousandths) => {
        expect(parseFault(`500:${thousandths / 1000}`).rate).toBe(thousandths / 1000);
      }),
    );
  });
});

describe('createFaults', () => {
  it('applies a fault to the given share of requests', () => {
    const draws = [0, 0.1, 0.24, 0.25, 0.3, 0.99];
    const choose = createFaults([{ kind: '500', rate: 0.25 }], () => draws.shift() ?? 0);
    const struck = draws.slice().map(() => choose('tool'));
    expect(struck).toEqual(['500', '500', '500', undefined, undefined, undefined]);
  });

  it('applies a fault to the first requests only, then the next fault', () => {
    const choose = createFaults([parseFault('503:2x'), parseFault('429:1x')], () => 0);
    expect([1, 2, 3, 4].map(() => choose('tool'))).toEqual(['503', '503', '429', undefined]);
  });

  it('skips requests that a fault does not apply to', () => {
    const choose = createFaults([parseFault('bad-text')], () => 0);
    expect([choose('other'), choose('request'), choose('tool')]).toEqual([undefined, undefined, 'bad-text']);
    expect(createFaults([parseFault('truncate')], () => 0)('other')).toBeUndefined();
    expect(createFaults([parseFault('503')], () => 0)('other')).toBe('503');
  });
});

/** How a search ends: with exit code, error, its message, number of requests, and waits in ms. */
const ENDINGS: Readonly<
  Record<FaultKind, readonly [exit: number, code: Code, message: string, requests: number, waits?: number[]]>
> = {
  '401': [4, 'unauthorized', '(401)', 1],
  '403': [4, 'forbidden', '(403)', 1],
  '429': [5, 'rate_limited', '429', 3, [1125, 1125]],
  '500': [7, 'http_error', 'HTTP 500', 3],
  '503': [7, 'http_error', 'HTTP 503', 3, [1125, 1125]],
  reset: [6, 'network', 'closed the connection without a response', 3],
  hang: [6, 'timeout', 'no response from', 1],
  slow: [6, 'timeout', 'did not finish within', 1],
  truncate: [6, 'network', 'in the middle of its response', 3],
  html: [7, 'bad_response', 'got a web page', 1],
  'bad-json': [7, 'bad_response', 'ends early', 2],
  'bad-text': [7, 'bad_response', 'not JSON', 1],
  'tool-error': [7, 'tool_error', 'tool-error', 1],
  'rpc-error': [7, 'rpc_error', '-32603', 1],
  'sse-cut': [6, 'network', 'without a response', 2],
  'wrong-id': [7, 'bad_response', 'with id 1', 1],
  huge: [7, 'bad_response', '64 MiB', 1],
};

describe.concurrent.each(['json', 'sse'] as const)('a search ends as expected with %s responses', (reply) => {
  async function search(fault: string, ...more: string[]) {
    const faults = [parseFault(fault)];
    const sandbox = await startSandbox({ reply, perMinute: 0, perDay: 0, faults });
    const env = { RESTAURANT_BASE_URL: sandbox.baseUrl, RESTAURANT_API_KEY: PAID, RESTAURANT_MAX_AGE: '0' };
    const clock = skippingClock();
    const options = { env: { ...newHome().env, ...env }, ...clock };
    const transcript = await runCli([...SEARCH, '--json', ...more], options);
    await sandbox.close();
    return { transcript, sent: sandbox.requests, waits: clock.waits };
  }

  /** Searches within a time limit. A busy machine may need a longer one to get as far as the message. */
  async function searchInTime(kind: FaultKind, message: string) {
    for (const limit of ['300ms', '1s', '5s']) {
      const made = await search(kind, '--timeout', limit);
      if (made.transcript.stderr.includes(message)) return made;
    }
    return search(kind, '--timeout', '20s');
  }

  it.each(FAULT_KINDS)('and the fault %s', async (kind) => {
    const [exit, code, message, requests, waits] = ENDINGS[kind];
    const made = code === 'timeout' ? await searchInTime(kind, message) : await search(kind);
    expectSurvived(made.transcript, { form: 'json', exit, code, message });
    expect(made.sent).toHaveLength(requests);
    if (waits !== undefined) expect(made.waits).toEqual(waits);
    if (kind === 'reset') expect(made.sent[0]?.status).toBe(0);
  });

  it.each(FAULT_KINDS.filter((kind) => ENDINGS[kind][3] > 1))(
    'and the fault %s in the first response only',
    async (kind) => {
      const made = await search(`${kind}:1x`);
      expectSurvived(made.transcript, { form: 'json', exit: 0 });
      expect(made.sent).toHaveLength(2);
    },
  );
});

it.each([
  ['goes beyond 64 MiB', Number.POSITIVE_INFINITY, 64 * 1024 * 1024, 80 * 1024 * 1024],
  ['stops when the caller does', 1024 * 1024, 0, 8 * 1024 * 1024],
])('huge %s', async (_, enough, least, most) => {
  let resolveLogged = () => {};
  const logged = new Promise<void>((resolve) => {
    resolveLogged = resolve;
  });
  const sandbox = await start({ faults: [parseFault('huge')], onRequest: () => resolveLogged() });
  const { socket, received } = dial(sandbox, wire(sandbox, { more: 'Connection: close\r\n' }));
  const leaveWhenEnough = () => void (socket.bytesRead > enough && socket.destroy());
  socket.on('data', leaveWhenEnough);
  await Promise.all([received, logged]);
  expect(socket.bytesRead).toBeGreaterThan(least);
  expect(socket.bytesRead).toBeLessThan(most);
});

it('counts faults against the quota, and lists them in the log', async () => {
  const log: number[] = [];
  const sandbox = await start({
    faults: [parseFault('500:1x')],
    perMinute: 2,
    onRequest: ({ status }) => log.push(status),
  });
  for (const _ of [1, 2, 3]) await post(sandbox, NOPA);
  expect(log).toEqual([500, 200, 429]);
});
