import type { SandboxRestaurant } from '../types.ts';
import { AFRICA } from './africa.ts';
import { ASIA_PACIFIC } from './asia-pacific.ts';
import { buildCity } from './build.ts';
import { EUROPE } from './europe.ts';
import { LATIN_AMERICA } from './latin-america.ts';
import { MIDDLE_EAST } from './middle-east.ts';
import { SOUTH_ASIA } from './south-asia.ts';
import { UNITED_STATES } from './united-states.ts';

/** The one entry that exists outside of this program; it is what the documentation searches for. */
const NOPA: SandboxRestaurant = {
  service_id: 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53',
  name: 'Nopa',
  address: '560 Divisadero St, San Francisco, CA 94117',
  coordinates: { lat: 37.7749, lng: -122.4376 },
  city: 'San Francisco',
  neighborhood: 'NoPa',
  cuisine_tags: ['californian'],
  grade: 'A',
  coverage_level: 'full',
};

/** The sample data: about 200 invented restaurants, and Nopa. The same at every run. */
export function sampleRestaurants(): SandboxRestaurant[] {
  const cities = [
    ...UNITED_STATES,
    ...LATIN_AMERICA,
    ...EUROPE,
    ...AFRICA,
    ...MIDDLE_EAST,
    ...SOUTH_ASIA,
    ...ASIA_PACIFIC,
  ];
  return [NOPA, ...cities.flatMap(buildCity)];
}
