import { drawFrom, stableId } from '../seed.ts';
import type { SandboxRestaurant } from '../types.ts';

/** Name, street, cuisine labels (joined with a comma), grade, coverage where it is not full. */
export type Row = readonly [
  name: string,
  street: string,
  cuisines: string,
  grade: string,
  coverage?: 'partial' | 'minimal',
];

/** A neighbourhood: its centre, what follows the street in an address, and its restaurants. */
export interface Area {
  /** Empty where the restaurants belong to none. */
  readonly name: string;
  readonly lat: number;
  readonly lng: number;
  readonly tail: string;
  readonly rows: readonly Row[];
}

export interface City {
  readonly name: string;
  readonly areas: readonly Area[];
}

/** Spread around the centre of a neighbourhood, in degrees: about 250 m. */
const SPREAD = 0.0045;

/** The restaurants of a city. Ids and places are derived from the rows and never change. */
export function buildCity({ name: city, areas }: City): SandboxRestaurant[] {
  return areas.flatMap((area) => area.rows.map((row) => buildRestaurant(city, area, row)));
}

function buildRestaurant(city: string, area: Area, row: Row): SandboxRestaurant {
  const [name, street, cuisines, grade, coverage = 'full'] = row;
  const service_id = stableId(city, name, street);
  const draw = drawFrom(`place ${service_id}`);
  const around = (centre: number) => Math.round((centre + (draw.next() - 0.5) * SPREAD) * 10_000) / 10_000;
  return {
    service_id,
    name,
    address: `${street}, ${area.tail}`,
    coordinates: { lat: around(area.lat), lng: around(area.lng) },
    city,
    neighborhood: area.name,
    cuisine_tags: cuisines.split(','),
    grade,
    coverage_level: coverage,
  };
}
