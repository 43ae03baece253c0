import { control, DivIcon, type LeafletKeyboardEvent, Map as LeafletMap, Marker, Popup } from 'leaflet';
import type { PageHead, PageRow } from '../document.ts';
import { clusters, type Point, type Spot, type Spots } from './clusters.ts';
import { amount, button, el, formatCount, prefersReducedMotion } from './dom.ts';
import { link, nameColumn, nameOf, short } from './row.ts';
import { Tiles, tileError } from './tiles.ts';

/** Details that a popup shows beside the cells of a row. */
const CONTACT = /^(?:address|(?:tele)?phone(?: number)?)$/i;
const STREET = 16;
const MIN_PIN_SIZE = 26;
const PER_DIGIT = 7;
const SPREAD = 0.25;

export interface MapHooks {
  /** Called when the user selects a row on the map. */
  onChoose(row: number): void;
  /** Called when the user wants the details of a row. */
  onDetails(row: number): void;
}

export interface MapView {
  /** Shows only these rows. */
  show(numbers: readonly number[]): void;
  /** Moves to a row and opens its popup; closes the popup for a row without coordinates. */
  choose(row: number): void;
}

/** Creates the map of all rows with coordinates. */
export function makeMap(
  element: HTMLElement,
  head: PageHead,
  rows: readonly PageRow[],
  hooks: MapHooks,
): MapView {
  const calm = prefersReducedMotion();
  const map = new LeafletMap(element, {
    minZoom: 1,
    maxZoom: 19,
    zoomAnimation: !calm,
    fadeAnimation: !calm,
    markerZoomAnimation: !calm,
    inertia: !calm,
  });
  map.attributionControl.setPrefix(
    '<a href="https://leafletjs.com" target="_blank" rel="noopener noreferrer">Leaflet</a>',
  );
  control.scale().addTo(map);
  const markers = new Map<string, Marker>();
  const popup = new Popup({
    maxWidth: 280,
    minWidth: 160,
    autoPanPaddingTopLeft: [56, 16],
    autoPanPaddingBottomRight: [16, 16],
  });
  let spots: Spots = () => [];
  let chosen: number | undefined;

  const nameAt = (row: number): string => {
    const found = rows[row];
    return found === undefined ? '' : nameOf(found, head.columns);
  };
  const copyOf = ([lat, lng]: Point): [number, number] => [lat, nearestCopy(lng, map.getCenter().lng)];

  /** Adds markers for what is visible; existing ones stay and keep the focus. */
  function draw(): void {
    const bounds = map.getBounds().pad(SPREAD);
    const [west, east] = [bounds.getWest(), bounds.getEast()];
    const zoom = Math.round(map.getZoom());
    const seen = spots(
      east - west >= 360 ? [-180, -90, 180, 90] : [west, bounds.getSouth(), east, bounds.getNorth()],
      zoom,
    );
    const keys = new Set(seen.map(({ key }) => key));
    for (const [key, marker] of markers) {
      if (keys.has(key)) continue;
      marker.remove();
      markers.delete(key);
    }
    for (const spot of seen) {
      const marker = markers.get(spot.key);
      if (marker === undefined) markers.set(spot.key, addMarker(spot));
      else marker.setLatLng(copyOf(spot.at));
    }
    markChosen();
  }

  function addMarker(spot: Spot): Marker {
    const [first = 0] = spot.rows();
    // The count of a group has a sign and a shape of its own, so that it does not look like the number of a row.
    const text = spot.count === 1 ? formatCount(first + 1) : `×${formatCount(spot.count)}`;
    const width = Math.max(spot.count === 1 ? MIN_PIN_SIZE : MIN_PIN_SIZE + 8, text.length * PER_DIGIT + 12);
    const height = MIN_PIN_SIZE;
    const icon = new DivIcon({
      className: spot.count === 1 ? 'pin' : 'pin many',
      html: el('span', { 'aria-hidden': 'true' }, text),
      iconSize: [width, height],
    });
    const marker = new Marker(copyOf(spot.at), { icon, riseOnHover: true }).addTo(map);
    marker
      .getElement()
      ?.setAttribute(
        'aria-label',
        spot.count === 1 ? `${text} ${nameAt(first)}` : `${text} restaurants, show them apart`,
      );
    const act = (): void => activate(spot);
    marker.on('click', act);
    marker.on('keydown', ({ originalEvent }: LeafletKeyboardEvent) => {
      if (originalEvent.key !== 'Enter' && originalEvent.key !== ' ') return;
      originalEvent.preventDefault();
      act();
    });
    return marker;
  }

  function activate(spot: Spot): void {
    const [first = 0] = spot.rows();
    if (spot.count === 1) {
      hooks.onChoose(first);
      showPopup(first);
    } else if (spot.apartAt !== undefined && spot.apartAt > map.getZoom()) {
      map.setView(copyOf(spot.at), spot.apartAt, { animate: !calm });
    } else {
      const content = manyPopup(spot.rows(), spot.count, nameAt, (row) => hooks.onDetails(row));
      popup.setLatLng(copyOf(spot.at)).setContent(content).openOn(map);
    }
  }

  function showPopup(number: number): void {
    const row = rows[number];
    if (row?.p === undefined) return;
    chosen = number;
    markChosen();
    const content = onePopup(row, head, () => hooks.onDetails(number));
    popup.setLatLng(copyOf(row.p)).setContent(content).openOn(map);
  }

  function markChosen(): void {
    for (const [key, marker] of markers) {
      const isChosen = key === `row-${chosen}`;
      marker.getElement()?.classList.toggle('chosen', isChosen);
      marker.setZIndexOffset(isChosen ? 1000 : 0);
    }
  }

  const all = around(rows.flatMap(({ p }) => (p === undefined ? [] : [p])));
  const [south, west, north, east] = all ?? [-60, -180, 75, 180];
  map.fitBounds(
    [
      [south, west],
      [north, east],
    ],
    { padding: [36, 36], maxZoom: STREET, animate: false },
  );
  map.on('moveend', draw);
  new ResizeObserver(() => map.invalidateSize({ animate: false })).observe(element);
  void paintTiles(map, element);

  return {
    show(numbers) {
      spots = clusters(numbers, rows);
      for (const marker of markers.values()) marker.remove();
      markers.clear();
      if (chosen !== undefined && !numbers.includes(chosen)) popup.close();
      draw();
    },
    choose(number) {
      const row = rows[number];
      if (row?.p === undefined) {
        popup.close();
        return;
      }
      map.setView(copyOf(row.p), Math.max(map.getZoom(), STREET), { animate: !calm });
      showPopup(number);
    },
  };
}

