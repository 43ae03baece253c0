import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { errorJson, formatError } from '../../../src/output/problem.ts';
import { palette } from '../../../src/output/style.ts';
import { FORBIDDEN, hostileText } from '../../helpers/hostile.ts';

const plain = palette(0);

describe('formatError', () => {
  it('keeps hostile text on one line, cleaned and shortened', () => {
    const error = new AppError('tool_error', `bad\n\u001b[2J${'x'.repeat(1_000_000)}`);
    const [first = ''] = formatError(error, plain, { verbose: false }).split('\n');
    expect(first).toMatch(/^error: bad \^\[\[2Jx+…$/);
    expect(first).toHaveLength(407);
  });

  it('colors the labels and not the message', () => {
    const text = formatError(new AppError('usage', 'no'), palette(1), { verbose: false });
    expect(text.split('\n')[0]).toBe('\u001b[31merror:\u001b[39m no');
  });

  it('prints causes with verbose, and no stack for an error of a known kind', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const cause = new AggregateError([refused], '');
    const error = new AppError('network', 'refused', { cause, hint: { text: 'check the network' } });
    expect(formatError(error, plain, { verbose: false })).not.toContain('ECONNREFUSED');
    const lines = formatError(error, plain, { verbose: true }).split('\n');
    expect(lines).toEqual([
      'error: refused',
      'hint: check the network',
      'caused by: AggregateError',
      'caused by: Error: connect ECONNREFUSED (ECONNREFUSED)',
      '',
    ]);
  });

  it('prints causes of every kind', () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const circular = new Error('round');
    circular.cause = circular;
    for (const cause of [loop, circular, 'text\u001b', 5, null, 10n, Symbol('x'), { toString: 1 }]) {
      const text = formatError(new AppError('unexpected', 'x', { cause }), plain, { verbose: true });
      expect(text).toMatch(/^error: x\n/);
      expect(text).not.toMatch(FORBIDDEN);
    }
  });
});

it('errorJson has all known fields', () => {
  const full = new AppError('rate_limited', 'slow down', {
    hint: { text: 'wait' },
    status: 429,
    retryAfter: 7,
    restaurantId: 'id-1',
    rpcCode: -32000,
    requestId: 'req-1',
  });
  expect(JSON.parse(errorJson(full)).error).toEqual({
    code: 'rate_limited',
    message: 'slow down',
    hint: 'wait',
    retryable: true,
    status: 429,
    retry_after: 7,
    restaurant_id: 'id-1',
    rpc_code: -32000,
    request_id: 'req-1',
  });
});

it('any message and hint are two harmless lines of text, and one of JSON', () => {
  fc.assert(
    fc.property(hostileText, hostileText, (message, hint) => {
      const error = new AppError('rpc_error', message, { hint: { text: hint } });
      const [text, json] = [formatError(error, plain, { verbose: false }), errorJson(error)];
      expect([text.split('\n').length, json.split('\n').length]).toEqual([3, 1]);
      expect(text + json).not.toMatch(FORBIDDEN);
      expect(JSON.parse(json).error).toMatchObject({ message, hint });
    }),
  );
});
