import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Restaurant } from '../../../src/client/types.ts';
import { likeliestFirst, matchAgain, matchName, type RowResult } from '../../../src/lists/match/match.ts';
import {
  isOneLetterOff,
  nameSimilarity,
  simplifyCity,
  simplifyName,
} from '../../../src/lists/match/names.ts';
import { partSearches, searchesFor } from '../../../src/lists/match/searches.ts';

const restaurant = (name: string, id = name, city = 'SF') => ({ service_id: id, name, city });
const match = (name: string, results: readonly Restaurant[], total = 0) =>
  matchName({ name, city: 'SF' }, { results, total });

/** Status, kind of match, number of candidates, and the id of the best, such as `matched exact of 3: NOPÁ`. */
const outcome = ({ status, match: how, candidates, restaurant: best }: RowResult): string =>
  `${status} ${how} of ${candidates}: ${best?.service_id}`;

describe('matchName', () => {
  it.each([
    [
      'the nopa!',
      [restaurant('Nopalito'), restaurant('NOPÁ'), restaurant('Nopa Bar')],
      'matched exact of 3: NOPÁ',
    ],
    ['Nopa', [restaurant('Nopalito')], 'likely only of 1: Nopalito'],
    // Of several with the name, the one in the city; of several with other names, the most similar one.
    [
      'Nopa',
      [restaurant('Nopa', 'a', 'Oakland'), restaurant('nopa', 'b', 'S.F.'), restaurant('Bar')],
      'ambiguous best of 3: b',
    ],
    ['Nopa', [restaurant('Nopa Bar'), restaurant('Nopa Grill')], 'ambiguous best of 2: Nopa Bar'],
    // A restaurant that is listed twice counts once.
    ['Nopa', [restaurant('Nopa', 'a'), restaurant('Nopa', 'a')], 'matched exact of 1: a'],
  ])('compares %s with %j: %s', (name, results, expected) => {
    expect(outcome(match(name, results))).toBe(expected);
  });

  it('finds nothing in an empty list', () => {
    expect(match('Nopa', [])).toEqual({ status: 'not_found', candidates: 0 });
  });

  it('counts the candidates that it shows, and regards those that the response does not contain', () => {
    const of = (total: number, name = 'Nopa Bar') => outcome(match('Nopa', [restaurant(name)], total));
    expect(of(12)).toBe('ambiguous best of 1: Nopa Bar');
    expect(of(12, 'Nopa')).toBe('matched exact of 1: Nopa');
    for (const total of [1e300, 0]) expect(of(total)).toBe('likely only of 1: Nopa Bar');
  });

  it('follows the documented rules for any results', () => {
    const names = fc.array(fc.constantFrom('Nopa', 'NOPA', 'The Nopa', 'Bar', 'Grill'), { maxLength: 5 });
    fc.assert(
      fc.property(names, (list) => {
        const { status, candidates } = match(
          'nopa',
          list.map((name, place) => restaurant(name, String(place))),
        );
        const same = list.filter((name) => /nopa/i.test(name)).length;
        const wanted =
          list.length === 0
            ? 'not_found'
            : same === 1
              ? 'matched'
              : list.length === 1
                ? 'likely'
                : 'ambiguous';
        expect([status, candidates]).toEqual([wanted, list.length]);
      }),
    );
  });
});

describe('nameSimilarity', () => {
  it.each([
    ['Nopa', 'NOPA', 1],
    ['Salt & Straw', 'Salt and Straw', 1],
    ['Nopa', 'Nopalito', 0.57],
    ['Cantina', 'Cantina El Último Tranvía', 0.47],
    ['Nopa', 'Zuni', 0],
    ['東京', '東京都', 0.57],
  ])('of %s and %s is %d', (one, other, similarity) => {
    expect(nameSimilarity(one, other)).toBe(similarity);
    expect(nameSimilarity(other, one)).toBe(similarity);
  });

  it('is 1 only for equal names', () => {
    expect(nameSimilarity('ab ab ab ab', 'ab ab ab')).toBeLessThan(1);
  });
});

