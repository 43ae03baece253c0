import { describe, expect, it } from 'vitest';
import { statusError } from '../../../src/client/rpc/errors.ts';

const CONTEXT = { host: 'h:1', keySuffix: 'cdef', now: () => 0 };
const error = (status: number, text = '', more: object = {}) =>
  statusError({ status, statusText: 'Reason', headers: {}, text, ...more }, CONTEXT);

describe('statusError', () => {
  it.each([
    [400, 'http_error', false],
    [401, 'unauthorized', false],
    [402, 'plan_required', false],
    [403, 'forbidden', false],
    [404, 'http_error', false],
    [407, 'network', false],
    [408, 'http_error', true],
    [429, 'rate_limited', true],
    [500, 'http_error', true],
    [503, 'http_error', true],
  ])('%d is %s', (status, code, retryable) => {
    const found = error(status);
    expect(found).toMatchObject({ code, retryable, details: { status } });
    expect(found.message).toContain('h:1');
    expect(found.message).toContain('Reason');
  });

  it('says that a rejected request had no API key', () => {
    const reply = { status: 401, statusText: '', headers: {}, text: '' };
    expect(statusError(reply, CONTEXT).message).toBe('h:1 rejected the API key ending in cdef (401)');
    const { message } = statusError(reply, { ...CONTEXT, keySuffix: undefined });
    expect(message).toBe('h:1 rejected the request, which had no API key (401)');
  });

  it.each([
    ['{"error":"invalid_token","error_description":"it has expired"}', 'invalid_token: it has expired'],
    ['{"error":{"message":"no such thing"}}', 'no such thing'],
    ['{"message":"gone"}', 'gone'],
    ['plain  words\n', 'plain words'],
    [
      '<html><head><title>T</title><style>x{}</style></head><body><h1>Bad</h1> gateway</body></html>',
      'Bad gateway',
    ],
    ['<script>alert(1)', 'Reason'],
    ['', 'Reason'],
    ['{}', '{}'],
  ])('explains %s: %s', (text, expected) => {
    expect(error(500, text).message).toBe(`h:1 returned HTTP 500: ${expected}`);
  });

  it('keeps the JSON-RPC error', () => {
    const rpc = { code: -32601, message: 'Method not found' };
    expect(error(404, '', { rpc })).toMatchObject({
      code: 'rpc_error',
      details: { status: 404, rpcCode: -32601 },
    });
    expect(error(401, '', { rpc })).toMatchObject({ code: 'unauthorized', details: { rpcCode: -32601 } });
    expect(error(500, '', { rpc })).toMatchObject({ code: 'http_error', details: { rpcCode: -32601 } });
    expect(error(400, '', { rpc: { message: 'x', data: { reason: 'not_found' } } })).toMatchObject({
      code: 'not_found',
    });
  });

  it('has the wait and the request id', () => {
    const headers = { 'retry-after': '90', 'x-request-id': 'req-7' };
    const found = error(429, '', { headers });
    expect(found.details).toMatchObject({ retryAfter: 90, requestId: 'req-7' });
    expect(found.message).toContain('wait 90s');
  });

  it('cuts long text', () => {
    expect(error(400, 'x'.repeat(1_000_000)).message.length).toBeLessThan(260);
  });
});
