import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchAgain, matchId, matchName } from '../../../src/enrich/match/match.ts';
import { isSameAddress, readPlace } from '../../../src/enrich/match/place.ts';

/** One meter to the north, in degrees. */
const METER = 1 / 111_195;
const HOME = { lat: 52.52, lng: 13.405 };
const at = (meters: number) => ({ lat: HOME.lat + meters * METER, lng: HOME.lng });
const candidate = (name: string, meters?: number, address?: string) => ({
  service_id: `${name} ${meters} ${address}`,
  name,
  ...(meters !== undefined && { coordinates: at(meters) }),
  ...(address !== undefined && { address }),
});
const place = (lat: number, lng: number, address = '') => readPlace(String(lat), String(lng), address);
const match = (
  name: string,
  results: readonly unknown[],
  where = place(HOME.lat, HOME.lng),
  isLoose = false,
) => matchName({ name, city: 'Berlin', place: where }, { results, total: 0 }, isLoose);

describe('a row with coordinates', () => {
  it.each([
    ['the same name at the place', [candidate('Nopa', 149)], 'matched', 'place', 149],
    ['the same name nearby', [candidate('Nopa', 1990)], 'matched', 'exact', 1990],
    ['the same name far away', [candidate('Nopa', 2010)], 'likely', 'far', 2010],
    ['one of a chain', [candidate('Nopa', 5000), candidate('Nopa', 20)], 'matched', 'place', 20],
    ['one of a chain nearby', [candidate('Nopa', 5000), candidate('Nopa', 900)], 'likely', 'place', 900],
    ['a chain far away', [candidate('Nopa', 5000), candidate('Nopa', 9000)], 'ambiguous', 'best', 5000],
    ['twins in one street', [candidate('Nopa', 60), candidate('Nopa', 90)], 'ambiguous', 'best', 60],
    ['a twin at the door', [candidate('Nopa', 90), candidate('Nopa', 10)], 'likely', 'place', 10],
    ['another name far away', [candidate('Nopalito', 3000)], 'ambiguous', 'best', 3000],
    ['another name at the place', [candidate('Nopalito', 10)], 'likely', 'only', 10],
    ['a place that the service does not give', [candidate('Nopa')], 'matched', 'exact', undefined],
  ])('%s', (_what, results, status, how, distance) => {
    const { status: found, match: chosen, distance_m } = match('Nopa', results);
    expect([found, chosen, distance_m]).toEqual([status, how, distance]);
  });

  it('is likely for a similar name at the door', () => {
    const others = [candidate('Cantina El Tranvia', 3000), candidate('Nopa', 5)];
    expect(
      match('Cantina El Tranvía Alt', [...others, candidate('Cantina El Tranvía Alto', 49)]),
    ).toMatchObject({
      status: 'likely',
      match: 'place',
      distance_m: 49,
    });
    expect(
      match('Cantina El Tranvía Alt', [...others, candidate('Cantina El Tranvía Alto', 51)]),
    ).toMatchObject({
      status: 'ambiguous',
    });
  });

  it('recognizes swapped coordinates only if they lead to a candidate', () => {
    const swapped = place(HOME.lng, HOME.lat);
    expect(match('Nopa', [candidate('Nopa', 30)], swapped)).toMatchObject({ match: 'place', distance_m: 30 });
    expect(match('Nopa', [candidate('Nopa', 400)], swapped)).toMatchObject({
      status: 'likely',
      match: 'far',
    });
  });

  it('compares typos and simplified names, unless the restaurant is far away', () => {
    const loosely = (name: string, ...results: unknown[]) => match(name, results, undefined, true);
    expect(loosely('Nora', candidate('Nopa', 20), candidate('Nopalito', 20))).toMatchObject({
      match: 'loose',
    });
    expect(loosely('Nopa GmbH', candidate('Nopa', 900), candidate('Bar', 9))).toMatchObject({
      match: 'loose',
    });
    expect(loosely('Nopa GmbH', candidate('Nopa', 2900), candidate('Bar', 9))).toMatchObject({
      match: 'best',
    });
    expect(loosely('Nopalita', candidate('Nopalito', 2900), candidate('Bar', 9))).toMatchObject({
      match: 'best',
    });
  });

  it('confirms the second search', () => {
    const again = (meters: number) =>
      matchAgain(
        { name: 'Nopa', city: 'Berlin 10', place: place(HOME.lat, HOME.lng) },
        { results: [candidate('Nopa', meters)], total: 1 },
      );
    expect(again(20)).toMatchObject({ status: 'matched', match: 'place' });
    expect(again(500)).toMatchObject({ status: 'likely', match: 'loose' });
  });

  it('matches no restaurant of the same name that is more than 2 km away', () => {
    const meters = fc.array(fc.integer({ min: -20_000, max: 20_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(meters, fc.boolean(), (list, isLoose) => {
        const found = match(
          'Nopa',
          list.map((each) => candidate('Nopa', each)),
          undefined,
          isLoose,
        );
        if (found.status === 'matched') expect(found.distance_m).toBeLessThanOrEqual(2000);
        const here = new Set(list.filter((each) => Math.abs(each) <= 149));
        if (here.size > 1) expect(found.status).not.toBe('matched');
      }),
    );
  });
});

describe('a row with an address', () => {
  const where = readPlace('', '', 'Hauptstr. 5, Berlin');
  const [five, seven] = [
    candidate('Nopa', 10, 'Hauptstraße 5, 10115 Berlin'),
    candidate('Nopa', 40, 'Hauptstraße 7'),
  ];

  it('selects one of several restaurants with the name', () => {
    expect(match('Nopa', [seven, five], where)).toMatchObject({
      status: 'matched',
      match: 'place',
      restaurant: five,
    });
    expect(match('Nopa', [five, seven], place(HOME.lat, HOME.lng, 'Hauptstr. 7'))).toMatchObject({
      status: 'matched',
      restaurant: seven,
      distance_m: 40,
    });
    expect(match('Nopa', [seven], place(HOME.lat, HOME.lng, 'Other St 9'))).toMatchObject({
      status: 'matched',
    });
  });

  it('is only likely if address and coordinates both differ', () => {
    const other = place(HOME.lat, HOME.lng, 'Other St 9');
    expect(match('Nopa', [candidate('Nopa', 400, 'Hauptstraße 5')], other)).toMatchObject({ match: 'far' });
  });

  it('is likely for a similar name at the address', () => {
    const similar = candidate('Cantina El Tranvía Alto', undefined, 'Hauptstraße 5');
    expect(match('Cantina El Tranvía Alt', [similar, candidate('Nopa')], where)).toMatchObject({
      status: 'likely',
      match: 'place',
    });
  });

  it.each([
    ['560 Divisadero St, San Francisco', '560 Divisadero Street', true],
    ['560 Divisadero St San Francisco CA 94117', '560 Divisadero St, San Francisco, CA', true],
    ['Hauptstr. 5a', 'HAUPTSTRASSE 5', true],
    ['Calle Mayor 5', 'Calle Menor 5', false],
    ['12 Main St', '14 Main St', false],
    ['Main St', '14 Main St', undefined],
    ['5 North Road', '5 North Rd', undefined],
    [undefined, '14 Main St', undefined],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(isSameAddress(one, other)).toBe(expected);
    expect(isSameAddress(other, one)).toBe(expected);
  });
});

describe('a row with an id', () => {
  const byId = (name: string) =>
    matchId(
      { id: 'a', name, city: '', place: place(HOME.lat, HOME.lng) },
      { name: 'Nopa', coordinates: at(7000) },
    );

  it('is matched, or likely if the names differ', () => {
    expect(byId('NOPA')).toMatchObject({ status: 'matched', match: 'id', similarity: 1, distance_m: 7000 });
    expect(byId('')).toMatchObject({ status: 'matched', match: 'id' });
    expect(byId('Wrong Name')).toMatchObject({ status: 'likely', match: 'id', candidates: 1 });
    expect(matchId({ id: 'a', name: 'Nopa', city: '' }, {})).toMatchObject({ status: 'matched' });
  });
});
