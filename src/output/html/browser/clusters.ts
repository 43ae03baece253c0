import Supercluster from 'supercluster';
import type { PageRow } from '../document.ts';

/** A position in degrees. */
export type Point = readonly [lat: number, lng: number];

/** Markers that are nearer to each other, in pixels, become one; the distance is larger for many points. */
const NEAR = 20;
const NEAR_IN_A_CROWD = 44;
const CROWD = 150;
const MAX_ZOOM = 18;
/** Maximum number of rows that a popup lists. */
export const MAX_NAMED_ROWS = 20;

/** A marker: one row, or several that would overlap. */
export interface Spot {
  readonly key: string;
  readonly at: Point;
  readonly count: number;
  /** The row, or the first of several. */
  rows(): readonly number[];
  /** The zoom at which several separate; undefined if they never do. */
  readonly apartAt?: number | undefined;
}

interface Tag {
  row: number;
}

/** Returns the markers of a rectangle at a zoom. */
export type Spots = (
  bounds: [west: number, south: number, east: number, north: number],
  zoom: number,
) => Spot[];

/** Groups points that are near each other, and always those in the same place. */
export function clusters(numbers: readonly number[], rows: readonly PageRow[]): Spots {
  const points = numbers.flatMap((row) => {
    const at = rows[row]?.p;
    return at === undefined ? [] : [{ row, at }];
  });
  const radius = points.length > CROWD ? NEAR_IN_A_CROWD : NEAR;
  const index = new Supercluster<Tag, Tag>({ radius, extent: 256, maxZoom: MAX_ZOOM }).load(
    points.map(({ row, at: [lat, lng] }) => ({
      type: 'Feature',
      properties: { row },
      geometry: { type: 'Point', coordinates: [lng, lat] },
    })),
  );
  return (bounds, zoom) =>
    index.getClusters(bounds, zoom).map(({ properties, geometry }): Spot => {
      const [lng = 0, lat = 0] = geometry.coordinates;
      if (!('cluster' in properties) || properties.cluster !== true) {
        const { row } = properties;
        return { key: `row-${row}`, at: rows[row]?.p ?? [lat, lng], count: 1, rows: () => [row] };
      }
      const { cluster_id: id, point_count: count } = properties;
      const apartAt = index.getClusterExpansionZoom(id);
      return {
        key: `cluster-${id}`,
        at: [lat, lng],
        count,
        rows: () => index.getLeaves(id, MAX_NAMED_ROWS).map((leaf) => leaf.properties.row),
        apartAt: apartAt > MAX_ZOOM ? undefined : apartAt,
      };
    });
}
