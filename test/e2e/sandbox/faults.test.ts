import { request } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFaults, FAULT_KINDS, type FaultKind, parseFault } from '../../../src/sandbox/faults.ts';
import type { ReplyForm, Sandbox } from '../../../src/sandbox/types.ts';
import { HEADERS, outputOf, post, sandboxes, sendRaw, toolCall } from './http.ts';

const start = sandboxes();
const BODY = toolCall('find_restaurant', { name: 'Nopa', city: 'SF' });
const failing = (kind: FaultKind, reply: ReplyForm = 'json') => start({ faults: [{ kind, rate: 1 }], reply });

describe('parseFault', () => {
  it.each(FAULT_KINDS)('accepts %s', (kind) => {
    expect(parseFault(kind)).toEqual({ kind, rate: 1 });
    expect(parseFault(`${kind}:0.25`)).toEqual({ kind, rate: 0.25 });
    expect(parseFault(`${kind}:3x`)).toEqual({ kind, rate: 1, first: 3 });
  });

  it.each([
    '',
    'teapot',
    '418',
    '503:',
    '503:2',
    '503:-1',
    '503:x',
    '503:0x',
    '503:0x1',
    '503:1e-1',
    '503:NaN',
    '503:0.1:2',
    ':1',
    '503 ',
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

describe('faults over HTTP', () => {
  it.each([
    ['401', undefined],
    ['403', undefined],
    ['429', '1'],
    ['500', undefined],
    ['503', '1'],
  ] as const)('%s', async (kind, retryAfter) => {
    const reply = await post(await failing(kind), BODY);
    expect([reply.status, reply.headers['retry-after']]).toEqual([Number(kind), retryAfter]);
    expect(JSON.parse(reply.text).error.message).toBeTypeOf('string');
  });

  it('reset closes the connection before any byte', async () => {
    const sandbox = await failing('reset');
    await expect(post(sandbox, BODY)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(sandbox.requests[0]?.status).toBe(0);
  });

  it.each(['json', 'sse'] as const)('truncate sends half of the %s body', async (reply) => {
    await expect(post(await failing('truncate', reply), BODY)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('slow sends byte by byte', async () => {
    const sandbox = await failing('slow');
    const { host } = new URL(sandbox.baseUrl);
    const body = JSON.stringify(BODY);
    const head = Object.entries({ host, ...HEADERS, 'content-length': body.length }).map((pair) =>
      pair.join(': '),
    );
    const bytes = `POST /api/mcp HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`;
    const reply = await sendRaw(sandbox, bytes, (received) => {
      if (/\r\n\r\n../.test(received)) void sandbox.close();
    });
    const [, received = ''] = reply.split('\r\n\r\n');
    expect(received.length).toBeLessThan(10);
    expect('{"jsonrpc"'.startsWith(received)).toBe(true);
  });

  it('html', async () => {
    const reply = await post(await failing('html'), BODY);
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(reply.text).toContain('<html>');
  });

  it.each(['json', 'sse'] as const)('bad-json as %s', async (form) => {
    const { status, text } = await post(await failing('bad-json', form), BODY);
    expect(status).toBe(200);
    expect(() => JSON.parse(text.replace(/^event: message\ndata: /, ''))).toThrow(SyntaxError);
  });

  it('bad-text is a valid envelope with text that is not JSON', async () => {
    const reply = await post(await failing('bad-text'), BODY);
    expect(JSON.parse(reply.text)).toMatchObject({ id: 1, result: { content: [{ type: 'text' }] } });
    expect(() => outputOf(reply)).toThrow(SyntaxError);
  });

  it('tool-error, rpc-error and wrong-id', async () => {
    expect(outputOf(await post(await failing('tool-error'), BODY)).isError).toBe(true);
    const { error, id } = JSON.parse((await post(await failing('rpc-error'), BODY)).text);
    expect([id, error.code]).toEqual([1, -32603]);
    expect(JSON.parse((await post(await failing('wrong-id'), BODY)).text).id).toBe(1001);
  });

  it.each(['json', 'sse'] as const)('sse-cut ends a stream inside its event (%s)', async (form) => {
    const reply = await post(await failing('sse-cut', form), BODY);
    expect(reply.headers['content-type']).toBe('text/event-stream');
    expect(reply.text).toMatch(/^event: message\ndata: \{"jsonrpc"/);
    expect(reply.text).not.toContain('\n\n');
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
    const received = await countBytes(sandbox, enough);
    await logged;
    expect(received).toBeGreaterThan(least);
    expect(received).toBeLessThan(most);
  });

  it('hang never sends a response', async () => {
    const sandbox = await failing('hang');
    const waiting = Promise.race([
      post(sandbox, BODY).catch(() => 'cut'),
      new Promise((resolve) => setTimeout(resolve, 100, 'still waiting')),
    ]);
    expect(await waiting).toBe('still waiting');
  });

  it('counts against the quota, and appears in the log', async () => {
    const log: number[] = [];
    const sandbox = await start({
      faults: [parseFault('500:1x')],
      perMinute: 2,
      onRequest: ({ status }) => log.push(status),
    });
    for (const _ of [1, 2, 3]) await post(sandbox, BODY);
    expect(log).toEqual([500, 200, 429]);
  });
});

/** Calls the tool and disconnects once enough bytes have arrived. @returns how many arrived */
function countBytes({ endpoint }: Sandbox, enough: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const outgoing = request(endpoint, { method: 'POST', headers: HEADERS }, (reply) => {
      reply.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > enough) outgoing.destroy();
      });
      reply.on('error', () => undefined);
      reply.on('close', () => resolve(size));
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(BODY));
  });
}
