// Generates restaurants, and a list of them with the errors that real lists have, and the correct answer for every row.

/** Generates the same random numbers for the same seed (mulberry32). */
class Random {
  #state;
  constructor(seed) {
    this.#state = seed;
  }
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
  between(low, high) {
    return low + this.next() * (high - low);
  }
  integer(low, high) {
    return Math.floor(this.between(low, high + 1));
  }
  pick(list) {
    return list[Math.floor(this.next() * list.length)];
  }
  /** About normal, with this standard deviation. */
  spread(deviation) {
    return (this.next() + this.next() + this.next() - 1.5) * 2 * deviation;
  }
}

const split = (text) => text.split(', ');
const FIRST = split(
  'Golden, Blue, Casa, Chez, Trattoria, Little, Café, La, El, Da, The Green, Old, Royal, Bistro, Taverna, Maison, Zum, Haus, Grand, Smoky',
);
const SECOND = split(
  'Lotus, Lantern, Paloma, Marcel, Vittorio, Havana, Jardín, Corazón, Sombrero, Pepe, Parrot, Harbor, Dragon, Olivier, Minos, Fleurie, Löwen, Müller, Palace, Anchor, Fig, Sparrow, Cedar, Tamarind, Saffron, Ember, Thistle, Juniper, Basil, Kestrel',
);
const THIRD = split('Kitchen, Grill, Bar, Cantina, Noodles, Pizzeria, & Sons, House, Table, Garden');
const STREETS = split(
  'Mission, Valencia, Linden, Castle, Market, Bridge, Garden, Station, River, Church, Mill, Orchard',
);
/** The center, and how the service and other people call the city. */
const CITIES = [
  { name: 'San Francisco', also: ['SF', 'San Francisco, CA'], lat: 37.77, lng: -122.42 },
  { name: 'New York', also: ['NYC', 'New York, NY'], lat: 40.73, lng: -73.99 },
  { name: 'London', also: ['London, UK'], lat: 51.51, lng: -0.12 },
  { name: 'Paris', also: ['Paris, France'], lat: 48.86, lng: 2.35 },
  { name: 'Berlin', also: ['Berlin, DE'], lat: 52.52, lng: 13.4 },
  { name: 'Mexico City', also: ['CDMX'], lat: 19.42, lng: -99.16 },
];
const METERS_PER_DEGREE = 111_195;

function moved({ lat, lng }, north, east) {
  const degrees = north / METERS_PER_DEGREE;
  const wide = east / (METERS_PER_DEGREE * Math.cos((lat * Math.PI) / 180));
  return { lat: Number((lat + degrees).toFixed(6)), lng: Number((lng + wide).toFixed(6)) };
}

/** Moves a point by a distance in meters, in any direction. */
function movedBy(random, point, meters) {
  const angle = random.between(0, 2 * Math.PI);
  return moved(point, Math.sin(angle) * meters, Math.cos(angle) * meters);
}

const isGerman = (city) => city === 'Berlin';
const addressOf = ({ number, street, city }) =>
  isGerman(city) ? `${street}straße ${number}, 10115 ${city}` : `${number} ${street} Street, ${city}`;

class World {
  restaurants = [];
  #random;
  #names = new Set();

  constructor(random) {
    this.#random = random;
  }

