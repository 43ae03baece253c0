import { describe, expect, it } from 'vitest';
import { resolveColumns } from '../../../src/enrich/match/columns.ts';
import { createOffsetMemo, createTextMemo, queryKey, repeatedQueries } from '../../../src/enrich/run/memo.ts';
import { cellRows } from './engine.ts';

describe('a memo that reads the output', () => {
  it('reads the first text of each key from its place in the output', () => {
    const memo = createOffsetMemo((offset) => `at ${offset}`);
    memo.set('a', 'text', 3);
    memo.set('a', 'text', 9);
    expect([memo.get('a'), memo.get('b')]).toEqual(['at 3', undefined]);
  });
});

describe('a memo that keeps texts', () => {
  it('drops all texts when they are too many', () => {
    const memo = createTextMemo();
    const long = 'x'.repeat(3_000_000);
    memo.set('a', long, 0);
    memo.set('b', long, 0);
    expect([memo.get('a'), memo.get('b')]).toEqual([long, long]);
    memo.set('c', long, 0);
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

describe('repeatedQueries', () => {
  const isRepeated = (names: readonly string[], total: number | undefined) =>
    repeatedQueries(
      { rows: () => cellRows(names), total, columns: resolveColumns(['name', 'city'], {}) },
      new AbortController().signal,
    );
  const key = (name: string): string => queryKey({ kind: 'search', name, city: 'SF' });

  it('finds the queries that a list has more than once', async () => {
    const found = await isRepeated(['Nopa', 'Tide', '', 'Nopa', '', 'Zuni'], 6);
    expect(['Nopa', 'Tide', '', 'Zuni'].map((name) => found(key(name)))).toEqual([true, false, false, false]);
  });

  it('expects every query of a stream again', async () => {
    const found = await isRepeated(['Nopa'], undefined);
    expect(found(key('Nopa'))).toBe(true);
  });
});
