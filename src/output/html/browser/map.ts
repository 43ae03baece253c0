import {
  control,
  DivIcon,
  type LatLngBoundsLiteral,
  type LeafletKeyboardEvent,
  Map as LeafletMap,
  Marker,
  Popup,
} from 'leaflet';
import Supercluster, { type ClusterFeature, type PointFeature } from 'supercluster';
import type { PageHead, PageRow } from '../document.ts';
import { amount, button, el, formatCount, prefersReducedMotion } from './dom.ts';
import { link, nameColumn, nameOf, short } from './row.ts';
import { Tiles, tileError } from './tiles.ts';

/** A position in degrees. */
type Point = readonly [lat: number, lng: number];
interface RowNumber {
  row: number;
}
/** A row on the map, or a group of rows whose markers would overlap. */
type Spot = PointFeature<RowNumber> | ClusterFeature<RowNumber>;

/** Details that a popup shows beside the cells of a row. */
const CONTACT = /^(?:address|(?:tele)?phone(?: number)?)$/i;
/** The zoom at which streets are shown, and the largest one that groups markers. */
const STREET = 16;
const MAX_GROUP_ZOOM = 18;
/** Markers nearer to each other than this, in pixels, become one; more of them if there are many. */
const NEAR = 20;
const NEAR_IN_A_CROWD = 44;
const CROWD = 150;
const PIN_SIZE = 26;
const DIGIT_WIDTH = 7;
/** Markers are drawn this far outside of the view, as a share of it. */
const MARGIN = 0.25;
/** Maximum number of rows that a popup lists. */
const MAX_NAMED_ROWS = 20;

export interface MapView {
  /** Shows only these rows. */
  show(numbers: readonly number[]): void;
  /** Moves to a row and opens its popup; closes the popup for a row without coordinates. */
  choose(row: number): void;
}

/** Creates the map of all rows with coordinates. The hooks are called with the row that the user selects. */
export function makeMap(
  element: HTMLElement,
  { columns }: PageHead,
  rows: readonly PageRow[],
  hooks: { onChoose(row: number): void; onDetails(row: number): void },
): MapView {
  const animate = !prefersReducedMotion();
  const map = new LeafletMap(element, {
    minZoom: 1,
    maxZoom: 19,
    zoomAnimation: animate,
    fadeAnimation: animate,
    markerZoomAnimation: animate,
    inertia: animate,
  });
  map.attributionControl.setPrefix(
    '<a href="https://leafletjs.com" target="_blank" rel="noopener noreferrer">Leaflet</a>',
  );
  control.scale().addTo(map);
  const popup = new Popup({
    maxWidth: 280,
    minWidth: 160,
    autoPanPaddingTopLeft: [56, 16],
    autoPanPaddingBottomRight: [16, 16],
  });
  const markers = new Map<string, Marker>();
  let index = groupRows([], rows);
  let chosen: number | undefined;

  const nameAt = (number: number): string => {
    const row = rows[number];
    return row === undefined ? '' : nameOf(row, columns);
  };
  /** Returns the copy of a point, modulo 360 degrees, that is nearest to the center of the map. */
  const copyOf = ([lat, lng]: Point): [number, number] => [
    lat,
    lng + 360 * Math.round((map.getCenter().lng - lng) / 360),
  ];

  /** Adds markers for what is visible; existing ones stay and keep the focus. */
  function draw(): void {
    const bounds = map.getBounds().pad(MARGIN);
    const spots = new Map(
      index
        .getClusters(
          [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()],
          Math.round(map.getZoom()),
        )
        .map((spot) => [isGroup(spot) ? `group-${spot.id}` : `row-${spot.properties.row}`, spot] as const),
    );
    for (const [key, marker] of markers) {
      if (spots.has(key)) continue;
      marker.remove();
      markers.delete(key);
    }
    for (const [key, spot] of spots) {
      const marker = markers.get(key);
      if (marker === undefined) markers.set(key, addMarker(spot));
      else marker.setLatLng(copyOf(pointOf(spot)));
    }
    markChosen();
  }

  function addMarker(spot: Spot): Marker {
    // The count of a group has a sign and a shape of its own, so that it does not look like the number of a row.
    const text = isGroup(spot)
      ? `×${formatCount(spot.properties.point_count)}`
      : formatCount(spot.properties.row + 1);
    const width = Math.max(isGroup(spot) ? PIN_SIZE + 8 : PIN_SIZE, text.length * DIGIT_WIDTH + 12);
    const icon = new DivIcon({
      className: isGroup(spot) ? 'pin many' : 'pin',
      html: el('span', { 'aria-hidden': 'true' }, text),
      iconSize: [width, PIN_SIZE],
    });
    const marker = new Marker(copyOf(pointOf(spot)), { icon, riseOnHover: true }).addTo(map);
    const name = isGroup(spot) ? 'restaurants, show them apart' : nameAt(spot.properties.row);
    marker.getElement()?.setAttribute('aria-label', `${text} ${name}`);
    marker.on('click', () => activate(spot));
    marker.on('keydown', ({ originalEvent }: LeafletKeyboardEvent) => {
      if (originalEvent.key !== 'Enter' && originalEvent.key !== ' ') return;
      originalEvent.preventDefault();
      activate(spot);
    });
    return marker;
  }

  function activate(spot: Spot): void {
    const at = copyOf(pointOf(spot));
    if (!isGroup(spot)) {
      hooks.onChoose(spot.properties.row);
      showPopup(spot.properties.row);
      return;
    }
    const { cluster_id: id, point_count: count } = spot.properties;
    const zoom = index.getClusterExpansionZoom(id);
    if (zoom <= MAX_GROUP_ZOOM && zoom > map.getZoom()) {
      map.setView(at, zoom, { animate });
      return;
    }
    const numbers = index.getLeaves(id, MAX_NAMED_ROWS).map(({ properties }) => properties.row);
    const items = numbers.map((row) =>
      button({ dir: 'auto' }, () => hooks.onDetails(row), short(nameAt(row))),
    );
    const more = count - numbers.length;
    const content = el(
      'div',
      { class: 'about many' },
      el('p', { class: 'name' }, `${amount(count, 'restaurant')} in this place`),
      el('ul', {}, ...items.map((item) => el('li', {}, item))),
      ...(more > 0 ? [el('p', {}, `and ${formatCount(more)} more`)] : []),
    );
    popup.setLatLng(at).setContent(content).openOn(map);
  }

  function showPopup(number: number): void {
    const row = rows[number];
    if (row?.p === undefined) return;
    chosen = number;
    markChosen();
    const content = rowPopup(row, columns, () => hooks.onDetails(number));
    popup.setLatLng(copyOf(row.p)).setContent(content).openOn(map);
  }

  function markChosen(): void {
    for (const [key, marker] of markers) {
      const isChosen = key === `row-${chosen}`;
      marker.getElement()?.classList.toggle('chosen', isChosen);
      marker.setZIndexOffset(isChosen ? 1000 : 0);
    }
  }

  map.fitBounds(around(rows), { padding: [36, 36], maxZoom: STREET, animate: false });
  map.on('moveend', draw);
  new ResizeObserver(() => map.invalidateSize({ animate: false })).observe(element);
  void addTiles(map, element);

  return {
    show(numbers) {
      index = groupRows(numbers, rows);
      for (const marker of markers.values()) marker.remove();
      markers.clear();
      if (chosen !== undefined && !numbers.includes(chosen)) popup.close();
      draw();
    },
    choose(number) {
      const at = rows[number]?.p;
      if (at === undefined) {
        popup.close();
        return;
      }
      map.setView(copyOf(at), Math.max(map.getZoom(), STREET), { animate });
      showPopup(number);
    },
  };
}

