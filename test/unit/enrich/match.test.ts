import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchLoosely, matchName, nameSimilarity, simplifyName } from '../../../src/enrich/match/match.ts';

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

  it('counts matches that the response does not contain', () => {
    expect(match('Nopa', [restaurant('Nopa Bar')], 12)).toMatchObject({
      status: 'ambiguous',
      candidates: 12,
    });
    expect(match('Nopa', [restaurant('Nopa')], 12)).toMatchObject({ match: 'exact', candidates: 12 });
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
    ['x'.repeat(201), undefined],
  ])('of %s is %s', (name, simple) => {
    expect(simplifyName(name)).toBe(simple);
  });
});

describe('matchLoosely', () => {
  it('is likely for an exact match of the simplified name, else ambiguous', () => {
    const query = { name: 'Nopa Restaurant', city: 'SF' };
    const loosely = (...results: unknown[]) => matchLoosely(query, 'Nopa', { results, total: 0 });
    expect(loosely(restaurant('Nopa'), restaurant('Nopalito'))).toMatchObject({
      status: 'likely',
      match: 'loose',
      restaurant: { name: 'Nopa' },
    });
    expect(loosely(restaurant('Nopalito'))).toMatchObject({ status: 'ambiguous' });
    expect(loosely()).toEqual({ status: 'not_found', candidates: 0 });
  });
});
