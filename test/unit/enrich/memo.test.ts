import { describe, expect, it } from 'vitest';
import { fileMemo, memoryMemo, queryKey } from '../../../src/enrich/run/memo.ts';

describe('fileMemo', () => {
  it('reads the first text of each key from its place in the output', () => {
    const memo = fileMemo(({ offset, length }) => `${offset}+${length}`);
    memo.set('a', 'text', { offset: 3, length: 4 });
    memo.set('a', 'text', { offset: 9, length: 4 });
    expect([memo.get('a'), memo.get('b')]).toEqual(['3+4', undefined]);
  });
});

describe('memoryMemo', () => {
  it('drops the text that was not used for the longest time', () => {
    const memo = memoryMemo(30);
    const span = { offset: 0, length: 1 };
    memo.set('a', '123456789', span);
    memo.set('b', '123456789', span);
    expect(memo.get('a')).toBe('123456789');
    memo.set('c', '123456789', span);
    memo.set('d', '12345', span);
    expect(['a', 'b', 'c', 'd'].map((key) => memo.get(key) !== undefined)).toEqual([true, false, true, true]);
  });
});

describe('queryKey', () => {
  it('distinguishes searches, ids and rows with nothing to search by', () => {
    expect(queryKey({ kind: 'none', why: '' })).toBeUndefined();
    expect(queryKey({ kind: 'search', name: 'a', city: 'b' })).not.toBe(
      queryKey({ kind: 'lookup', id: 'a' }),
    );
    expect(queryKey({ kind: 'search', name: 'ab', city: 'c' })).not.toBe(
      queryKey({ kind: 'search', name: 'a', city: 'bc' }),
    );
  });
});