it.each([
  ['Nopa Restaurant', 'Nopa'],
  ['RESTAURANTE El Sol', 'El Sol'],
  ['Ristorante Da Mario', 'Da Mario'],
  ['Nopa (closed?)', 'Nopa'],
  ['Nopa [old] (moved)', 'Nopa'],
  ['Nopa - Downtown', 'Nopa'],
  ['Nopa – Ferry Building', 'Nopa'],
  ['Nopa, Divisadero', 'Nopa'],
  ['Restaurant Nopa (SF) - Downtown', 'Nopa'],
  ['Nopa', undefined],
  ['Restaurant', undefined],
  ['(Nopa)', undefined],
  ['Jean-Georges', undefined],
  ['Nopa GmbH & Co. KG', 'Nopa'],
  ['Nopa Restaurant, Inc.', 'Nopa'],
  ['Chez Nopa S.A.R.L.', 'Chez Nopa'],
  ['Salt & Straw LLC', 'Salt & Straw'],
  ['GmbH', undefined],
  ['Salt & Straw', undefined],
  ['x'.repeat(201), undefined],
])('simplifyName of %s is %s', (name, simple) => {
  expect(simplifyName(name)).toBe(simple);
});

it('matchAgain is likely for an exact match of the simplified name, else ambiguous, or not found', () => {
  const query = { name: 'Nopa Restaurant', city: 'SF' };
  const loosely = (...results: Restaurant[]) => matchAgain(query, { results, total: 0 });
  expect(outcome(loosely(restaurant('Nopa'), restaurant('Nopalito')))).toBe('likely loose of 2: Nopa');
  expect(outcome(loosely(restaurant('Nopalito')))).toBe('ambiguous best of 1: Nopalito');
  for (const others of [[], [restaurant('Taverna Minos')]])
    expect(loosely(...others)).toEqual({ status: 'not_found', candidates: 0 });
});

it.each([
  ['Paris 11e', 'Paris'],
  ['10115 Berlin', 'Berlin'],
  ['Paris (75)', 'Paris'],
  ['Paris', undefined],
  ['75011', undefined],
])('simplifyCity of %s is %s', (city, simple) => {
  expect(simplifyCity(city)).toBe(simple);
});

describe('isOneLetterOff', () => {
  it.each([
    ['Nopalito', 'Nopaltio', true],
    ['Nopalito', 'Nopelito', true],
    ['Nopalito', 'Noppalito', true],
    ['Nopalito', 'Nopalit', true],
    ['NOPALITO GmbH', 'nopalita', true],
    ['Nopalito', 'Nopaltoi', false],
    ['Nopalito', 'Napalita', false],
    ['Studio 54', 'Studio 55', false],
    ['Nopa', 'Nora', false],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(isOneLetterOff(one, other, false)).toBe(expected);
    expect(isOneLetterOff(other, one, false)).toBe(expected);
  });

  it('counts every single edit of any name, and no others', () => {
    const name = fc.stringMatching(/^[a-z]{6,12}$/);
    fc.assert(
      fc.property(name, fc.nat(5), (whole, at) => {
        const swapped = `${whole.slice(0, at)}${whole[at + 1] ?? ''}${whole[at]}${whole.slice(at + 2)}`;
        for (const other of [
          whole.slice(0, at) + whole.slice(at + 1),
          `${whole.slice(0, at)}x${whole.slice(at)}`,
        ])
          expect(isOneLetterOff(whole, other, true)).toBe(true);
        expect(isOneLetterOff(whole, swapped, true)).toBe(true);
        expect(isOneLetterOff(whole, `1${whole}`, true)).toBe(false);
      }),
    );
  });
});

