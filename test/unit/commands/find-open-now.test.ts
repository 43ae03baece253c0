import { describe, expect, it } from 'vitest';
import { isOpenAt } from '../../../src/commands/find/details.ts';

const CLOSED = { monday: [], tuesday: [], wednesday: [], thursday: [], friday: [], saturday: [], sunday: [] };
const at = (time: string) => new Date(`2026-03-06T${time}:00Z`);

describe('isOpenAt', () => {
  it.each([
    ['17:59', false],
    ['18:00', true],
    ['23:29', true],
    ['23:30', false],
  ])('at %s on a Friday returns %j', (time, open) => {
    const details = { timezone: 'UTC', hours: { ...CLOSED, friday: [{ open: '18:00', close: '23:30' }] } };
    expect(isOpenAt(details, at(time))).toBe(open);
  });

  it('uses the time zone', () => {
    const details = { timezone: 'America/Los_Angeles', hours: { ...CLOSED, thursday: ['18:00-23:30'] } };
    expect(isOpenAt(details, at('03:00'))).toBe(true);
    expect(isOpenAt({ ...details, timezone: 'UTC' }, at('03:00'))).toBe(false);
  });

  it('supports hours that end after midnight', () => {
    const details = { timezone: 'UTC', hours: { ...CLOSED, thursday: [{ open: '20:00', close: '02:00' }] } };
    expect(isOpenAt(details, at('01:59'))).toBe(true);
    expect(isOpenAt(details, at('02:00'))).toBe(false);
  });

  it('returns undefined for hours that cannot be read', () => {
    expect(isOpenAt({}, at('12:00'))).toBeUndefined();
    expect(isOpenAt({ hours: 'daily' }, at('12:00'))).toBeUndefined();
    expect(
      isOpenAt({ timezone: 'UTC', hours: { ...CLOSED, friday: ['noon to late'] } }, at('12:00')),
    ).toBeUndefined();
    expect(isOpenAt({ timezone: 'nowhere', hours: CLOSED }, at('12:00'))).toBe(false);
  });
});
