import { describe, expect, it } from 'vitest';
import { again, slot } from '../../../src/hint.ts';
import {
  type ColumnOptions,
  type Columns,
  columnsText,
  resolveColumns,
} from '../../../src/lists/match/columns.ts';
import { questionOf } from '../../../src/lists/plan.ts';
import { type Knowledge, matchQuery, resolve } from '../../../src/lists/resolve.ts';
import type { InputRow } from '../../../src/lists/row.ts';

const NOTHING: Knowledge = {
  find: () => undefined,
  lookup: () => undefined,
  *about() {},
};

/** The first request for a row, with its place; or why there is none. */
function queryOf(columns: Columns, row: InputRow) {
  const question = questionOf(columns, row);
  const { name, city, place } = matchQuery(question.key);
  const { lack, result } = resolve(question, NOTHING, {});
  if (lack?.request.kind === 'find') return { kind: 'search', ...lack.request.query, place };
  if (lack?.request.kind === 'lookup') return { kind: 'lookup', id: lack.request.id, name, city, place };
  return { kind: 'none', why: result.error };
}

/** The same of a row of cells by their columns. */
const query = (row: Readonly<Record<string, string>>, options: ColumnOptions = {}) =>
  queryOf(resolveColumns(Object.keys(row), options), cellRow(Object.values(row)));
const cellRow = (cells: string[]): InputRow => ({ kind: 'cells', line: 2, cells, text: '', end: '' });
const object = (value: Record<string, unknown>): InputRow => ({ kind: 'object', line: 1, text: '', value });

// Decisions compare rows by the members of their keys (decisions.ts).
describe('the rows of a list', () => {
  const COLUMNS = ['name', 'city', 'address', 'lat', 'lng', 'service_id'];
  const subsets = Array.from({ length: 2 ** COLUMNS.length }, (_, bits) =>
    COLUMNS.filter((_column, index) => bits & (2 ** index)),
  );
  const VALUES = [undefined, null, '', ' ', 'x', 0, 1.5, true, [], {}, { a: 1 }];
  const OPTIONS: readonly ColumnOptions[] = [{}, { city: 'SF' }, { defaultCity: 'SF' }, { nested: true }];
  const membersOf = (columns: Columns, row: InputRow) => Object.keys(questionOf(columns, row).key).join();

  it.each(OPTIONS)('have keys with the same members, whatever their cells: %j', (options) => {
    const isComplete = (header: readonly string[]) =>
      header.includes('service_id') || (header.includes('name') && header.includes('city'));
    for (const header of subsets.filter(isComplete)) {
      const columns = resolveColumns(header, options);
      const objects = VALUES.map((value) =>
        object(Object.fromEntries(header.map((column) => [column, value]))),
      );
      const cells = ['', ' ', 'x', '1,5'].map((text) => cellRow(header.map(() => text)));
      const formulas = cells.map((row) => ({ ...row, kinds: 'f'.repeat(header.length) }) as InputRow);
      const rows = [...objects, object({}), ...cells, ...formulas];
      expect(new Set(rows.map((row) => membersOf(columns, row))).size).toBe(1);
    }
  });
});

