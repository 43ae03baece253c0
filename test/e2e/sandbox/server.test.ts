import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { freePort } from '../../helpers/servers.ts';
import { NOPA, post, start } from './http.ts';

describe('startSandbox', () => {
  it('uses a free port of loopback and returns its URL', async () => {
    const sandbox = await start();
    expect(sandbox.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(sandbox.endpoint).toBe(`${sandbox.baseUrl}/api/mcp`);
    expect(sandbox.keys).toEqual({
      free: 'sk_service_demo_free',
      paid: 'sk_service_demo_paid',
      revoked: 'sk_service_demo_revoked',
    });
  });

  it('uses the given port, and reports in_use if it is taken', async () => {
    const port = await freePort();
    const first = await startSandbox({ port });
    await expect(startSandbox({ port })).rejects.toMatchObject({
      code: 'in_use',
      details: { hint: { command: { words: ['sandbox', '--port', '0'] } } },
    });
    await first.close();
    expect((await start({ port })).baseUrl).toBe(`http://127.0.0.1:${port}`);
  });

  it.each([-1, 65_536, 1.5, Number.NaN])('rejects the port %s', async (port) => {
    await expect(startSandbox({ port })).rejects.toMatchObject({ code: 'usage' });
  });

  it('closes at once with idle, half-sent and hanging requests, and twice', async () => {
    const sandbox = await startSandbox({ faults: [{ kind: 'hang', rate: 1 }] });
    const idle = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1');
    await once(idle, 'connect');
    const half = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1');
    half.write('POST /api/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n');
    const hanging = post(sandbox, NOPA).catch(() => 'ended');
    while (sandbox.requests.length < 2) await new Promise(setImmediate);
    const started = performance.now();
    await sandbox.close();
    await sandbox.close();
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await hanging).toBe('ended');
    await expect(post(sandbox, NOPA)).rejects.toThrow();
  });

  it('delays each response by the latency, and closes at once meanwhile', async () => {
    const slow = await start({ latencyMs: 60 });
    const started = performance.now();
    expect((await post(slow, NOPA)).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThanOrEqual(55);
    const sandbox = await startSandbox({ latencyMs: 60_000 });
    const waiting = post(sandbox, NOPA).catch(() => 'ended');
    while (sandbox.requests.length === 0) await new Promise(setImmediate);
    await sandbox.close();
    expect(await waiting).toBe('ended');
  });

  it('serves many requests at once', async () => {
    const sandbox = await start({ perMinute: 0 });
    const replies = await Promise.all(Array.from({ length: 200 }, (_, id) => post(sandbox, { ...NOPA, id })));
    expect(replies.map(({ text }) => JSON.parse(text).id)).toEqual(replies.map((_, id) => id));
  });

  it('continues when a listener throws', async () => {
    const sandbox = await start({
      onRequest: () => {
        throw new Error('listener');
      },
    });
    expect((await post(sandbox, NOPA)).status).toBe(200);
    expect((await post(sandbox, NOPA)).status).toBe(200);
  });
});
