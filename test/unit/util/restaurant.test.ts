import { expect, it } from 'vitest';
import { isId } from '../../../src/util/restaurant.ts';

it.each(['x;id', 'a?b', 'a#b', 'a%2e', '../x', 'a..b', '', 'a\u0007b', 'x'.repeat(129)])(
  '%j cannot be the id of a restaurant',
  (text) => {
    expect(isId(text)).toBe(false);
  },
);
