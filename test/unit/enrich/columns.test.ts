import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { type ColumnOptions, resolveColumns } from '../../../src/enrich/match/columns.ts';
import type { InputRow } from '../../../src/enrich/row.ts';
import type { AppError } from '../../../src/errors.ts';
import { again } from '../../../src/hint.ts';
import { hintText } from '../../../src/output/hint-text.ts';

const query = (header: readonly string[], cells: readonly string[], options: ColumnOptions = {}) =>
  resolveColumns(header, options).query({ kind: 'cells', line: 2, cells, text: '', end: '' });
const object = (value: Record<string, unknown>): InputRow => ({ kind: 'object', line: 1, text: '', value });

describe('resolveColumns', () => {
  it('recognizes common headers in any case, the best one first', () => {
    const found = resolveColumns(['title', ' Restaurant ', 'Town', 'CITY', 'id', 'Service_ID'], {});
    expect([found.name, found.city, found.id]).toEqual([' Restaurant ', 'CITY', 'Service_ID']);
    expect(resolveColumns(['name', 'city', 'id'], {}).id).toBeUndefined();
  });

  it('searches by name and city without the blanks around them', () => {
    expect(query(['name', 'city'], [' Nopa ', 'S.F.'])).toEqual({
      kind: 'search',
      name: 'Nopa',
      city: 'S.F.',
    });
    expect(query(['name'], ['Nopa'], { city: 'SF' })).toMatchObject({ city: 'SF' });
  });

  it('recognizes the headers of other programs', () => {
    const names = ['Restaurant Name', 'restaurant_name', 'VENUE', ' Place ', 'RestaurantName'];
    for (const name of names) expect(resolveColumns([name, 'City'], {}).name).toBe(name);
  });

  it('recognizes headers in other languages', () => {
    for (const [name, city] of [
      ['Lokal', 'Ort'],
      ['Betrieb', 'Stadt'],
      ['Nom', 'Ville'],
      ['Nombre', 'Ciudad'],
    ])
      expect(resolveColumns([name ?? '', city ?? ''], {})).toMatchObject({ name, city });
  });

  it('names all missing columns at once, and suggests none that it does not recognize', () => {
    const hint = (header: readonly string[]) => {
      try {
        resolveColumns(header, {});
      } catch (error) {
        return hintText(hintFor(error as AppError));
      }
      return undefined;
    };
    expect(hint(['Name', 'Kd.-Nr.'])).toBe(
      'restaurant <…> --city-column <column>; or for all rows: restaurant <…> --city <city>',
    );
    expect(hint(['Kd.-Nr.', 'City'])).toBe('restaurant <…> --name-column <column>');
    expect(hint(['Kd.-Nr.'])).toBe('restaurant <…> --name-column <column> --city-column <column>');
  });

  it('reports wrong and missing columns together', () => {
    expect(() => resolveColumns(['Kd.-Nr.', 'Stadtt'], { nameColumn: 'Name', cityColumn: 'stadt' })).toThrow(
      "--name-column 'Name', --city-column 'stadt': the list has no such column; it has 'Kd.-Nr.', 'Stadtt'",
    );
    expect(() => resolveColumns(['a'], { nameColumn: 'b' })).toThrow(
      /^--name-column 'b': the list has no such column; no column for the city: none is called 'city'; it has 'a'$/,
    );
  });

  it('fills blank cities with --city, and uses the city of the settings only without a city column', () => {
    expect(query(['name', 'city'], ['Nopa', 'LA'], { city: 'SF' })).toMatchObject({ city: 'LA' });
    expect(query(['name', 'city'], ['Nopa', ' '], { city: 'SF' })).toMatchObject({ city: 'SF' });
    expect(query(['name', 'Ort'], ['Nopa', ''], { city: 'SF', cityColumn: 'Ort' })).toMatchObject({
      city: 'SF',
    });
    expect(query(['name', 'city'], ['Nopa', 'LA'], { defaultCity: 'SF' })).toMatchObject({ city: 'LA' });
    expect(query(['name', 'city'], ['Nopa', ' '], { defaultCity: 'SF' })).toEqual({
      kind: 'none',
      why: 'the city is empty',
    });
    expect(query(['name'], ['Nopa'], { defaultCity: 'SF' })).toMatchObject({ city: 'SF' });
  });

  it('looks up ids, and searches by name if a row has no id', () => {
    const header = ['restaurant_id', 'name', 'city'];
    expect(query(header, [' a-1 ', 'Nopa', 'SF'])).toEqual({
      kind: 'lookup',
      id: 'a-1',
      name: 'Nopa',
      city: 'SF',
    });
    expect(query(header, ['', 'Nopa', 'SF'])).toMatchObject({ kind: 'search' });
    expect(query(header, ['', '', 'SF'])).toEqual({ kind: 'none', why: 'no id and no name' });
    expect(query(['service_id'], [''])).toMatchObject({ kind: 'none' });
    expect(query(['service_id'], ['../x?#'])).toMatchObject({
      kind: 'none',
      why: expect.stringContaining('../x?#'),
    });
  });

  it('accepts the columns that options name, in any case, and suggests the nearest one otherwise', () => {
    expect(resolveColumns(['Lokal', 'Stadt'], { nameColumn: 'lokal', cityColumn: 'Stadt' })).toMatchObject({
      name: 'Lokal',
      city: 'Stadt',
    });
    expect(() => resolveColumns(['place', 'city'], { nameColumn: 'plase' })).toThrow(
      expect.objectContaining({
        code: 'usage',
        details: { hint: { text: 'did you mean', command: again({ '--name-column': 'place' }) } },
      }),
    );
  });

  it('rejects a list with nothing to search by', () => {
    expect(() => resolveColumns(['a', 'city'], {})).toThrow(/no column for the name.*'a', 'city'/);
    expect(() => resolveColumns(['name', 'b'], {})).toThrow(/no column for the city/);
    expect(() => resolveColumns(['service_id'], {})).not.toThrow();
  });

  it('reads a place: decimal numbers of degrees, and an address', () => {
    const header = ['name', 'city', 'Latitude', 'LON', 'Adresse'];
    const place = (...cells: string[]) => query(header, ['Nopa', 'SF', ...cells]);
    expect(place('37,77', '-122.4', 'Main St 1')).toMatchObject({
      place: { point: { lat: 37.77, lng: -122.4 }, swapped: undefined, address: 'Main St 1' },
    });
    for (const [lat = '', lng = ''] of [
      ['0', '0.0'],
      ['52.520.008', '13.4'],
      ['', '13.4'],
      ['500', '700'],
    ])
      expect(place(lat, lng, '')).toMatchObject({ kind: 'search', place: undefined });
    expect(() => resolveColumns(['name', 'city', 'y'], { latColumn: 'y' })).toThrow(
      /no column for the longitude/,
    );
  });

  it('uses the first of two columns with the same name', () => {
    expect(query(['name', 'name', 'city'], ['A', 'B', 'SF'])).toMatchObject({ name: 'A' });
  });

  it('recognizes the columns of Overture Maps and OpenStreetMap', () => {
    const overture = object({ names: { primary: 'Nopa' }, addresses: [{ locality: 'SF' }] });
    const columns = resolveColumns(['names', 'addresses', 'names.primary', 'addresses.0.locality'], {});
    expect(columns.query(overture)).toMatchObject({ name: 'Nopa', city: 'SF' });
    expect(resolveColumns(['name', 'addr:city'], {})).toMatchObject({ name: 'name', city: 'addr:city' });
  });

  it('reads keys of objects, and dotted paths that an option names', () => {
    const columns = resolveColumns(['venue', 'city'], { nameColumn: 'venue.name', nested: true });
    expect(columns.query(object({ venue: { name: 'Nopa' }, city: 'SF' }))).toMatchObject({
      name: 'Nopa',
      city: 'SF',
    });
    const plain = resolveColumns(['name', 'city'], { nested: true });
    expect(plain.query(object({ name: 21, city: 'SF' }))).toMatchObject({ name: '21' });
    for (const name of [undefined, null, {}, ['Nopa'], '']) {
      expect(plain.query(object({ name, city: 'SF' }))).toEqual({ kind: 'none', why: 'the name is empty' });
    }
  });
});
