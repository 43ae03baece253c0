import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchAgain, matchName } from '../../../src/enrich/match/match.ts';
import {
  isOneLetterOff,
  nameSimilarity,
  simplifyCity,
  simplifyName,
} from '../../../src/enrich/match/names.ts';

const restaurant = (name: string, id = name, city = 'SF') => ({ service_id: id, name, city });
const match = (name: string, results: readonly unknown[], total = 0) =>
  matchName({ name, city: 'SF' }, { results, total });

describe('matchName', () => {
  it('is exact if one of several candidates has the same name', () => {
    const results = [restaurant('Nopalito'), restaurant('NOPÁ'), restaurant('Nopa Bar')];
    expect(match('the nopa!', results)).toMatchObject({
      status: 'matched',
      match: 'exact',
      candidates: 3,
      restaurant: { name: 'NOPÁ' },
    });
  });

  it('is "only" for a single candidate with another name', () => {
    expect(match('Nopa', [restaurant('Nopalito')])).toMatchObject({
      status: 'likely',
      match: 'only',
      candidates: 1,
    });
  });

  it('is ambiguous for several candidates with the same name, and prefers the one in the city', () => {
    const results = [
      restaurant('Nopa', 'a', 'Oakland'),
      restaurant('nopa', 'b', 'S.F.'),
      restaurant('Bar', 'c'),
    ];
    expect(match('Nopa', results)).toMatchObject({
      status: 'ambiguous',
      match: 'best',
      candidates: 3,
      restaurant: { service_id: 'b' },
    });
  });

  it('is ambiguous if none of several candidates has the name, and prefers the most similar one', () => {
    const results = [restaurant('Nopa Bar'), restaurant('Nopa Grill')];
    expect(match('Nopa', results)).toMatchObject({
      status: 'ambiguous',
      match: 'best',
      restaurant: { name: 'Nopa Bar' },
    });
  });

  it('finds nothing in an empty list, and rejects results without any restaurant', () => {
    expect(match('Nopa', [])).toEqual({ status: 'not_found', candidates: 0 });
    expect(() => match('Nopa', [null, 3, [], { name: 'Nopa' }])).toThrow('none of 4 results can be read');
  });

  it('counts the candidates that it shows, and regards those that the response does not contain', () => {
    expect(match('Nopa', [restaurant('Nopa Bar')], 12)).toMatchObject({ status: 'ambiguous', candidates: 1 });
    expect(match('Nopa', [restaurant('Nopa')], 12)).toMatchObject({ match: 'exact', candidates: 1 });
    expect(match('Nopa', [restaurant('Nopa Bar')], 1e300)).toMatchObject({ match: 'only', candidates: 1 });
    expect(match('Nopa', [restaurant('Nopa Bar')], 0)).toMatchObject({ match: 'only', candidates: 1 });
  });

  it('counts a restaurant that is listed twice once', () => {
    expect(match('Nopa', [restaurant('Nopa', 'a'), restaurant('Nopa', 'a')])).toMatchObject({
      match: 'exact',
      candidates: 1,
    });
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

  it('is 1 only for equal names, and handles long names', () => {
    expect(nameSimilarity('ab ab ab ab', 'ab ab ab')).toBeLessThan(1);
    const started = performance.now();
    nameSimilarity('x'.repeat(1_000_000), 'y'.repeat(1_000_000));
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe('simplifyName', () => {
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
  ])('of %s is %s', (name, simple) => {
    expect(simplifyName(name)).toBe(simple);
  });
});

describe('matchAgain', () => {
  it('is likely for an exact match of the simplified name, else ambiguous', () => {
    const query = { name: 'Nopa Restaurant', city: 'SF' };
    const loosely = (...results: unknown[]) => matchAgain(query, { results, total: 0 });
    expect(loosely(restaurant('Nopa'), restaurant('Nopalito'))).toMatchObject({
      status: 'likely',
      match: 'loose',
      restaurant: { name: 'Nopa' },
    });
    expect(loosely(restaurant('Nopalito'))).toMatchObject({ status: 'ambiguous' });
    expect(loosely()).toEqual({ status: 'not_found', candidates: 0 });
  });
});

describe('simplifyCity', () => {
  it.each([
    ['Paris 11e', 'Paris'],
    ['10115 Berlin', 'Berlin'],
    ['Paris (75)', 'Paris'],
    ['Paris', undefined],
    ['75011', undefined],
  ])('of %s is %s', (city, simple) => {
    expect(simplifyCity(city)).toBe(simple);
  });
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
    ['Nopa GmbH', ['Nopalito', 'Nopa'], 'likely', 'Nopa'],
    ['Restaurant Nopalito', ['Nopa', 'Nopalito Ltd.'], 'likely', 'Nopalito Ltd.'],
    ['Nopaltio', ['Nopa', 'Nopalito'], 'likely', 'Nopalito'],
    ['Nopa', ['Nopalito', 'Nora'], 'ambiguous', 'Nora'],
    ['Nopalitx', ['Nopalita', 'Nopalito'], 'ambiguous', 'Nopalita'],
    ['Nopa GmbH', ['Nopa', 'Nopa Ltd.'], 'ambiguous', 'Nopa'],
  ])('compares %s with the candidates %j', (name, names, status, best) => {
    expect(loosely(name, ...names)).toMatchObject({
      status,
      match: status === 'likely' ? 'loose' : 'best',
      restaurant: { name: best },
    });
  });
});
