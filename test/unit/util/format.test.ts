import { expect, it } from 'vitest';
import { isoSeconds, nextMinute, shortTime } from '../../../src/util/format.ts';

// In the time zone of the machine, whatever it is.
const NOW = new Date(2026, 10, 23, 12).getTime();

it.each([
  ['Mon 21:19', new Date(2026, 10, 23, 21, 19)],
  ['Wed 00:05', new Date(2026, 10, 18, 0, 5)],
  ['Nov 3, 2026, 09:00', new Date(2026, 10, 3, 9)],
  ['Jan 1, 2027, 00:00', new Date(2027, 0, 1)],
])('shortTime is %s', (text, date) => {
  expect(shortTime(date.getTime(), NOW)).toBe(text);
});

it('times of waits are rounded up', () => {
  expect(isoSeconds(Date.UTC(2026, 0, 1) + 1)).toBe('2026-01-01T00:00:01Z');
  expect([nextMinute(60_000), nextMinute(60_001)]).toEqual([60_000, 120_000]);
});
