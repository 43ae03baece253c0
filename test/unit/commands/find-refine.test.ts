import { describe, expect, it } from 'vitest';
import { explainEmpty, parseMinGrade, parsePoint, refine } from '../../../src/commands/find/refine.ts';
import { gradeRank } from '../../../src/util/restaurant.ts';

const row = (name: string, more: Record<string, unknown> = {}) => ({ service_id: name, name, ...more });
const names = (rows: readonly unknown[]) => rows.map((each) => (each as { name: string }).name);

const ROWS = [
  row('Smørrebrød', { cuisine_tags: ['danish'], neighborhood: 'Østerbro', grade: 'B+' }),
  row('Łódka', { cuisine_tags: ['polish', 'soup'], neighborhood: 'Łódź', grade: 'A-' }),
  row('Straße', { cuisine_tags: ['german'], neighborhood: 'Mitte', grade: 'C' }),
  row('ungraded', { grade: 'pending' }),
];

describe('refine', () => {
  it('keeps rows that match any value of a repeated filter', () => {
    expect(names(refine(ROWS, { cuisine: ['danish', 'soup'] }))).toEqual(['Smørrebrød', 'Łódka']);
    expect(names(refine(ROWS, { grade: ['a-', 'C'] }))).toEqual(['Łódka', 'Straße']);
    expect(refine(ROWS, { cuisine: ['danish'], grade: ['C'] })).toEqual([]);
  });

  it('ignores case, accents and special letters', () => {
    expect(names(refine(ROWS, { neighborhood: ['Osterbro'] }))).toEqual(['Smørrebrød']);
    expect(names(refine(ROWS, { neighborhood: ['lodz'] }))).toEqual(['Łódka']);
  });

  it('compares grades with --min-grade', () => {
    expect(names(refine(ROWS, { minGrade: 'B' }))).toEqual(['Smørrebrød', 'Łódka']);
    expect(names(refine(ROWS, { minGrade: 'A' }))).toEqual([]);
    expect(['A+', 'A', 'A-', 'B+', 'b', 'B−'].map(gradeRank)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(gradeRank('pending')).toBeUndefined();
  });

  it('sorts by grade and by name; rows without a value come last', () => {
    expect(names(refine(ROWS, { sort: 'grade' }))).toEqual(['Łódka', 'Smørrebrød', 'Straße', 'ungraded']);
    expect(names(refine(ROWS, { sort: 'name' }))).toEqual(['Łódka', 'Smørrebrød', 'Straße', 'ungraded']);
  });

  it('adds the distance and sorts by it', () => {
    const near = { lat: 0, lng: 0 };
    const places = [
      row('far', { coordinates: { lat: 0, lng: 1 } }),
      row('nowhere'),
      row('here', { coordinates: { lat: 0, lng: 0 } }),
    ];
    const sorted = refine(places, { near });
    expect(names(sorted)).toEqual(['here', 'far', 'nowhere']);
    expect(sorted[0]).toMatchObject({ distance_km: 0 });
    expect((sorted[1] as { distance_km: number }).distance_km).toBeCloseTo(111.195, 2);
    expect(names(refine(places, { near, sort: 'name' }))).toEqual(['far', 'here', 'nowhere']);
  });

  it('applies the limit last', () => {
    expect(names(refine(ROWS, { sort: 'grade', limit: 1 }))).toEqual(['Łódka']);
  });

  it('keeps values that are not objects only without filters', () => {
    expect(refine([null, 'x'], {})).toEqual([null, 'x']);
    expect(refine([null, 'x'], { grade: ['A'] })).toEqual([]);
  });
});

describe('explainEmpty', () => {
  it('lists the values of the results and suggests the nearest one', () => {
    expect(explainEmpty(ROWS, { cuisine: ['germn'] })).toBe(
      '4 found, none with --cuisine germn; available: danish 1, polish 1, soup 1, german 1; did you mean german?',
    );
    expect(explainEmpty(ROWS, { grade: ['A', 'B'] })).toBe(
      '4 found, none with --grade A or --grade B; available: B+ 1, A- 1, C 1, pending 1; did you mean A-?',
    );
  });

  it('names the filters that exclude each other', () => {
    expect(explainEmpty(ROWS, { cuisine: ['danish'], grade: ['C'] })).toBe(
      '4 found, none with --cuisine danish and --grade C together',
    );
  });
});

describe('arguments', () => {
  it('parses a place', () => {
    expect(parsePoint('37.77,-122.43')).toEqual({ lat: 37.77, lng: -122.43 });
    expect(parsePoint(' 1 , 2 ')).toEqual({ lat: 1, lng: 2 });
    for (const wrong of ['', '1', '91,0', '0,181', '1,2,3', 'a,b']) expect(() => parsePoint(wrong)).toThrow();
  });

  it('parses a grade', () => {
    expect(parseMinGrade('b+')).toBe('b+');
    for (const wrong of ['', 'AA', '5']) expect(() => parseMinGrade(wrong)).toThrow(/letter grade/);
  });
});