describe('resolveColumns', () => {
  it.each([
    [['title', ' Restaurant ', 'Town', 'CITY', 'id', 'Service_ID'], ' Restaurant ', 'CITY', 'Service_ID'],
    [['name', 'city', 'id'], 'name', 'city', undefined],
    [['Restaurant Name', 'City'], 'Restaurant Name', 'City', undefined],
    [['restaurant_name', 'City'], 'restaurant_name', 'City', undefined],
    [['VENUE', 'City'], 'VENUE', 'City', undefined],
    [[' Place ', 'City'], ' Place ', 'City', undefined],
    [['RestaurantName', 'City'], 'RestaurantName', 'City', undefined],
    [['Lokal', 'Ort'], 'Lokal', 'Ort', undefined],
    [['Betrieb', 'Stadt'], 'Betrieb', 'Stadt', undefined],
    [['Nom', 'Ville'], 'Nom', 'Ville', undefined],
    [['Nombre', 'Ciudad'], 'Nombre', 'Ciudad', undefined],
    [['name', 'addr:city'], 'name', 'addr:city', undefined],
  ])('recognizes %j', (header, name, city, id) => {
    const found = resolveColumns(header, {});
    expect([found.name, found.city, found.id]).toEqual([name, city, id]);
  });

  it.each<[Record<string, string>, ColumnOptions, object]>([
    [{ name: ' Nopa ', city: 'S.F.' }, {}, { kind: 'search', name: 'Nopa', city: 'S.F.' }],
    [{ name: 'Nopa' }, { city: 'SF' }, { city: 'SF' }],
    [{ name: 'Nopa', city: 'LA' }, { city: 'SF' }, { city: 'LA' }],
    [{ name: 'Nopa', city: ' ' }, { city: 'SF' }, { city: 'SF' }],
    [{ name: 'Nopa', Ort: '' }, { city: 'SF', cityColumn: 'Ort' }, { city: 'SF' }],
    // The city of the settings is used only without a column for the city.
    [{ name: 'Nopa' }, { defaultCity: 'SF' }, { city: 'SF' }],
    [{ name: 'Nopa', city: 'LA' }, { defaultCity: 'SF' }, { city: 'LA' }],
    [{ name: 'Nopa', city: ' ' }, { defaultCity: 'SF' }, { kind: 'none', why: 'the city is empty' }],
    [
      { restaurant_id: ' a-1 ', name: 'Nopa', city: 'SF' },
      {},
      { kind: 'lookup', id: 'a-1', name: 'Nopa', city: 'SF' },
    ],
    [{ restaurant_id: '', name: 'Nopa', city: 'SF' }, {}, { kind: 'search' }],
    [{ restaurant_id: '', name: '', city: 'SF' }, {}, { kind: 'none', why: 'no id and no name' }],
    [{ service_id: '' }, {}, { kind: 'none' }],
    [{ service_id: '../x?#' }, {}, { kind: 'none', why: expect.stringContaining('../x?#') }],
  ])('the row %j with the options %j', (row, options, expected) => {
    expect(query(row, options)).toMatchObject(expected);
  });

  it('reports wrong and missing columns together', () => {
    expect(() => resolveColumns(['Kd.-Nr.', 'Stadtt'], { nameColumn: 'Name', cityColumn: 'stadt' })).toThrow(
      "--name-column 'Name', --city-column 'stadt': the list has no such column; it has 'Kd.-Nr.', 'Stadtt'",
    );
    expect(() => resolveColumns(['a'], { nameColumn: 'b' })).toThrow(
      /^--name-column 'b': the list has no such column; no column for the city: none is called 'city'; it has 'a'$/,
    );
  });

  it('names the sheet that was read, and offers another one', () => {
    const sheets = { sheet: 'Deckblatt', sheets: ['Deckblatt', 'Kunden', 'Alt'] };
    expect(() => resolveColumns(['a', 'b'], { sheets })).toThrow(
      expect.objectContaining({
        message:
          "no column for the name and the city: none is called 'name' or 'city'; its sheet 'Deckblatt' has 'a', 'b'; other sheets: 'Kunden', 'Alt'",
        details: {
          hint: [
            { command: again({ '--name-column': slot('column'), '--city-column': slot('column') }) },
            { text: 'or another sheet', command: again({ '--sheet': 'Kunden' }) },
          ],
        },
      }),
    );
  });

  it.each<[string[], ColumnOptions, string]>([
    [['Betrieb', 'Ort', 'Straße'], {}, 'name Betrieb, city Ort, address Straße; no coordinates'],
    [
      ['name', 'Lat.', 'Long.'],
      { city: 'SF' },
      'name, latitude Lat., longitude Long., city always SF; no address',
    ],
    [
      ['name', 'Ort', 'Breite', 'La\u0308nge', 'addr:city'],
      {},
      'name, city Ort, latitude Breite, longitude La\u0308nge; no address',
    ],
    [['restaurant_id'], {}, 'id restaurant_id; no address, no coordinates'],
  ])('says what is read from %j', (header, options, text) => {
    expect(columnsText(resolveColumns(header, options))).toBe(text);
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

  it('reads a place: decimal numbers of degrees, and an address', () => {
    const place = (Latitude: string, LON: string, Adresse: string) =>
      query({ name: 'Nopa', city: 'SF', Latitude, LON, Adresse });
    expect(place('37,77', '-122.4', 'Main St 1')).toMatchObject({
      place: { point: { lat: 37.77, lng: -122.4 }, swapped: undefined, address: 'Main St 1' },
    });
    for (const wrong of ['0 0.0', '52.520.008 13.4', ' 13.4', '500 700']) {
      const [lat = '', lng = ''] = wrong.split(' ');
      expect(place(lat, lng, '')).toMatchObject({ kind: 'search', place: undefined });
    }
    expect(() => resolveColumns(['name', 'city', 'y'], { latColumn: 'y' })).toThrow(
      /no column for the longitude/,
    );
  });

  it('recognizes the columns of Overture Maps', () => {
    const overture = object({ names: { primary: 'Nopa' }, addresses: [{ locality: 'SF' }] });
    const columns = resolveColumns(['names', 'addresses', 'names.primary', 'addresses.0.locality'], {});
    expect(queryOf(columns, overture)).toMatchObject({ name: 'Nopa', city: 'SF' });
  });

  it('reads keys of objects, and dotted paths that an option names', () => {
    const columns = resolveColumns(['venue', 'city'], { nameColumn: 'venue.name', nested: true });
    expect(queryOf(columns, object({ venue: { name: 'Nopa' }, city: 'SF' }))).toMatchObject({
      name: 'Nopa',
      city: 'SF',
    });
    const plain = resolveColumns(['name', 'city'], { nested: true });
    expect(queryOf(plain, object({ name: 21, city: 'SF' }))).toMatchObject({ name: '21' });
    for (const name of [undefined, null, {}, ['Nopa'], '']) {
      expect(queryOf(plain, object({ name, city: 'SF' }))).toEqual({
        kind: 'none',
        why: 'the name is empty',
      });
    }
  });
});
