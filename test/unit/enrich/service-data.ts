import type { SandboxRestaurant } from '../../../src/sandbox/types.ts';

/** Restaurants `Place 0`, `Place 1`, … of Testville, and two of one name. */
export function restaurants(count: number): SandboxRestaurant[] {
  const plain = Array.from({ length: count }, (_each, index) => ({
    service_id: `id-${index}`,
    name: `Place ${index}.`,
    city: 'Testville',
    address: `${index} "Main", St`,
    coordinates: { lat: 1.5, lng: -index },
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

/** No quota, so that a test does not wait for it. */
export const UNPACED = { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' };