const isGroup = (spot: Spot): spot is ClusterFeature<RowNumber> => 'cluster' in spot.properties;

function pointOf({ geometry }: Spot): Point {
  const [lng = 0, lat = 0] = geometry.coordinates;
  return [lat, lng];
}

/** Groups rows that are near each other on the map. */
function groupRows(numbers: readonly number[], rows: readonly PageRow[]): Supercluster<RowNumber, RowNumber> {
  const features = numbers.flatMap((row): PointFeature<RowNumber>[] => {
    const point = rows[row]?.p;
    if (point === undefined) return [];
    const [lat, lng] = point;
    return [{ type: 'Feature', properties: { row }, geometry: { type: 'Point', coordinates: [lng, lat] } }];
  });
  const radius = features.length > CROWD ? NEAR_IN_A_CROWD : NEAR;
  return new Supercluster<RowNumber, RowNumber>({ radius, extent: 256, maxZoom: MAX_GROUP_ZOOM }).load(
    features,
  );
}

/** Returns the smallest rectangle around the rows. Across the antimeridian, its east is more than 180. */
function around(rows: readonly PageRow[]): LatLngBoundsLiteral {
  const ascending = (a: number, b: number): number => a - b;
  const points = rows.flatMap(({ p }) => (p === undefined ? [] : [p]));
  const lats = points.map(([lat]) => lat).sort(ascending);
  const lngs = points.map(([, lng]) => lng).sort(ascending);
  // The rectangle begins behind the widest gap.
  let [west = 0, east = 0] = [lngs[0], lngs.at(-1)];
  let widest = west + 360 - east;
  for (const [index, lng] of lngs.entries()) {
    const before = lngs[index - 1] ?? lng;
    if (lng - before <= widest) continue;
    widest = lng - before;
    [west, east] = [lng, before + 360];
  }
  return [
    [lats[0] ?? 0, west],
    [lats.at(-1) ?? 0, east],
  ];
}

/** Adds the tiles if they are available; otherwise shows why they are not, and tries again when online. */
async function addTiles(map: LeafletMap, element: HTMLElement): Promise<void> {
  const why = await tileError();
  element.querySelector('.why')?.remove();
  if (why === undefined) {
    map.addLayer(new Tiles());
    return;
  }
  element.append(el('p', { class: 'why', role: 'status' }, `Points without a street map: ${why}`));
  addEventListener('online', () => void addTiles(map, element), { once: true });
}

/** Creates the popup of one restaurant: name, cells and contact details. */
function rowPopup(row: PageRow, columns: PageHead['columns'], onDetails: () => void): HTMLElement {
  const heading = nameColumn(columns);
  const line = (label: string, value: Node | string): HTMLElement =>
    el('li', { dir: 'auto' }, el('span', { class: 'label' }, `${label} `), value);
  const cells = columns.flatMap(({ label }, place) => {
    const value = row.c[place] ?? null;
    return place === heading || value === null ? [] : [line(label, short(String(value)))];
  });
  const contacts = row.d.flatMap(([label, value]) => {
    if (!CONTACT.test(label)) return [];
    if (typeof value === 'string') return [line(label, short(value))];
    return 'href' in value ? [line(label, link(value.href, value.text))] : [];
  });
  return el(
    'div',
    { class: 'about' },
    el('p', { class: 'name', dir: 'auto' }, short(nameOf(row, columns))),
    el('ul', {}, ...cells, ...contacts),
    button({}, onDetails, 'Details in the list'),
  );
}
