import { describe, expect, it } from 'vitest';
import { describe as describeRestaurant } from '../../../src/sandbox/details.ts';
import { sampleRestaurants } from '../../../src/sandbox/restaurants.ts';

const all = sampleRestaurants();
const named = (test: (name: string) => boolean) => all.filter(({ name }) => test(name));

describe('the sample data', () => {
  it('has about 200 restaurants in 18 cities, each with a UUID', () => {
    expect(all.length).toBeGreaterThanOrEqual(200);
    expect(new Set(all.map(({ city }) => city)).size).toBe(18);
    expect(new Set(all.map(({ service_id }) => service_id)).size).toBe(all.length);
    for (const { service_id } of all) {
      expect(service_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('is the same in every run', () => {
    expect(sampleRestaurants()).toEqual(all);
    const [corner] = named((name) => name === 'Nopa Corner');
    expect(corner?.service_id).toBe('bed5a53b-5aa0-42bc-9347-360b3e9abf31');
  });

  it('has every documented field', () => {
    for (const restaurant of all) {
      expect(restaurant.name).not.toBe('');
      expect(restaurant.address).toMatch(/, /);
      expect(restaurant.grade).toMatch(/^[A-C][+-]?$/);
      expect(['full', 'partial', 'minimal']).toContain(restaurant.coverage_level);
      expect(restaurant.cuisine_tags?.length).toBeGreaterThan(0);
      for (const tag of restaurant.cuisine_tags ?? []) expect(tag).toMatch(/^[a-z][a-z ]+$/);
      expect(Math.abs(restaurant.coordinates?.lat ?? 99)).toBeLessThanOrEqual(90);
      expect(Math.abs(restaurant.coordinates?.lng ?? 199)).toBeLessThanOrEqual(180);
    }
  });

  it('has names that are hard to match', () => {
    const longest = Math.max(...all.map(({ name }) => name.length));
    expect(longest).toBeGreaterThanOrEqual(120);
    for (const first of ['=', '+', '-', '@']) expect(named((name) => name.startsWith(first))).not.toEqual([]);
    for (const part of [',', ';', '&', '"', "'", '’', '“', '\u200D', '\u0301']) {
      expect(named((name) => name.includes(part))).not.toEqual([]);
    }
    const scripts = 'Hiragana Katakana Han Hangul Arabic Hebrew Thai Devanagari Cyrillic';
    for (const script of scripts.split(' ')) {
      expect(named((name) => new RegExp(`\\p{Script=${script}}`, 'u').test(name))).not.toEqual([]);
    }
    expect(all.some(({ neighborhood }) => neighborhood === '')).toBe(true);
  });

  it('contains no hostile text', () => {
    expect(JSON.stringify(all)).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
  });

  it('has details for each restaurant that never change', () => {
    for (const restaurant of all) {
      const premium = describeRestaurant(restaurant, 'premium');
      expect(describeRestaurant(restaurant, 'premium')).toEqual(premium);
      expect(premium).toMatchObject({ status: 'ok', name: restaurant.name, grade: restaurant.grade });
    }
  });
});
