import { describe, expect, it } from 'vitest';
import { decodeOutput, parseToolResult, unwrapText } from '../../../src/client/results.ts';
import { findReply } from '../../../src/client/rpc/envelope.ts';
import { rpcError, statusError } from '../../../src/client/rpc/errors.ts';
import { errorOf } from '../../helpers/files.ts';

const text = (output: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(output) }] });

describe('a tool that fails', () => {
  it.each([
    [{ status: 'not_found' }, 'not_found'],
    [{ status: 'error', code: 'NotFound' }, 'not_found'],
    [{ status: 'error', error: { code: 'PAYMENT-REQUIRED' } }, 'plan_required'],
    [{ status: 'error', error: 'upgrade required' }, 'plan_required'],
    [{ status: 'unauthorized' }, 'unauthorized'],
    [{ status: 'rate_limited' }, 'rate_limited'],
    [{ status: 'error', message: 'not_found' }, 'tool_error'],
    [{ status: 'constructor' }, 'tool_error'],
    [{ status: 'failed' }, 'tool_error'],
  ])('%j is %s', (output, code) => {
    expect(errorOf(() => decodeOutput(text(output))).code).toBe(code);
    expect(errorOf(() => parseToolResult({ ...text(output), isError: true })).code).toBe(code);
  });
});

describe('a JSON-RPC error', () => {
  it.each([
    [{ code: -32601, message: 'no' }, 'rpc_error', -32601],
    [{ code: -32000, message: 'no', data: { code: 'plan_required' } }, 'plan_required', -32000],
    [{ code: 'not_found', message: 'no' }, 'not_found', 'not_found'],
    [{ message: 'no', data: 'not_found' }, 'rpc_error', undefined],
  ])('%j is %s', (error, code, rpcCode) => {
    expect(rpcError(error, { status: 200, headers: {} })).toMatchObject({
      code,
      details: rpcCode === undefined ? {} : { rpcCode },
    });
  });
});

describe('findReply', () => {
  const ours = { id: 1, result: {} };
  const lone = { id: null, error: { message: 'x' } };
  it.each([
    [ours, 'stream', ours],
    [[{ id: 2, result: {} }, ours], 'body', ours],
    [{ ...ours, id: '1' }, 'stream', { ...ours, id: '1' }],
    [{ ...ours, method: 'x' }, 'body', undefined],
    [{ ...ours, id: 2 }, 'body', undefined],
    [{ id: null, result: {} }, 'body', undefined],
    [lone, 'stream', undefined],
    [lone, 'body', lone],
    [{ error: 1 }, 'body', { error: 1 }],
    [{ id: 9, error: 1 }, 'body', undefined],
    [{ id: 9, error: 1 }, 'refusal', { id: 9, error: 1 }],
    [{ error: 'invalid_token', error_description: 'x' }, 'refusal', undefined],
    [{ Result: {}, ID: 1 }, 'body', undefined],
    [{ id: { valueOf: 1 }, result: {} }, 'body', undefined],
    ['x', 'body', undefined],
    [null, 'body', undefined],
  ] as const)('in %j from a %s', (value, origin, found) => {
    expect(findReply(value, 1, origin)).toEqual(found);
  });
});

it('unwraps the text of an envelope', () => {
  expect(unwrapText({ result: text([1]) })).toBe('[1]');
  expect(unwrapText({ result: { content: [{ type: 'text', text: 'hi' }] } })).toBe('"hi"');
  expect(errorOf(() => unwrapText({ result: {} })).code).toBe('bad_response');
});

describe('statusError', () => {
  const CONTEXT = { host: 'h:1', keySuffix: 'cdef', now: () => 0 };
  const error = (status: number, text = '', more: object = {}, context: object = {}) =>
    statusError({ status, statusText: 'Reason', headers: {}, text, ...more }, { ...CONTEXT, ...context });

  it('says that a rejected request had no API key', () => {
    const { message } = error(401, '', { statusText: '' }, { keySuffix: undefined });
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

  it.each<[number, object, string, object]>([
    [404, { code: -32601, message: 'no' }, 'rpc_error', { status: 404, rpcCode: -32601 }],
    [401, { code: -32601, message: 'no' }, 'unauthorized', { rpcCode: -32601 }],
    [500, { code: -32601, message: 'no' }, 'http_error', { rpcCode: -32601 }],
    [400, { message: 'x', data: { reason: 'not_found' } }, 'not_found', {}],
  ])('of %d with the JSON-RPC error %j is %s', (status, rpc, code, details) => {
    expect(error(status, '', { rpc })).toMatchObject({ code, details });
  });

  it('has the wait and the request id', () => {
    const found = error(429, '', { headers: { 'retry-after': '90', 'x-request-id': 'req-7' } });
    expect(found.details).toMatchObject({ retryAfter: 90, requestId: 'req-7' });
    expect(found.message).toContain('wait 90s');
  });

  it('cuts long text', () => {
    expect(error(400, 'x'.repeat(1_000_000)).message.length).toBeLessThan(260);
  });
});
