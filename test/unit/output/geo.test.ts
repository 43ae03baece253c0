import { describe, expect, it } from 'vitest';
import { toGeoJson } from '../../../src/output/plain-formats.ts';
import { mapUrl } from '../../../src/util/restaurant.ts';

const NOWHERE = [
  undefined,
  null,
  'x',
  [],
  { lat: 1 },
  { lat: '37', lng: '-122' },
  { lat: 91, lng: 0 },
  { lat: 0, lng: -181 },
  { lat: Number.NaN, lng: 0 },
  { lat: 1, lng: Number.POSITIVE_INFINITY },
];

it.each(NOWHERE)('coordinates %j have no geometry and no link', (coordinates) => {
  const [feature] = toGeoJson([{ service_id: 'x', coordinates }]).features;
  expect(feature).toMatchObject({ geometry: null, properties: { service_id: 'x', coordinates } });
  expect(mapUrl(coordinates)).toBeUndefined();
});

describe('toGeoJson', () => {
  it('reduces the properties and keeps the coordinates', () => {
    const record = { service_id: 'x', name: 'N', coordinates: { lat: 1, lng: 2 } };
    expect(toGeoJson([record], ['name', 'lat']).features).toEqual([
      {
        type: 'Feature',
        id: 'x',
        geometry: { type: 'Point', coordinates: [2, 1] },
        properties: { name: 'N' },
      },
    ]);
  });

  it('accepts values that are not restaurants', () => {
    const { features } = toGeoJson([null, 5, JSON.parse('{"__proto__":{"x":1}}')]);
    expect(features.map(({ properties }) => Object.keys(properties))).toEqual([[], [], ['__proto__']]);
  });
});

it('mapUrl uses only the two numbers', () => {
  expect(mapUrl({ lat: 37.7749, lng: -122.43761234 })).toBe(
    'https://www.openstreetmap.org/?mlat=37.7749&mlon=-122.437612#map=18/37.7749/-122.437612',
  );
  expect(mapUrl({ lat: 1e-9, lng: -0 })).toContain('mlat=0&mlon=0#');
});
