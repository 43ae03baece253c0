import { describe, expect, it } from 'vitest';
import { type ColumnOptions, resolveColumns } from '../../../src/enrich/match/columns.ts';
import type { InputRow } from '../../../src/enrich/read/row.ts';

const ask = (header: readonly string[], cells: readonly string[], options: ColumnOptions = {}) =>
  resolveColumns(header, options).ask({ kind: 'cells', line: 2, cells });
const object = (value: Record<string, unknown>): InputRow => ({ kind: 'object', line: 1, text: '', value });

describe('resolveColumns', () => {
  it('knows common names, whatever their case, the best first', () => {
    const found = resolveColumns(['title', ' Restaurant ', 'Town', 'CITY', 'id', 'Service_ID'], {});
    expect([found.name, found.city, found.id]).toEqual([' Restaurant ', 'CITY', 'Service_ID']);
    expect(resolveColumns(['name', 'city', 'id'], {}).id).toBeUndefined();
  });

  it('searches by name and city as they stand', () => {
    expect(ask(['name', 'city'], [' Nopa ', 'S.F.'])).toEqual({
      kind: 'search',
      name: ' Nopa ',
      city: 'S.F.',
    });
    expect(ask(['name'], ['Nopa'], { city: 'SF' })).toMatchObject({ city: 'SF' });
  });

  it('takes --city for all rows, a set city only where there is no column', () => {
    expect(ask(['name', 'city'], ['Nopa', 'LA'], { city: 'SF' })).toMatchObject({ city: 'SF' });
    expect(ask(['name', 'city'], ['Nopa', 'LA'], { defaultCity: 'SF' })).toMatchObject({ city: 'LA' });
    expect(ask(['name', 'city'], ['Nopa', ' '], { defaultCity: 'SF' })).toEqual({
      kind: 'none',
      why: 'the city is empty',
    });
    expect(ask(['name'], ['Nopa'], { defaultCity: 'SF' })).toMatchObject({ city: 'SF' });
  });

  it('looks ids up, and searches where a row has none', () => {
    const header = ['restaurant_id', 'name', 'city'];
    expect(ask(header, [' a-1 ', 'Nopa', 'SF'])).toEqual({ kind: 'lookup', id: 'a-1' });
    expect(ask(header, ['', 'Nopa', 'SF'])).toMatchObject({ kind: 'search' });
    expect(ask(header, ['', '', 'SF'])).toEqual({ kind: 'none', why: 'no id and no name' });
    expect(ask(['service_id'], [''])).toMatchObject({ kind: 'none' });
    expect(ask(['service_id'], ['../x?#'])).toMatchObject({
      kind: 'none',
      why: expect.stringContaining('../x?#'),
    });
  });

  it('takes columns that are named, in another case too, and names the nearest otherwise', () => {
    expect(resolveColumns(['Lokal', 'Stadt'], { nameColumn: 'lokal', cityColumn: 'Stadt' })).toMatchObject({
      name: 'Lokal',
      city: 'Stadt',
    });
    expect(() => resolveColumns(['place', 'city'], { nameColumn: 'plase' })).toThrow(
      expect.objectContaining({ code: 'usage', hint: "did you mean --name-column 'place'?" }),
    );
  });

  it('refuses a list without anything to ask by', () => {
    expect(() => resolveColumns(['a', 'city'], {})).toThrow(/no column for the name.*'a', 'city'/);
    expect(() => resolveColumns(['name', 'b'], {})).toThrow(/no column for the city/);
    expect(() => resolveColumns(['service_id'], {})).not.toThrow();
  });

  it('takes the first of two columns of one name', () => {
    expect(ask(['name', 'name', 'city'], ['A', 'B', 'SF'])).toMatchObject({ name: 'A' });
  });

  it('reads keys of objects, dotted ones where they are named', () => {
    const columns = resolveColumns(['venue', 'city'], { nameColumn: 'venue.name', nested: true });
    expect(columns.ask(object({ venue: { name: 'Nopa' }, city: 'SF' }))).toMatchObject({
      name: 'Nopa',
      city: 'SF',
    });
    const plain = resolveColumns(['name', 'city'], { nested: true });
    expect(plain.ask(object({ name: 21, city: 'SF' }))).toMatchObject({ name: '21' });
    for (const name of [undefined, null, {}, ['Nopa'], '']) {
      expect(plain.ask(object({ name, city: 'SF' }))).toEqual({ kind: 'none', why: 'the name is empty' });
    }
  });
});
