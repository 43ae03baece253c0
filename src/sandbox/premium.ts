import type { Coordinates, LookupOutput } from '../client/types.ts';
import { GRADES } from './grades.ts';
import type { Draw } from './random.ts';
import type { SandboxRestaurant } from './types.ts';

const THEMES = [
  'service',
  'value',
  'noise',
  'portions',
  'wine list',
  'waiting time',
  'dessert',
  'atmosphere',
] as const;
const EARTH_RADIUS_METRES = 6_371_000;

/** What the level `premium` adds: nested objects and lists, with gaps as real data have them. */
export function premiumDetails(
  restaurant: SandboxRestaurant,
  draw: Draw,
  neighbours: readonly SandboxRestaurant[],
): LookupOutput {
  const known = restaurant.coverage_level !== 'minimal';
  const score = () => draw.integer(60, 98) / 10;
  return {
    scores: { food: score(), service: score(), ambience: score(), value: known ? score() : null },
    review_themes: known ? themes(draw) : [],
    dietary: {
      vegetarian: draw.chance(0.8),
      vegan: draw.chance(0.4),
      gluten_free: draw.chance(0.5),
      halal: draw.chance(0.2) ? true : null,
      kosher: null,
    },
    reservations: {
      accepted: draw.chance(0.8),
      lead_days: draw.integer(0, 30),
      deposit: draw.chance(0.2) ? { amount: draw.integer(10, 50), refundable: true } : null,
    },
    grade_history: history(restaurant.grade, draw),
    nearby: nearby(restaurant, neighbours),
  };
}

function themes(draw: Draw): LookupOutput[] {
  return draw.some(THEMES, draw.integer(2, 4)).map((theme) => ({
    theme,
    mentions: draw.integer(5, 400),
    sentiment: draw.integer(-100, 100) / 100,
    examples: [`"${theme}" came up again and again`],
  }));
}

/** Three half-years, oldest first, ending with the grade of today. */
function history(grade: string | undefined, draw: Draw): LookupOutput[] {
  if (grade === undefined) return [];
  const place = GRADES.indexOf(grade);
  const near = () => GRADES[Math.max(0, place) + draw.integer(0, 1)] ?? grade;
  return [
    { date: '2024-07-01', grade: near() },
    { date: '2025-01-01', grade: near() },
    { date: '2025-07-01', grade },
  ];
}

/** The three closest others of the city, closest first. */
function nearby(
  { service_id, coordinates }: SandboxRestaurant,
  neighbours: readonly SandboxRestaurant[],
): LookupOutput[] {
  if (coordinates === undefined) return [];
  const others = neighbours.flatMap((other) => {
    if (other.service_id === service_id || other.coordinates === undefined) return [];
    const distance = Math.round(metresBetween(coordinates, other.coordinates));
    return [{ service_id: other.service_id, name: other.name, distance_m: distance }];
  });
  return others.sort((a, b) => a.distance_m - b.distance_m).slice(0, 3);
}

/** Great-circle distance (haversine). */
function metresBetween(from: Coordinates, to: Coordinates): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const sinLat = Math.sin(radians(to.lat - from.lat) / 2);
  const sinLng = Math.sin(radians(to.lng - from.lng) / 2);
  const chord = sinLat ** 2 + Math.cos(radians(from.lat)) * Math.cos(radians(to.lat)) * sinLng ** 2;
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.sqrt(chord));
}
