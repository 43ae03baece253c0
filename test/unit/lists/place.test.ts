import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Restaurant } from '../../../src/client/types.ts';
import { matchAgain, matchId, matchName, type RowResult } from '../../../src/lists/match/match.ts';
import { isSameAddress, placeOfRow } from '../../../src/lists/match/place.ts';

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
const place = (lat: number, lng: number, address = '') => placeOfRow({ lat, lng, address });
const match = (
  name: string,
  results: readonly Restaurant[],
  where = place(HOME.lat, HOME.lng),
  isLoose = false,
) => matchName({ name, city: 'Berlin', place: where }, { results, total: 0 }, isLoose);

/** Status, kind of match, and distance in meters, such as `matched place 149`. */
const outcome = ({ status, match: how, distance_m }: RowResult): string =>
  [status, how ?? [], distance_m ?? []].flat().join(' ');
const outcomeOf = (...words: Parameters<typeof match>): string => outcome(match(...words));

describe('a row with coordinates', () => {
  it.each([
    ['the same name at the place', [candidate('Nopa', 149)], 'matched place 149'],
    ['the same name nearby', [candidate('Nopa', 1990)], 'matched exact 1990'],
    ['the same name far away', [candidate('Nopa', 2010)], 'likely far 2010'],
    ['one of a chain', [candidate('Nopa', 5000), candidate('Nopa', 20)], 'matched place 20'],
    ['one of a chain nearby', [candidate('Nopa', 5000), candidate('Nopa', 900)], 'likely place 900'],
    ['a chain far away', [candidate('Nopa', 5000), candidate('Nopa', 9000)], 'ambiguous best 5000'],
    ['twins in one street', [candidate('Nopa', 60), candidate('Nopa', 90)], 'ambiguous best 60'],
    [
      'one of a chain, with coarse coordinates',
      [candidate('Nopa', 400), candidate('Nopa', 90)],
      'ambiguous best 90',
    ],
    ['a twin at the door', [candidate('Nopa', 90), candidate('Nopa', 10)], 'likely place 10'],
    ['another name far away', [candidate('Nopalito', 3000)], 'ambiguous best 3000'],
    ['another name at the place', [candidate('Nopalito', 10)], 'likely only 10'],
    ['a place that the service does not give', [candidate('Nopa')], 'matched exact'],
  ])('%s', (_what, results, expected) => {
    expect(outcomeOf('Nopa', results)).toBe(expected);
  });

  it('is likely for a similar name at the door', () => {
    const others = [candidate('Cantina El Tranvia', 3000), candidate('Nopa', 5)];
    const withSimilar = (meters: number) => [...others, candidate('Cantina El Tranvía Alto', meters)];
    expect(outcomeOf('Cantina El Tranvía Alt', withSimilar(49))).toBe('likely place 49');
    expect(outcomeOf('Cantina El Tranvía Alt', withSimilar(51))).toMatch(/^ambiguous best/);
  });

  it('recognizes swapped coordinates only if they lead to a candidate', () => {
    const swapped = place(HOME.lng, HOME.lat);
    expect(outcomeOf('Nopa', [candidate('Nopa', 30)], swapped)).toBe('matched place 30');
    expect(outcomeOf('Nopa', [candidate('Nopa', 400)], swapped)).toMatch(/^likely far/);
  });

  it.each([
    ['Nora', [candidate('Nopa', 20), candidate('Nopalito', 20)], 'likely loose 20'],
    ['Nopalita', [candidate('Nopalito', 51), candidate('Bar', 9)], 'ambiguous best 51'],
    ['La Parirlla Verda', [candidate('La Parrilla Verde', 40), candidate('La Bar', 30)], 'likely loose 40'],
    ['La Parirlla Verda', [candidate('La Parrilla Verde', 60), candidate('La Bar', 70)], 'ambiguous best 60'],
    ['Nopa GmbH', [candidate('Nopa', 900), candidate('Bar', 9)], 'likely loose 900'],
    ['Nopa GmbH', [candidate('Nopa', 2900), candidate('Bar', 9)], 'ambiguous best 2900'],
    ['Nopalita', [candidate('Nopalito', 2900), candidate('Bar', 9)], 'ambiguous best 2900'],
  ])(
    'compares typos and simplified names unless the restaurant is far away: %s',
    (name, results, expected) => {
      expect(outcomeOf(name, results, undefined, true)).toBe(expected);
    },
  );

  it('confirms the second search', () => {
    const query = { name: 'Nopa', city: 'Berlin 10', place: place(HOME.lat, HOME.lng) };
    const again = (meters: number) =>
      outcome(matchAgain(query, { results: [candidate('Nopa', meters)], total: 1 }));
    expect([again(20), again(500)]).toEqual(['matched place 20', 'likely loose 500']);
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
  const where = placeOfRow({ address: 'Hauptstr. 5, Berlin' });
  const [five, seven] = [
    candidate('Nopa', 10, 'Hauptstraße 5, 10115 Berlin'),
    candidate('Nopa', 40, 'Hauptstraße 7'),
  ];

  it('selects one of several restaurants with the name', () => {
    expect(match('Nopa', [seven, five], where)).toMatchObject({ match: 'place', restaurant: five });
    const at = (address: string) => place(HOME.lat, HOME.lng, address);
    expect(outcomeOf('Nopa', [five, seven], at('Hauptstr. 7'))).toBe('matched place 40');
    expect(outcomeOf('Nopa', [seven], at('Other St 9'))).toBe('matched place 40');
  });

  it('is only likely if address and coordinates both differ', () => {
    const other = place(HOME.lat, HOME.lng, 'Other St 9');
    expect(outcomeOf('Nopa', [candidate('Nopa', 400, 'Hauptstraße 5')], other)).toBe('likely far 400');
  });

  it('is likely for a similar name at the address', () => {
    const similar = candidate('Cantina El Tranvía Alto', undefined, 'Hauptstraße 5');
    const results = [similar, candidate('Nopa')];
    expect(outcomeOf('Cantina El Tranvía Alt', results, where)).toBe('likely place');
  });

  it.each([
    ['560 Divisadero St, San Francisco', '560 Divisadero Street', true],
    ['560 Divisadero St San Francisco CA 94117', '560 Divisadero St, San Francisco, CA', true],
    ['Hauptstr. 5a', 'HAUPTSTRASSE 5', true],
    ['Calle Mayor 5', 'Calle Menor 5', false],
    ['12 Main St', '14 Main St', false],
    ['Main St', '14 Main St', undefined],
    ['5 North Road', '5 North Rd', undefined],
    ['2 South Street', '2 South Street, Testville', true],
    ['Via 4', 'VIA 4', true],
    ['Calle 8 #12-34', 'Calle 8 #12-34, Bogotá', true],
    ['2 South Street', '3 South Street', undefined],
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
