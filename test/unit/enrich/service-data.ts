import type { SandboxRestaurant } from '../../../src/sandbox/types.ts';

/** Restaurants `Place 0`, `Place 1`, … of Testville, and some that a name does not tell apart. */
export function restaurants(count: number): SandboxRestaurant[] {
  const plain = Array.from({ length: count }, (_each, place) => ({
    service_id: `id-${place}`,
    name: `Place ${place}.`,
    city: 'Testville',
    address: `${place} "Main", St`,
    coordinates: { lat: 1.5, lng: -place },
    cuisine_tags: ['a', 'b'],
    grade: 'A',
  }));
  const twins = ['twin-1', 'twin-2'].map((id) => ({ service_id: id, name: 'Twin', city: 'Testville' }));
  return [
    ...plain,
    ...twins,
    { service_id: 'only', name: 'Café Übermut', city: 'Testville' },
    { service_id: 'evil', name: '=1+1', address: '@SUM(A1)\u001b[31m', city: 'Testville', grade: '-A' },
  ];
}

/** Without a budget, so that a test need not wait for one. */
export const UNPACED = { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' };
