import type { Level, LookupOutput } from '../client/types.ts';
import { premiumDetails } from './premium.ts';
import { type Draw, drawFrom } from './random.ts';
import type { SandboxRestaurant } from './types.ts';

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
const PRICES = ['$', '$$', '$$$', '$$$$'] as const;
const PRAISE = [
  'Locals queue for it',
  'Quietly excellent',
  'A room that hums from the first seating',
  'Small, warm and exact',
  'Worth the detour',
  'Better at lunch than at dinner',
  'Unchanged for years, in the best way',
] as const;
const DISHES = [
  'slow-roast chicken',
  'braised greens',
  'house pickles',
  'charred flatbread',
  'noodles in broth',
  'grilled sea bream',
  'pork belly',
  'citrus salad',
  'chickpea stew',
  'burnt custard',
] as const;

/**
 * What `lookup_restaurant` says about a restaurant. Everything that is not in the data is drawn from the id, so it is
 * plausible and always the same.
 */
export function describe(
  restaurant: SandboxRestaurant,
  level: Level,
  neighbours: readonly SandboxRestaurant[],
): LookupOutput {
  const draw = drawFrom(restaurant.service_id);
  const basic = basicDetails(restaurant, draw);
  if (level === 'basic') return basic;
  const standard = { ...basic, ...standardDetails(restaurant, draw) };
  return level === 'standard' ? standard : { ...standard, ...premiumDetails(restaurant, draw, neighbours) };
}

function basicDetails(restaurant: SandboxRestaurant, draw: Draw): LookupOutput {
  const { service_id, name, grade, cuisine_tags = [], neighborhood, city } = restaurant;
  const where = neighborhood ? `${neighborhood}, ${city}` : city;
  const tldr = `${draw.pick(PRAISE)}: ${cuisine_tags.join(' and ') || 'good'} cooking in ${where}.`;
  const price = draw.pick(PRICES);
  return {
    status: 'ok',
    service_id,
    name,
    grade: grade ?? null,
    tldr,
    cuisine: cuisine_tags,
    price_level: price,
  };
}

function standardDetails(restaurant: SandboxRestaurant, draw: Draw): LookupOutput {
  const { address, coordinates, city, neighborhood, coverage_level } = restaurant;
  const known = coverage_level !== 'minimal';
  return {
    address: address ?? null,
    city,
    neighborhood: neighborhood || null,
    coordinates: coordinates ?? null,
    coverage_level: coverage_level ?? null,
    phone: known ? phone(city, draw) : null,
    website: known ? `https://${slug(restaurant)}.example/` : null,
    hours: known ? hours(draw) : null,
    signature_dishes: known ? dishes(draw) : [],
    seating: {
      indoor: draw.integer(12, 120),
      outdoor: draw.chance(0.4) ? draw.integer(4, 40) : 0,
      bar: draw.chance(0.5),
    },
    wheelchair_accessible: known ? draw.chance(0.7) : null,
    takes_cards: draw.chance(0.9),
  };
}

/** Opening times by weekday; an empty list is a day off. */
function hours(draw: Draw): Record<string, { open: string; close: string }[]> {
  const lunch = draw.chance(0.5) ? [{ open: '12:00', close: draw.pick(['14:30', '15:00']) }] : [];
  const dinner = {
    open: draw.pick(['17:00', '17:30', '18:00']),
    close: draw.pick(['21:30', '22:00', '23:30']),
  };
  const dayOff = draw.integer(0, DAYS.length);
  return Object.fromEntries(DAYS.map((day, place) => [day, place === dayOff ? [] : [...lunch, dinner]]));
}

function dishes(draw: Draw): LookupOutput[] {
  return draw.some(DISHES, draw.integer(2, 4)).map((name) => ({
    name,
    price: draw.integer(12, 90) / 2,
    vegetarian: !/chicken|bream|pork|broth/.test(name),
  }));
}

/** A number from a range that is set aside for fiction, or that nobody can have. */
function phone(city: string, draw: Draw): string | null {
  const line = String(draw.integer(100, 199));
  const numbers: Readonly<Record<string, string>> = {
    'San Francisco': `+1 415-555-0${line}`,
    'New York': `+1 212-555-0${line}`,
    'Los Angeles': `+1 213-555-0${line}`,
    London: `+44 20 7946 0${line}`,
    Paris: `+33 1 99 00 1${line.slice(0, 1)} ${line.slice(1)}`,
    Tokyo: `+81 3-0000-0${line}`,
    Sydney: `+61 2 5550 1${line}`,
  };
  return numbers[city] ?? null;
}

function slug({ name, service_id }: SandboxRestaurant): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9 ]/g, '');
  return letters.trim().replace(/ +/g, '-').slice(0, 40).replace(/-$/, '') || `r-${service_id.slice(0, 8)}`;
}
