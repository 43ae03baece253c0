import { describe, expect, it } from 'vitest';
import { readRestaurants } from '../../../src/sandbox/restaurants.ts';
import { start, useTool } from './http.ts';

const badInput = (message: string | RegExp) =>
  expect.objectContaining({ code: 'bad_input', message: expect.stringMatching(message) });

describe('readRestaurants from JSON', () => {
  it('reads the output of a search, and serves it byte for byte', async () => {
    const { output } = await useTool(await start(), 'find_restaurant', { name: 'Nopa', city: 'SF' });
    expect(readRestaurants(JSON.stringify(output), 'json')).toEqual(output.results);
    expect(readRestaurants(JSON.stringify(output.results), 'json')).toEqual(output.results);
  });

  it('requires a name and a city, creates the id, and keeps unknown fields', () => {
    const text = '\uFEFF[{"name":"Ann","city":"Oslo","stars":3,"__proto__":{"x":1},"grade":null}]';
    const [ann] = readRestaurants(text, 'json');
    expect(ann).toMatchObject({ name: 'Ann', city: 'Oslo', stars: 3 });
    expect(ann).not.toHaveProperty('grade');
    expect(ann?.service_id).toMatch(/^[0-9a-f]{8}-/);
    expect(readRestaurants(text, 'json')).toEqual([ann]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it('gives equal entries different ids', () => {
    const [one, two] = readRestaurants('[{"name":"Ann","city":"Oslo"},{"name":"Ann","city":"Oslo"}]', 'json');
    expect(one?.service_id).not.toBe(two?.service_id);
  });

  it.each([
    ['', /not JSON/],
    ['{"a":1}', /neither a JSON array nor/],
    ['[]', /no restaurant/],
    ['[{"name":"A","city":"B"},7]', /^entry 2: not an object/],
    ['[{"city":"B"}]', /^entry 1: name is missing/],
    ['[{"name":"A","city":" "}]', /^entry 1: city is missing/],
    [
      '[{"name":"A","city":"B","coordinates":{"lat":91,"lng":0}}]',
      /^entry 1: lat is not a number from -90 to 90/,
    ],
    ['[{"name":"A","city":"B","coordinates":"here"}]', /^entry 1: lat is not/],
    ['[{"name":"A","city":"B","cuisine_tags":"thai"}]', /^entry 1: cuisine_tags is not a list/],
    ['[{"name":"A","city":"B","service_id":7}]', /^entry 1: service_id is not text/],
    [
      '[{"name":"A","city":"B","service_id":"x"},{"name":"C","city":"B","service_id":"x"}]',
      /^entry 2: .*entry 1/,
    ],
  ])('rejects %s', (text, message) => {
    expect(() => readRestaurants(text, 'json')).toThrowError(badInput(message));
  });
});

describe('readRestaurants from CSV', () => {
  it('reads the documented columns and keeps the others', () => {
    const text =
      '\uFEFFname,city,lat,lng,cuisine_tags,grade,owner\r\n"Ann, ""Bob""",Oslo,59.9,10.7,thai; vegan,A,Kari\r\n\r\nBare,Oslo\r\n';
    const [ann, bare] = readRestaurants(text, 'csv');
    expect(ann).toMatchObject({
      name: 'Ann, "Bob"',
      city: 'Oslo',
      coordinates: { lat: 59.9, lng: 10.7 },
      cuisine_tags: ['thai', 'vegan'],
      grade: 'A',
      owner: 'Kari',
    });
    expect(bare).toEqual({
      service_id: bare?.service_id,
      name: 'Bare',
      city: 'Oslo',
      cuisine_tags: [],
      owner: '',
    });
  });

  it('serves the data that it read', async () => {
    const restaurants = readRestaurants('name,city\nChez Ann,Oslo\n', 'csv');
    const sandbox = await start({ restaurants });
    const { output } = await useTool(sandbox, 'find_restaurant', { name: 'ann', city: 'OSLO' });
    expect(output).toMatchObject({ total_matches: 1, results: [{ name: 'Chez Ann' }] });
    const restaurant_id = restaurants[0]?.service_id;
    const premium = await useTool(
      sandbox,
      'lookup_restaurant',
      { restaurant_id, fields: 'premium' },
      sandbox.keys.paid,
    );
    expect(premium.output).toMatchObject({ status: 'ok', grade: null, grade_history: [] });
  });

  it.each([
    ['', /no restaurant/],
    ['name,city\n', /no restaurant/],
    ['name,name\nA,B\n', /^line 1: repeated column "name"/],
    ['name,city\nA,B\nC,\n', /^line 3: city is missing/],
    ['name,city\nA,B,C\n', /^line 2: 3 fields, but 2 columns/],
    ['name,city,lat,lng\nA,B,1,\n', /^line 2: lng is not a number/],
    ['name,city,lat,lng\nA,B,north,1\n', /^line 2: lat is not a number/],
    ['name,city\n"A,B\n', /^line 2: opens a quote that is never closed/],
  ])('rejects %j', (text, message) => {
    expect(() => readRestaurants(text, 'csv')).toThrowError(badInput(message));
  });
});
