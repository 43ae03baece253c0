import type { Level, LookupOutput, Restaurant } from '../client/types.ts';
import type { SandboxRestaurant } from './types.ts';

const DAYS = 'monday, tuesday, wednesday, thursday, friday, saturday, sunday'.split(', ');
const PRICES = ['$', '$$', '$$$', '$$$$'];
const PRAISE = [
  'Locals queue for it',
  'Quietly excellent',
  'A room that hums from the first seating',
  'Small, warm and exact',
  'Worth the detour',
  'Better at lunch than at dinner',
  'Unchanged for years, in the best way',
];
const DISHES = (
  'slow-roast chicken, braised greens, house pickles, charred flatbread, noodles in broth, ' +
  'grilled sea bream, pork belly, citrus salad, chickpea stew, burnt custard'
).split(', ');
const THEMES = 'service, value, noise, portions, wine list, waiting time, dessert, atmosphere'.split(', ');
/** Numbers that are reserved for fiction or not assigned, without their last three digits. */
const PHONE_PREFIXES: Readonly<Record<string, string>> = {
  'San Francisco': '+1 415-555-0',
  'New York': '+1 212-555-0',
  'Los Angeles': '+1 213-555-0',
  London: '+44 20 7946 0',
  Paris: '+33 1 99 00 0',
  Tokyo: '+81 3-0000-0',
  Sydney: '+61 2 5550 1',
};

const GRADE_DATES = ['2024-07-01', '2025-01-01', '2025-07-01'];

/** Missing values are derived from the id, so they never change. Some are left out, as in real data. */
export function describe(restaurant: SandboxRestaurant, level: Level): LookupOutput {
  const { service_id, name, grade, cuisine_tags = [], neighborhood, city } = restaurant;
  const random = seededRandom(service_id);
  const where = neighborhood ? `${neighborhood}, ${city}` : city;
  const basic = {
    status: 'ok',
    service_id,
    name,
    grade: grade ?? null,
    tldr: `${random.pick(PRAISE)}: ${cuisine_tags.join(' and ') || 'good'} cooking in ${where}.`,
    cuisine: cuisine_tags,
    price_level: random.pick(PRICES),
  };
  if (level === 'basic') return basic;
  const standard = { ...basic, ...standardDetails(restaurant, random) };
  return level === 'standard' ? standard : { ...standard, ...premiumDetails(restaurant, random) };
}

const isKnown = ({ coverage_level }: SandboxRestaurant): boolean => coverage_level !== 'minimal';

function standardDetails(restaurant: SandboxRestaurant, random: SeededRandom) {
  const { address, neighborhood, city, coordinates, coverage_level } = restaurant;
  const ifKnown = <T, U>(value: () => T, otherwise: U) => (isKnown(restaurant) ? value() : otherwise);
  return {
    address: address ?? null,
    city,
    neighborhood: neighborhood || null,
    coordinates: coordinates ?? null,
    coverage_level: coverage_level ?? null,
    phone: ifKnown(() => phone(city, random), null),
    website: ifKnown(() => `https://${slug(restaurant)}.example/`, null),
    hours: ifKnown(() => hours(random), null),
    signature_dishes: ifKnown(() => dishes(random), []),
    seating: {
      indoor: random.integer(12, 120),
      outdoor: random.chance(0.4) ? random.integer(4, 40) : 0,
      bar: random.chance(0.5),
    },
    wheelchair_accessible: ifKnown(() => random.chance(0.7), null),
    takes_cards: random.chance(0.9),
  };
}

function premiumDetails(restaurant: SandboxRestaurant, random: SeededRandom) {
  const { grade } = restaurant;
  const known = isKnown(restaurant);
  const score = () => random.integer(60, 98) / 10;
  return {
    scores: { food: score(), service: score(), ambience: score(), value: known ? score() : null },
    review_themes: known ? themes(random) : [],
    dietary: {
      vegetarian: random.chance(0.8),
      vegan: random.chance(0.4),
      gluten_free: random.chance(0.5),
      halal: random.chance(0.2) ? true : null,
      kosher: null,
    },
    reservations: {
      accepted: random.chance(0.8),
      lead_days: random.integer(0, 30),
      deposit: random.chance(0.2) ? { amount: random.integer(10, 50), refundable: true } : null,
    },
    grade_history: grade === undefined ? [] : GRADE_DATES.map((date) => ({ date, grade })),
  };
}

function phone(city: string, random: SeededRandom): string | null {
  const line = random.integer(100, 199);
  const prefix = PHONE_PREFIXES[city];
  return prefix === undefined ? null : `${prefix}${line}`;
}

function slug({ name, service_id }: Restaurant): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9 ]/g, '');
  return letters.trim().replace(/ +/g, '-').slice(0, 40).replace(/-$/, '') || `r-${service_id.slice(0, 8)}`;
}

function hours(random: SeededRandom): Record<string, { open: string; close: string }[]> {
  const lunch = random.chance(0.5) ? [{ open: '12:00', close: random.pick(['14:30', '15:00']) }] : [];
  const dinner = {
    open: random.pick(['17:00', '17:30', '18:00']),
    close: random.pick(['21:30', '22:00', '23:30']),
  };
  const dayOff = random.integer(0, DAYS.length);
  return Object.fromEntries(DAYS.map((day, place) => [day, place === dayOff ? [] : [...lunch, dinner]]));
}

function dishes(random: SeededRandom): LookupOutput[] {
  return random.some(DISHES, random.integer(2, 4)).map((name) => ({
    name,
    price: random.integer(12, 90) / 2,
    vegetarian: !/chicken|bream|pork|broth/.test(name),
  }));
}

function themes(random: SeededRandom): LookupOutput[] {
  return random.some(THEMES, random.integer(2, 4)).map((theme) => ({
    theme,
    mentions: random.integer(5, 400),
    sentiment: random.integer(-100, 100) / 100,
    examples: [`"${theme}" came up again and again`],
  }));
}

type SeededRandom = ReturnType<typeof seededRandom>;

/** Creates a random number generator whose numbers depend only on the seed (mulberry32 with an FNV-1a hash). */
function seededRandom(seed: string) {
  let state = 0x811c9dc5;
  for (const byte of Buffer.from(seed)) state = Math.imul(state ^ byte, 0x01000193);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** Returns an integer from `low` to `high`, both included. */
    integer: (low: number, high: number) => low + Math.floor(next() * (high - low + 1)),
    pick: (choices: readonly string[]) => choices[Math.floor(next() * choices.length)] ?? '',
    some(choices: readonly string[], count: number): string[] {
      const shuffled = choices.map((choice) => ({ choice, order: next() })).sort((a, b) => a.order - b.order);
      const taken = shuffled.slice(0, count).map(({ choice }) => choice);
      return choices.filter((choice) => taken.includes(choice));
    },
    chance: (probability: number) => next() < probability,
  };
}
