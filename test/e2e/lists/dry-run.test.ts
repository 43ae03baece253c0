import { expect, it } from 'vitest';
import { durationOf } from '../../../src/lists/estimate.ts';

it.each([
  [0, 100, 2000, 2000, { minutes: 0, days: 0 }],
  [1, 100, 2000, 2000, { minutes: 1, days: 1 }],
  [2000, 100, 2000, 2000, { minutes: 20, days: 1 }],
  [2001, 100, 2000, 2000, { minutes: 21, days: 2 }],
  [5000, 100, 2000, 500, { minutes: 50, days: 4 }],
  [5000, 100, 2000, 0, { minutes: 50, days: 3 }],
  [5000, 0, 0, 0, { minutes: null, days: null }],
])(
  '%i requests, %i a minute and %i a day with %i left, take %j',
  (requests, perMinute, perDay, left, wanted) => {
    expect(durationOf(requests, perMinute, perDay, left)).toEqual(wanted);
  },
);