/** Adds the tiles if they are available; otherwise shows why they are not, and tries again when online. */
async function paintTiles(map: LeafletMap, element: HTMLElement): Promise<void> {
  const why = await tileError();
  element.querySelector('.why')?.remove();
  if (why === undefined) {
    map.addLayer(new Tiles());
    return;
  }
  element.append(el('p', { class: 'why', role: 'status' }, `Points without a street map: ${why}`));
  addEventListener('online', () => void paintTiles(map, element), { once: true });
}

/** Creates the popup of one restaurant: name, cells and contact details. */
export function onePopup(row: PageRow, { columns }: PageHead, onDetails: () => void): HTMLElement {
  const heading = nameColumn(columns);
  const lines = columns.flatMap(({ label }, place) => {
    const value = row.c[place];
    if (place === heading || value === null || value === undefined) return [];
    return [el('li', { dir: 'auto' }, el('span', { class: 'label' }, `${label} `), short(String(value)))];
  });
  const contacts = row.d.flatMap(([label, value]) => {
    if (!CONTACT.test(label) || !(typeof value === 'string' || 'href' in value)) return [];
    const shown = typeof value === 'string' ? short(value) : link(value.href, value.text);
    return [el('li', { dir: 'auto' }, el('span', { class: 'label' }, `${label} `), shown)];
  });
  return el(
    'div',
    { class: 'about' },
    el('p', { class: 'name', dir: 'auto' }, short(nameOf(row, columns))),
    el('ul', {}, ...lines, ...contacts),
    button({}, onDetails, 'Details in the list'),
  );
}

/** Creates the popup of several restaurants in one place. */
export function manyPopup(
  numbers: readonly number[],
  count: number,
  name: (row: number) => string,
  onRow: (row: number) => void,
): HTMLElement {
  const items = numbers.map((row) =>
    el(
      'li',
      {},
      button({ dir: 'auto' }, () => onRow(row), short(name(row))),
    ),
  );
  const more =
    count > numbers.length ? [el('p', {}, `and ${amount(count - numbers.length, 'more', 'more')}`)] : [];
  const title = el('p', { class: 'name' }, `${amount(count, 'restaurant')} in this place`);
  return el('div', { class: 'about many' }, title, el('ul', {}, ...items), ...more);
}

/** Returns the copy of a longitude, modulo 360 degrees, that is nearest to another. */
export const nearestCopy = (lng: number, to: number): number => lng + 360 * Math.round((to - lng) / 360);

/**
 * Returns the smallest rectangle around points. Across the antimeridian, its east is more than 180.
 * @returns south, west, north, east; undefined without points
 */
export function around(points: readonly Point[]): [number, number, number, number] | undefined {
  if (points.length === 0) return undefined;
  const lngs = points.map(([, lng]) => lng).sort((a, b) => a - b);
  let west = lngs[0] ?? 0;
  let east = lngs.at(-1) ?? 0;
  // The widest gap between points is outside of the rectangle.
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
