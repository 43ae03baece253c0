import { describe, expect, it } from 'vitest';
import { editDistance, nearest } from '../../../src/util/nearest.ts';

describe('nearest', () => {
  it.each([
    ['logni', ['login', 'logout'], ['login']],
    ['fnid', ['find', 'mcp'], ['find']],
    ['claer', ['clear', 'path'], ['clear']],
    ['fnd', ['find'], ['find']],
    ['tmeout', ['timeout', 'retries'], ['timeout']],
    ['itallian', ['italian', 'mexican'], ['italian']],
    ['pai', ['default', 'paid'], ['paid']],
  ])('for %s among %j suggests %j', (word, names, expected) => {
    expect(nearest(word, names)).toEqual(expected);
  });

  it.each([
    ['sort', ['format', 'force']],
    ['price', ['profile']],
    ['map', ['mcp']],
    ['input', ['no-input']],
    ['', ['find']],
  ])('suggests nothing for %j, which is close to no name', (word, names) => {
    expect(nearest(word, names)).toEqual([]);
  });

  it('counts a swap of two letters as one edit', () => {
    expect(editDistance('ab', 'ba')).toBe(1);
    expect(editDistance('kitten', 'sitting')).toBe(3);
    expect(editDistance('', 'abc')).toBe(3);
  });
});
