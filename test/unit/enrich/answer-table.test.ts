import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerTable } from '../../../src/enrich/run/answer-table.ts';
import { answersInMemory } from '../../../src/enrich/run/answers.ts';

describe('AnswerTable', () => {
  it('keeps the first place of every query, like a map', () => {
    const entry = fc.tuple(
      fc.string({ maxLength: 2 }),
      fc.integer({ min: 0, max: 2 ** 40 }),
      fc.integer({ min: 1, max: 9 }),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 200 }), (entries) => {
        const table = new AnswerTable();
        const map = new Map<string, { offset: number; length: number }>();
        for (const [query, offset, length] of entries) {
          table.set(query, { offset, length });
          if (!map.has(query)) map.set(query, { offset, length });
        }
        expect(table.size).toBe(map.size);
        for (const [query, span] of map) expect(table.get(query)).toEqual(span);
        expect(table.get('what was never set')).toBeUndefined();
      }),
    );
  });

  it('grows', () => {
    const table = new AnswerTable();
    for (let n = 0; n < 20_000; n += 1) table.set(`query ${n}`, { offset: n * 300_000, length: n + 1 });
    expect(table.size).toBe(20_000);
    for (let n = 0; n < 20_000; n += 777)
      expect(table.get(`query ${n}`)).toEqual({ offset: n * 300_000, length: n + 1 });
  });
});

describe('answersInMemory', () => {
  it('forgets what was not used for the longest time', () => {
    const answers = answersInMemory(30);
    const span = { offset: 0, length: 1 };
    answers.remember('a', '123456789', span);
    answers.remember('b', '123456789', span);
    expect(answers.recall('a')).toBe('123456789');
    answers.remember('c', '123456789', span);
    answers.remember('d', '12345', span);
    expect(['a', 'b', 'c', 'd'].map((query) => answers.recall(query) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});
