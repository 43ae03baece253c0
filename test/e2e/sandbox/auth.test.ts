import { describe, expect, it } from 'vitest';
import { post, sandboxes, send, toolCall } from './http.ts';

const start = sandboxes();
const BODY = JSON.stringify(toolCall('find_restaurant', { name: 'Nopa', city: 'SF' }));
const JSON_TYPE = { 'content-type': 'application/json' };

describe('authentication', () => {
  it.each(['sk_service_demo_free', 'sk_service_demo_paid'])('accepts %s', async (key) => {
    const reply = await post(await start(), BODY, { authorization: `Bearer ${key}` });
    expect(reply.status).toBe(200);
  });

  it.each([
    ['revoked', 'Bearer sk_service_demo_revoked'],
    ['unknown', 'Bearer sk_service_live_0123456789'],
    ['two spaces', 'Bearer  sk_service_demo_free'],
    ['no space', 'Bearersk_service_demo_free'],
    ['a tab', 'Bearer\tsk_service_demo_free'],
    ['another case', 'bearer sk_service_demo_free'],
    ['another scheme', 'Basic sk_service_demo_free'],
    ['the key alone', 'sk_service_demo_free'],
    ['two keys', 'Bearer sk_service_demo_free sk_service_demo_paid'],
    ['nothing after Bearer', 'Bearer'],
  ])('returns 401 for a key that is %s, and never repeats it', async (_, authorization) => {
    const reply = await post(await start(), BODY, { authorization });
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('Bearer');
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'unauthorized' } });
    expect(reply.text).not.toContain('sk_');
  });

  it('returns 401 for a missing header and for a repeated one', async () => {
    const sandbox = await start();
    expect((await send(sandbox, { headers: JSON_TYPE, body: BODY })).status).toBe(401);
    const twice = ['Bearer sk_service_demo_free', 'Bearer sk_service_demo_free'];
    expect(
      (await send(sandbox, { headers: { ...JSON_TYPE, authorization: twice }, body: BODY })).status,
    ).toBe(401);
  });

  it('requires no key when authentication is off', async () => {
    const sandbox = await start({ auth: false });
    expect((await send(sandbox, { headers: JSON_TYPE, body: BODY })).status).toBe(200);
  });

  it('keeps keys out of the list of requests and the log', async () => {
    const log: unknown[] = [];
    const sandbox = await start({ onRequest: (entry) => log.push(entry) });
    await post(sandbox, BODY, { authorization: 'Bearer sk_service_secret_value' });
    await post(sandbox, BODY);
    expect(JSON.stringify([log, sandbox.requests])).not.toContain('sk_service');
    expect(log).toMatchObject([
      { method: 'tools/call', tool: 'find_restaurant', status: 401, key: 'unknown' },
      { method: 'tools/call', tool: 'find_restaurant', status: 200, key: 'free' },
    ]);
    expect(sandbox.requests[1]).toMatchObject({
      method: 'POST',
      path: '/api/mcp',
      key: 'free',
      body: JSON.parse(BODY),
      status: 200,
    });
    expect(sandbox.requests[1]?.headers['content-type']).toBe('application/json');
  });
});
