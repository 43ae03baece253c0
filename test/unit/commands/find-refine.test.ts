import { describe, expect, it } from 'vitest';
import { explainEmpty, parseMinGrade, parsePoint, refine } from '../../../src/commands/find/refine.ts';
import { gradeRank } from '../../../src/util/restaurant.ts';

const row = (name: string, more: Record<string, unknown> = {}) => ({ service_id: name, name, ...more });
const names = (rows: readonly unknown[]) => rows.map((each) => (each as { name: string }).name).join(', ');
const at = (lat: number, lng: number) => ({ coordinates: { lat, lng } });

const ROWS = [
  row('Smørrebrød', { cuisine_tags: ['danish'], neighborhood: 'Østerbro', grade: 'B+', ...at(0, 1) }),
  row('Łódka', { cuisine_tags: ['polish', 'soup'], neighborhood: 'Łódź', grade: 'A-' }),
  row('Straße', { cuisine_tags: ['german'], neighborhood: 'Mitte', grade: 'C', ...at(0, 0) }),
  row('ungraded', { grade: 'pending' }),
];
const near = { lat: 0, lng: 0 };

describe('refine', () => {
  it.each<[string, Parameters<typeof refine>[1], string]>([
    ['any value of a repeated filter', { cuisine: ['danish', 'soup'] }, 'Smørrebrød, Łódka'],
    ['a grade in any case', { grade: ['a-', 'C'] }, 'Łódka, Straße'],
    ['filters together', { cuisine: ['danish'], grade: ['C'] }, ''],
    ['special letters', { neighborhood: ['Osterbro'] }, 'Smørrebrød'],
    ['accents', { neighborhood: ['lodz'] }, 'Łódka'],
    ['a grade and better', { minGrade: 'B' }, 'Smørrebrød, Łódka'],
    ['no better grade', { minGrade: 'A' }, ''],
    [
      'the order of grades, with those that are none last',
      { sort: 'grade' },
      'Łódka, Smørrebrød, Straße, ungraded',
    ],
    ['the limit last', { sort: 'grade', limit: 1 }, 'Łódka'],
    ['the distance, with unknown ones last', { near }, 'Straße, Smørrebrød, Łódka, ungraded'],
    ['another order, with distances', { near, sort: 'name' }, 'Łódka, Smørrebrød, Straße, ungraded'],
  ])('knows %s', (_what, options, kept) => {
    expect(names(refine(ROWS, options))).toBe(kept);
  });

  it('adds the distance', () => {
    const [here, far] = refine(ROWS, { near }) as { distance_km: number }[];
    expect(here).toMatchObject({ distance_km: 0 });
    expect(far?.distance_km).toBeCloseTo(111.195, 2);
  });

  it('keeps values that are not objects only without filters', () => {
    expect(refine([null, 'x'], {})).toEqual([null, 'x']);
    expect(refine([null, 'x'], { grade: ['A'] })).toEqual([]);
  });
});

it('grades are ordered with their signs, of any kind', () => {
  const grades = ['A+', 'A', 'A-', 'B+', 'b', 'B−', 'pending'];
  expect(grades.map(gradeRank)).toEqual([2, 3, 4, 5, 6, 7, undefined]);
});

it.each<[Parameters<typeof explainEmpty>[1], string]>([
  [
    { cuisine: ['germn'] },
    '--cuisine germn; available: danish 1, polish 1, soup 1, german 1; did you mean german?',
  ],
  [{ grade: ['A', 'B'] }, '--grade A or --grade B; available: B+ 1, A- 1, C 1, pending 1; did you mean A-?'],
  [{ cuisine: ['danish'], grade: ['C'] }, '--cuisine danish and --grade C together'],
])('explainEmpty says for %j what is available', (filters, text) => {
  expect(explainEmpty(ROWS, filters)).toBe(`4 found, none with ${text}`);
});

it('parses a place and a grade', () => {
  expect(parsePoint('37.77,-122.43')).toEqual({ lat: 37.77, lng: -122.43 });
  expect(parsePoint(' 1 , 2 ')).toEqual({ lat: 1, lng: 2 });
  for (const wrong of ['', '1', '91,0', '0,181', '1,2,3', 'a,b']) expect(() => parsePoint(wrong)).toThrow();
  expect(parseMinGrade('b+')).toBe('b+');
  for (const wrong of ['', 'AA', '5']) expect(() => parseMinGrade(wrong)).toThrow(/letter grade/);
});
