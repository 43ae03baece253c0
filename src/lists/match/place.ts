import type { Restaurant } from '../../client/types.ts';
import { foldLetters } from '../../util/fold.ts';
import { kilometers, type Point, pointOf } from '../../util/restaurant.ts';
import type { RowKey } from '../row-key.ts';

export interface Place {
  /** Undefined if the values are not a point on Earth. */
  readonly point?: Point | undefined;
  /** The point with latitude and longitude swapped, as some lists have them. */
  readonly swapped?: Point | undefined;
  readonly address?: string | undefined;
}

export interface Position {
  /** Undefined if either point is unknown. */
  readonly meters?: number | undefined;
  /** Whether the addresses agree; undefined if that is unknown. */
  readonly sameAddress?: boolean | undefined;
}

/** Distances in meters. Up to HERE, an equal name is the same restaurant; beyond FAR, it is not, or it has moved. */
export const HERE = 150;
export const FAR = 2000;
/** Up to this distance, in meters, a similar name is the same restaurant. */
export const DOOR = 50;

/** Anything that is not a number of degrees is ignored, as is 0,0, which means unknown. */
export function placeOfRow({ lat, lng, address = '' }: RowKey): Place | undefined {
  const isKnown = lat !== 0 || lng !== 0;
  const point = isKnown ? pointOf({ lat, lng }) : undefined;
  const swapped = isKnown ? pointOf({ lat: lng, lng: lat }) : undefined;
  if (point === undefined && swapped === undefined && address === '') return undefined;
  return { point, swapped, address: address === '' ? undefined : address };
}

/**
 * Compares restaurants with the place of a row. Its latitude and longitude count as swapped only if that puts a restaurant
 * at the place, and none is near it otherwise.
 */
export function positionsOf(
  restaurants: readonly Partial<Restaurant>[],
  place: Place | undefined,
): readonly Position[] {
  if (place === undefined) return restaurants.map(() => ({}));
  const addresses = restaurants.map(({ address }) => isSameAddress(place.address, address));
  const points = restaurants.map(({ coordinates }) => pointOf(coordinates));
  const metersFrom = (from: Point | undefined): (number | undefined)[] =>
    points.map((to) => (from === undefined || to === undefined ? undefined : kilometers(from, to) * 1000));
  const isWithin = (all: readonly (number | undefined)[], limit: number): boolean =>
    all.some((meters) => meters !== undefined && meters <= limit);
  const asGiven = metersFrom(place.point);
  const asSwapped = isWithin(asGiven, FAR) ? [] : metersFrom(place.swapped);
  const meters = isWithin(asSwapped, HERE) ? asSwapped : asGiven;
  return restaurants.map((_, index) => ({ meters: meters[index], sameAddress: addresses[index] }));
}

/** Whether they are equal, or have the same house number and a common word in the street; undefined if that is unknown. */
export function isSameAddress(one: unknown, other: unknown): boolean | undefined {
  const [part, otherPart] = [streetPart(one), streetPart(other)];
  if (part === undefined || otherPart === undefined) return undefined;
  if (part.join(' ') === otherPart.join(' ')) return true;
  const [left, right] = [streetOf(part), streetOf(otherPart)];
  if (left === undefined || right === undefined) return undefined;
  const isIn = (some: readonly string[], all: readonly string[]) => some.every((each) => all.includes(each));
  return (
    (isIn(left.numbers, right.numbers) || isIn(right.numbers, left.numbers)) &&
    left.words.some((word) => right.words.some((each) => isSameWord(word, each)))
  );
}

/** Street words are often abbreviated: `Hauptstr.`, `Hauptstraße`. */
const isSameWord = (one: string, other: string): boolean =>
  one === other ||
  (Math.min(one.length, other.length) >= MIN_BEGINNING && (one.startsWith(other) || other.startsWith(one)));

const MIN_BEGINNING = 4;
const MAX_ADDRESS = 300;
const COMMON_WORDS = new Set(
  'the and str street strasse road avenue ave rue calle via platz place north south east west'.split(' '),
);

/** The words of the part of an address that has the house number. */
function streetPart(address: unknown): readonly string[] | undefined {
  if (typeof address !== 'string') return undefined;
  const part = address
    .slice(0, MAX_ADDRESS)
    .split(/[,;\n]/)
    .find((each) => /\p{N}/u.test(each));
  return part === undefined ? undefined : (foldLetters(part).match(/[\p{L}\p{N}\p{M}]+/gu) ?? undefined);
}

function streetOf(
  all: readonly string[],
): { readonly numbers: string[]; readonly words: string[] } | undefined {
  const numbers = all.flatMap((word) => /\p{N}+/u.exec(word) ?? []);
  const words = all.filter((word) => word.length > 2 && !COMMON_WORDS.has(word) && !/\p{N}/u.test(word));
  return numbers.length === 0 || words.length === 0 ? undefined : { numbers, words };
}
