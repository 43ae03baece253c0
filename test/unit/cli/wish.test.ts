import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readWish } from '../../../src/cli/wish.ts';

const SEEN = {
  city: 'SF',
  restaurants: [
    { name: 'Nopa', city: 'San Francisco', neighborhood: 'NoPa', cuisine_tags: ['californian'] },
    {
      name: 'Nopalina Kitchen',
      city: 'San Francisco',
      neighborhood: 'Mission District',
      cuisine_tags: ['dim sum'],
    },
    { name: 'Tide', city: 'London', neighborhood: 'Soho', cuisine_tags: ['street tacos', 7] },
    { name: null, city: 3, neighborhood: [], cuisine_tags: 'x' },
  ],
};
const NOTHING = { city: undefined, restaurants: [] };

describe('the words of a search', () => {
  it.each([
    ['nopa, london', { name: 'nopa', city: 'London', options: {} }],
    ['nopalinx', { name: 'Nopalina Kitchen', options: {} }],
    ['salt and time', { name: 'salt and time', options: {} }],
    ['the dim sum places near me open now', { name: '', options: { '--cuisine': ['dim sum'] } }],
    [
      'best taco in soho',
      {
        name: '',
        city: 'London',
        options: { '--cuisine': ['taco'], '--neighborhood': 'Soho', '--sort': 'grade' },
      },
    ],
    ['Crème tacos', { name: 'Crème', options: { '--cuisine': ['tacos'] } }],
    ['mission', { name: '', city: 'San Francisco', options: { '--neighborhood': 'Mission District' } }],
    ['top 10 restaurants in new york', { name: '', city: 'new york', options: { '--sort': 'grade' } }],
    ['cheap $$ eats', { name: '', options: {} }],
  ])('%s', (words, wish) => {
    expect(readWish(words.split(' '), false, SEEN)).toEqual(wish);
  });

  it.each([
    ['pizza', { name: '', options: { '--cuisine': ['pizza', 'italian'] } }],
    [
      'sushi san francisco',
      { name: '', city: 'san francisco', options: { '--cuisine': ['sushi', 'japanese'] } },
    ],
    ['SF', { name: 'SF', options: {} }],
  ])('without earlier results: %s', (words, wish) => {
    expect(readWish(words.split(' '), false, NOTHING)).toEqual(wish);
  });

  it('may be any text', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.boolean(), (words, hasCity) => {
        const { name, options } = readWish(words, hasCity, SEEN);
        expect([typeof name, typeof options]).toEqual(['string', 'object']);
      }),
    );
  });
});