  newName() {
    const random = this.#random;
    for (;;) {
      const words = [
        random.pick(FIRST),
        random.pick(SECOND),
        ...(random.next() < 0.6 ? [random.pick(THIRD)] : []),
      ];
      const name = words.join(' ');
      if (this.#names.size < this.#names.add(name).size) return name;
    }
  }

  /** Adds a restaurant at a random place of a city, unless `more` names one. */
  add(role, name, city, more = {}) {
    const random = this.#random;
    const restaurant = {
      role,
      name,
      city: city.name,
      number: random.integer(1, 400),
      street: random.pick(STREETS),
      coordinates: moved(city, random.between(-6000, 6000), random.between(-6000, 6000)),
      ...more,
    };
    restaurant.service_id = `r-${this.restaurants.length}`;
    restaurant.address = addressOf(restaurant);
    this.restaurants.push(restaurant);
    return restaurant;
  }
}

/** Restaurants of all kinds that are hard to tell apart. `listed` are those that the service has. */
function makeWorld(random, count) {
  const world = new World(random);
  while (world.restaurants.length < count) {
    const city = random.pick(CITIES);
    const name = world.newName();
    const first = world.add('single', name, city);
    const kind = random.next();
    if (kind < 0.08) {
      first.role = 'chain';
      for (let branches = random.integer(1, 4); branches > 0; branches -= 1) world.add('chain', name, city);
    } else if (kind < 0.16) {
      first.role = 'twin';
      const { street, number, coordinates } = first;
      const near = movedBy(random, coordinates, random.between(60, 140));
      world.add('twin', name, city, { street, number: number + random.integer(4, 12), coordinates: near });
    } else if (kind < 0.24) {
      world.add('similar', `${name} ${random.pick(['Express', 'Deli', 'Annex'])}`, city);
    } else if (kind < 0.3) {
      world.add('single', name, random.pick(CITIES.filter((each) => each !== city)));
    }
  }
  const listed = world.restaurants.filter(({ role }) => role !== 'single' || random.next() > 0.06);
  return { all: world.restaurants, listed };
}

/** Changes letters inside a name: drops, doubles, replaces, or swaps one with the next. */
function typo(random, name) {
  const letters = [...name];
  const places = letters.flatMap((letter, at) =>
    at > 0 && /^\p{L}{2}$/u.test(letter + (letters[at + 1] ?? '')) ? [at] : [],
  );
  const at = random.pick(places);
  const [one, other] = letters.slice(at, at + 2);
  letters.splice(
    at,
    2,
    ...random.pick([[other], [one, one, other], [random.pick([...'aeilnorst']), other], [other, one]]),
  );
  return letters.join('');
}

const metersBetween = (one, other) =>
  Math.hypot(one.lat - other.lat, (one.lng - other.lng) * Math.cos((one.lat * Math.PI) / 180)) *
  METERS_PER_DEGREE;

/** Another point and address in the city, at least `least` meters from these restaurants. */
function newPlace(random, row, least, most, others = []) {
  for (;;) {
    const point = movedBy(random, row, random.between(least, most));
    const address = addressOf({
      number: random.integer(1, 400),
      street: random.pick(STREETS),
      city: row.city,
    });
    if (others.every(({ coordinates }) => metersBetween(coordinates, point) >= least))
      return { ...point, address };
  }
}

const LEGAL = split('GmbH, GmbH & Co. KG, AG, Inc., Ltd, LLC, S.A.R.L., & Co');

/**
 * The errors of a row, by kind. They change the columns of a row. A kind may need restaurants of a certain role, or that fit. `isElsewhere`:
 * the place in the row is not that of the restaurant, so only name and city identify it; `isUnlisted`: the service does not
 * have the restaurant.
 */
const KINDS = {
  clean: {},
  case: {
    change: (row, random) => ({
      name: random.next() < 0.5 ? row.name.toUpperCase() : row.name.toLowerCase(),
    }),
  },
  blanks: { change: ({ name, city }) => ({ name: `  ${name.replaceAll(' ', '  ')} `, city: ` ${city}` }) },
  accents: { change: ({ name }) => ({ name: name.normalize('NFD').replace(/[\u0300-\u036f]/g, '') }) },
  'legal form': { change: ({ name }, random) => ({ name: `${name} ${random.pick(LEGAL)}` }) },
  suffix: {
    change: ({ name }, random) => ({ name: random.pick([`${name} Restaurant`, `Ristorante ${name}`]) }),
  },
  parentheses: {
    change: ({ name }, random) => ({ name: `${name} ${random.pick(['(closed?)', '(new)', '[2 floors]'])}` }),
  },
  branch: {
    change: ({ name }, random) => ({
      name: `${name} ${random.pick(['- Downtown', '| Riverside', '@ Market Hall'])}`,
    }),
  },
  umlauts: {
    fits: ({ name }) => /[äöü]/.test(name),
    change: ({ name }) => ({
      name: name.replace(/[äöü]/g, (letter) => `${{ ä: 'a', ö: 'o', ü: 'u' }[letter]}e`),
    }),
  },
  typo: { change: ({ name }, random) => ({ name: typo(random, name) }) },
  'two typos': { change: ({ name }, random) => ({ name: typo(random, typo(random, name)) }) },
  'city alias': {
    change: ({ city }, random) => ({ city: random.pick(CITIES.find(({ name }) => name === city).also) }),
  },
  'city district': {
    change: ({ city }, random) => ({
      city: random.pick([`${city} 11`, `10115 ${city}`, `${city} (Center)`]),
    }),
  },
  chain: { role: 'chain' },
  twin: { role: 'twin' },
  moved: { isElsewhere: true, change: (row, random) => newPlace(random, row, 2500, 9000) },
  swapped: { change: ({ lat, lng }) => ({ lat: lng, lng: lat }) },
  coarse: { change: (row, random) => movedBy(random, row, random.between(200, 1500)) },
  'no place': { isElsewhere: true, change: () => ({ lat: '', lng: '', address: '' }) },
  'other city': {
    isUnlisted: true,
    change: ({ city }, random) => ({ city: random.pick(CITIES.filter(({ name }) => name !== city)).name }),
  },
  // Closer than 300 m to another one, a branch could not be distinguished from it.
  'other branch': {
    role: 'chain',
    isUnlisted: true,
    change: (row, random, others) => newPlace(random, row, 300, 6000, others),
  },
};

/** The cells of a list for a restaurant: coordinates from a geocoder, and the address in other words. */
function cleanRow(random, { name, city, coordinates, number, street, address }) {
  const { lat, lng } = movedBy(random, coordinates, Math.abs(random.spread(20)));
  const short = isGerman(city) ? `${street}str. ${number}` : `${number} ${street} St`;
  return { name, city, lat, lng, address: random.pick([address, short, short.toUpperCase(), '']) };
}

/** The restaurant that name and city say: none, one, or undefined if there are several. */
function byName(listed, name, city) {
  const isCity = (each) => cityOf(city) === each.city;
  const [one, ...others] = listed.filter((each) => each.name === name && isCity(each));
  return others.length > 0 ? undefined : (one?.service_id ?? '');
}

/** Returns the name by which the service knows a city; undefined for another spelling. */
export const cityOf = (text) =>
  CITIES.find(({ name, also }) =>
    [name, ...also].some((each) => each.toLowerCase() === text.trim().toLowerCase()),
  )?.name;

/**
 * Returns the restaurants of the service, and a list. Every row has the id that is right with its place, and the one that is
 * right by name and city alone: empty if the restaurant is not there, undefined if there are several.
 */
export function makeDirtyList(seed, count) {
  const random = new Random(seed);
  const { all, listed } = makeWorld(random, Math.max(300, count));
  const names = Object.keys(KINDS);
  const ids = new Set(listed.map(({ service_id }) => service_id));
  const rows = Array.from({ length: count }, (_, index) => {
    const kind = names[index % names.length];
    const { role, fits = () => true, change, isElsewhere = false, isUnlisted = false } = KINDS[kind];
    const restaurant = random.pick(
      all.filter((each) => (role === undefined || each.role === role) && fits(each)),
    );
    const clean = cleanRow(random, restaurant);
    const sameName = listed.filter(({ name }) => name === restaurant.name);
    const row = { ...clean, ...change?.(clean, random, sameName) };
    const named = byName(listed, restaurant.name, cityOf(row.city) ?? restaurant.city);
    const placed = ids.has(restaurant.service_id) && !isUnlisted ? restaurant.service_id : '';
    return { kind, row, named, placed: isElsewhere ? named : placed };
  });
  return { restaurants: listed.map(({ role, number, street, ...each }) => each), rows };
}
