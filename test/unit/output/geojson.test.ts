import { describe, expect, it } from 'vitest';
import { toGeoJson } from '../../../src/output/geo.ts';

describe('toGeoJson', () => {
  it('writes points in [lng, lat] and all other fields as properties', () => {
    const nopa = {
      service_id: 'id-1',
      name: 'Nopa',
      coordinates: { lat: 37.77, lng: -122.43 },
      cuisine_tags: ['american'],
    };
    expect(toGeoJson([nopa])).toEqual({
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          id: 'id-1',
          geometry: { type: 'Point', coordinates: [-122.43, 37.77] },
          properties: { service_id: 'id-1', name: 'Nopa', cuisine_tags: ['american'] },
        },
      ],
    });
  });

  it.each([
    ['none', undefined],
    ['null', null],
    ['text', { lat: '37', lng: '-122' }],
    ['NaN', { lat: Number.NaN, lng: 1 }],
    ['infinite', { lat: 1, lng: Number.POSITIVE_INFINITY }],
    ['off the earth', { lat: 91, lng: 0 }],
    ['half', { lat: 1 }],
  ])('has no geometry for coordinates: %s', (_, coordinates) => {
    const [feature] = toGeoJson([{ service_id: 'x', coordinates }]).features;
    expect(feature?.geometry).toBeNull();
    expect(feature?.properties).toEqual({ service_id: 'x', coordinates });
  });

  it('reduces the properties and keeps the coordinates', () => {
    const [feature] = toGeoJson(
      [{ service_id: 'x', name: 'N', coordinates: { lat: 1, lng: 2 } }],
      ['name', 'lat'],
    ).features;
    expect(feature).toEqual({
      type: 'Feature',
      id: 'x',
      geometry: { type: 'Point', coordinates: [2, 1] },
      properties: { name: 'N' },
    });
  });

  it('accepts values that are not restaurants', () => {
    expect(
      toGeoJson([null, 5, JSON.parse('{"__proto__":{"x":1}}')]).features.map(({ properties }) =>
        Object.keys(properties),
      ),
    ).toEqual([[], [], ['__proto__']]);
  });
});