describe('matchName with --loose', () => {
  const loosely = (name: string, ...names: string[]) =>
    matchName({ name, city: 'SF' }, { results: names.map((each) => restaurant(each)), total: 0 }, true);

  it.each([
    ['Nopa GmbH', ['Nopalito', 'Nopa'], 'likely loose of 2: Nopa'],
    ['Restaurant Nopalito', ['Nopa', 'Nopalito Ltd.'], 'likely loose of 2: Nopalito Ltd.'],
    ['Nopaltio', ['Nopa', 'Nopalito'], 'likely loose of 2: Nopalito'],
    ['Nopa', ['Nopalito', 'Nora'], 'ambiguous best of 2: Nora'],
    ['Nopalitx', ['Nopalita', 'Nopalito'], 'ambiguous best of 2: Nopalita'],
    ['Nopa GmbH', ['Nopa', 'Nopa Ltd.'], 'ambiguous best of 2: Nopa'],
  ])('compares %s with the candidates %j', (name, names, expected) => {
    expect(outcome(loosely(name, ...names))).toBe(expected);
  });
});

it.each([
  ['Biosro Juniper Table', ['Biosro Juniper', 'Juniper Table']],
  [' Zuni  Cafe Mien GmbH (new)', ['Zuni Cafe', 'Cafe Mien']],
  ['Old Paerot', ['Old', 'Paerot']],
  ['The Bar and the Grill', []],
  ['Nopa', []],
  ['', []],
  ['a bb ccc dddd', ['bb ccc', 'ccc dddd']],
  [
    'Un Dos Tres Cuatro Cinco Seis Siete',
    ['Un Dos', 'Dos Tres', 'Tres Cuatro', 'Cuatro Cinco', 'Cinco Seis'],
  ],
])('partSearches %j are %j', (name, expected) => {
  const parts = partSearches({ name, city: 'Berlin 11' });
  expect(parts).toEqual(expected.map((each) => ({ name: each, city: 'Berlin' })));
});

describe('searchesFor', () => {
  it.each<[string, string, string[]]>([
    ['Nopa', 'SF', ['Nopa in SF']],
    ['Nopa GmbH', 'Berlin 11', ['Nopa GmbH in Berlin 11', 'Nopa in Berlin']],
    ['Zum Löwen', 'Berlin', ['Zum Löwen in Berlin', 'Zum Loewen in Berlin', 'Löwen in Berlin']],
    [
      'Haus Mueller Grill',
      'Berlin',
      ['Haus Mueller Grill in Berlin', 'Haus Müller Grill in Berlin', 'Mueller in Berlin'],
    ],
    ['Blue  Kittchen', 'SF', ['Blue  Kittchen in SF', 'Blue Kittchen in SF', 'Blue in SF']],
    ['Pizzeria Bar', 'SF', ['Pizzeria Bar in SF', 'Pizzeria in SF']],
    ['Studio 54', 'SF', ['Studio 54 in SF', 'Studio in SF']],
    ['4 5', 'SF', ['4 5 in SF']],
    ['Queen Joe Blue', 'SF', ['Queen Joe Blue in SF', 'Queen in SF']],
  ])('%s in %s', (name, city, expected) => {
    expect(searchesFor({ name, city }).map((each) => `${each.name} in ${each.city}`)).toEqual(expected);
  });

  it('never repeats a search, and begins with the row as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (name, city) => {
        const searches = searchesFor({ name, city }).map((each) => JSON.stringify(each));
        expect(searches[0]).toBe(JSON.stringify({ name, city }));
        expect(new Set(searches).size).toBe(searches.length);
        expect(searches.length).toBeLessThanOrEqual(4);
      }),
    );
  });
});

it('likeliestFirst ranks a similar name at the place before a more similar one elsewhere', () => {
  const query = { name: 'Nopalita', city: 'SF', place: { address: '5 Main St' } };
  const [near, same, other] = [
    { ...restaurant('Nopalito'), address: '5 Main Street' },
    { ...restaurant('Nopalita'), address: '9 Oak Street' },
    { ...restaurant('Bar'), address: '5 Main Street' },
  ];
  expect(likeliestFirst(query, [other, same, near])).toEqual([near, same, other]);
});
