import { describe, expect, it } from 'vitest';
import { decodeOutput, parseToolResult, toolOutput, unwrapText } from '../../../src/client/results.ts';
import { errorIn, findReply } from '../../../src/client/rpc/envelope.ts';
import { rpcError } from '../../../src/client/rpc/errors.ts';
import { findResult, isRestaurant } from '../../../src/client/tools.ts';
import type { AppError } from '../../../src/errors.ts';

const text = (output: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(output) }] });

function fault(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    return error as AppError;
  }
  throw new Error('expected a failure');
}

describe('toolOutput', () => {
  it('returns the first text block, also after other blocks', () => {
    const content = [
      { type: 'image', data: '' },
      null,
      'x',
      { type: 'text' },
      { type: 'text', text: '{"a":1}' },
      { type: 'text', text: 'b' },
    ];
    expect(toolOutput({ content }).value).toEqual({ a: 1 });
  });

  it('returns structuredContent without a text block', () => {
    expect(toolOutput({ content: [], structuredContent: { a: 1 } })).toEqual({ value: { a: 1 } });
  });

  it.each([
    [undefined],
    [null],
    ['x'],
    [[]],
    [{}],
    [{ content: null }],
    [{ content: {} }],
    [{ content: 'x' }],
    [{ content: [] }],
    [{ content: [{ type: 'image' }] }],
  ])('rejects %j', (result) => {
    expect(fault(() => toolOutput(result)).code).toBe('bad_response');
  });

  it('shows the start of text that is not JSON', () => {
    const error = fault(() => toolOutput({ content: [{ type: 'text', text: `sorry ${'x'.repeat(900)}` }] }));
    expect(error.code).toBe('bad_response');
    expect(error.message).toContain('sorry xxx');
    expect(error.message.length).toBeLessThan(400);
  });
});

describe('the output of find_restaurant', () => {
  it('keeps the output as received and counts elements that are not objects', () => {
    const output = {
      status: 'ok',
      results: [{ service_id: 'a', name: 'A', more: 1 }, null, 3, [], { name: 'B' }],
      total_matches: 5,
      next: 'x',
    };
    const answer = findResult(decodeOutput(text(output)));
    expect(answer.output).toEqual(output);
    expect(answer.unreadable).toBe(3);
    expect(answer.results.map(isRestaurant)).toEqual([true, false, false, false, false]);
  });

  it('accepts an empty list', () => {
    expect(findResult(decodeOutput(text({ results: [], total_matches: 0 })))).toMatchObject({
      results: [],
      unreadable: 0,
    });
  });

  it.each([[{ status: 'ok' }], [{ results: null }], [{ results: {} }], [[]], [null], [3], ['x']])(
    'rejects %j',
    (output) => {
      const error = fault(() => findResult(decodeOutput(text(output))));
      expect(error.code).toBe('bad_response');
      expect(error.message).toContain('expected');
    },
  );
});

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
    expect(fault(() => decodeOutput(text(output))).code).toBe(code);
    expect(fault(() => parseToolResult({ ...text(output), isError: true })).code).toBe(code);
  });

  it.each([[true], [1], ['true']])('isError: %j', (isError) => {
    const error = fault(() => parseToolResult({ isError, content: [{ type: 'text', text: 'it  broke\n' }] }));
    expect(error).toMatchObject({
      code: 'tool_error',
      message: 'it broke',
      details: { serviceMessage: 'it broke' },
    });
  });

  it.each([[false], [0], ['false'], [null]])('is not a failure with isError: %j', (isError) => {
    expect(parseToolResult({ isError, content: [] })).toMatchObject({ content: [] });
    expect(fault(() => parseToolResult({ isError, content: null })).code).toBe('bad_response');
    expect(parseToolResult({ structuredContent: {} })).toEqual({ structuredContent: {} });
  });

  it('is cut to 200 characters', () => {
    const error = fault(() => decodeOutput(text({ status: 'error', message: 'x'.repeat(5000) })));
    expect(error.message.length).toBeLessThan(230);
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

  it.each([
    ['boom', 'boom'],
    [[], 'an error without a message'],
    [7, 'an error without a message'],
    [null, 'an error without a message'],
    [{ code: 1 }, 'an error without a message'],
    [{ message: 3 }, 'an error without a message'],
  ])('error: %j', (error, message) => {
    expect(errorIn({ error })).toMatchObject({ message });
    expect(errorIn({ error, result: {} })?.message).toBe(error === null ? undefined : message);
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
  expect(fault(() => unwrapText({ result: {} })).code).toBe('bad_response');
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
