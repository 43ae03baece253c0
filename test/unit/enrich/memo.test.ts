import { describe, expect, it } from 'vitest';
import { createMemo, queryKey } from '../../../src/enrich/run/enrich-rows.ts';

describe('a memo that reads the output', () => {
  it('reads the first text of each key from its place in the output', () => {
    const memo = createMemo((offset) => `at ${offset}`);
    memo.set('a', 'text', 3);
    memo.set('a', 'text', 9);
    expect([memo.get('a'), memo.get('b')]).toEqual(['at 3', undefined]);
  });

  it('reports an output that was cut by another program', () => {
    const memo = createMemo(() => undefined);
    memo.set('a', 'text', 3);
    expect(() => memo.get('a')).toThrow(/was cut by another program/);
  });
});

describe('a memo that keeps texts', () => {
  it('drops all texts when they are too many', () => {
    const memo = createMemo(undefined, 20);
    memo.set('a', '123456789', 0);
    memo.set('b', '123456789', 0);
    expect([memo.get('a'), memo.get('b')]).toEqual(['123456789', '123456789']);
    memo.set('c', '1234567890', 0);
    expect(['a', 'b', 'c'].map((key) => memo.get(key) !== undefined)).toEqual([false, false, true]);
  });
});

describe('queryKey', () => {
  it('distinguishes searches and ids', () => {
    expect(queryKey({ kind: 'search', name: 'a', city: 'b' })).not.toBe(
      queryKey({ kind: 'lookup', id: 'a' }),
    );
    expect(queryKey({ kind: 'search', name: 'ab', city: 'c' })).not.toBe(
      queryKey({ kind: 'search', name: 'a', city: 'bc' }),
    );
  });
});
