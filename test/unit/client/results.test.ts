import { describe, expect, it } from 'vitest';
import { decodeOutput, parseToolResult, unwrapText } from '../../../src/client/results.ts';
import { findReply } from '../../../src/client/rpc/envelope.ts';
import { rpcError } from '../../../src/client/rpc/errors.ts';
import { findResult } from '../../../src/client/tools.ts';
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

describe('findResult', () => {
  it.each([
    [null, "expected an object as the tool's output, got null"],
    ['x', "expected an object as the tool's output, got a string"],
    [[], "expected an object as the tool's output, got an array"],
    [{}, 'expected an array "results", got nothing'],
  ])('rejects %j, which a damaged cache may contain', (value, message) => {
    expect(() => findResult(value)).toThrow(
      expect.objectContaining({ code: 'bad_response', message: expect.stringContaining(message) }),
    );
  });
});
