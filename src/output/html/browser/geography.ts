/** A place, in degrees. */
export type Point = readonly [lat: number, lng: number];

/** The copy of a longitude that is nearest to another: the world goes round. */
export const nearestCopy = (lng: number, to: number): number => lng + 360 * Math.round((to - lng) / 360);

/**
 * The smallest rectangle around points, also across the antimeridian, where its east is beyond 180.
 * @returns south, west, north, east; undefined without points
 */
export function around(points: readonly Point[]): [number, number, number, number] | undefined {
  if (points.length === 0) return undefined;
  const lngs = points.map(([, lng]) => lng).sort((a, b) => a - b);
  let west = lngs[0] ?? 0;
  let east = lngs.at(-1) ?? 0;
  // The widest stretch without a point lies outside.
  let widest = west + 360 - east;
  for (let place = 1; place < lngs.length; place += 1) {
    const [before, after] = [lngs[place - 1] ?? 0, lngs[place] ?? 0];
    if (after - before <= widest) continue;
    widest = after - before;
    west = after;
    east = before + 360;
  }
  let south = 90;
  let north = -90;
  for (const [lat] of points) {
    south = Math.min(south, lat);
    north = Math.max(north, lat);
  }
  return [south, west, north, east];
}
