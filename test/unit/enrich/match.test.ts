import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchName } from '../../../src/enrich/match/match.ts';

const restaurant = (name: string, id = name, city = 'SF') => ({ service_id: id, name, city });
const match = (name: string, results: readonly unknown[], total?: number) =>
  matchName({ name, city: 'SF' }, results, total);

describe('matchName', () => {
  it('is exact for one of the same name, among however many', () => {
    const results = [restaurant('Nopalito'), restaurant('NOPÁ'), restaurant('Nopa Bar')];
    expect(match('the nopa!', results)).toMatchObject({
      status: 'matched',
      kind: 'exact',
      candidates: 3,
      restaurant: { name: 'NOPÁ' },
    });
  });

  it('is "only" for a single one of another name', () => {
    expect(match('Nopa', [restaurant('Nopalito')])).toMatchObject({
      status: 'matched',
      kind: 'only',
      candidates: 1,
    });
  });

  it('is ambiguous for several of the same name, the one of the city first', () => {
    const results = [
      restaurant('Nopa', 'a', 'Oakland'),
      restaurant('nopa', 'b', 'S.F.'),
      restaurant('Bar', 'c'),
    ];
    expect(match('Nopa', results)).toMatchObject({
      status: 'ambiguous',
      kind: 'best',
      candidates: 3,
      restaurant: { service_id: 'b' },
    });
  });

  it('is ambiguous for several of which none has the name, the first of the service shown', () => {
    const results = [restaurant('Nopa Bar'), restaurant('Nopa Grill')];
    expect(match('Nopa', results)).toMatchObject({
      status: 'ambiguous',
      kind: 'best',
      restaurant: { name: 'Nopa Bar' },
    });
  });

  it('finds nothing in nothing, and in what is no restaurant', () => {
    expect(match('Nopa', [])).toEqual({ status: 'not_found', candidates: 0 });
    expect(match('Nopa', [null, 3, [], { name: 'Nopa' }])).toEqual({ status: 'not_found', candidates: 0 });
  });

  it('counts what the service found and did not send', () => {
    expect(match('Nopa', [restaurant('Nopa Bar')], 12)).toMatchObject({
      status: 'ambiguous',
      candidates: 12,
    });
    expect(match('Nopa', [restaurant('Nopa')], 12)).toMatchObject({ kind: 'exact', candidates: 12 });
    expect(match('Nopa', [restaurant('Nopa Bar')], 1e300)).toMatchObject({ kind: 'only', candidates: 1 });
    expect(match('Nopa', [restaurant('Nopa Bar')], 0)).toMatchObject({ kind: 'only', candidates: 1 });
  });

  it('takes a restaurant that is listed twice for one', () => {
    expect(match('Nopa', [restaurant('Nopa', 'a'), restaurant('Nopa', 'a')])).toMatchObject({
      kind: 'exact',
      candidates: 1,
    });
  });

  it('says of any results what the documented rules say', () => {
    const names = fc.array(fc.constantFrom('Nopa', 'NOPA', 'The Nopa', 'Bar', 'Grill'), { maxLength: 5 });
    fc.assert(
      fc.property(names, (list) => {
        const { status, candidates } = match(
          'nopa',
          list.map((name, place) => restaurant(name, String(place))),
        );
        const same = list.filter((name) => /nopa/i.test(name)).length;
        const wanted =
          list.length === 0 ? 'not_found' : same === 1 || list.length === 1 ? 'matched' : 'ambiguous';
        expect([status, candidates]).toEqual([wanted, list.length]);
      }),
    );
  });
});
