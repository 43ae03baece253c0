import {
  control,
  DivIcon,
  LatLngBounds,
  type LeafletKeyboardEvent,
  Map as LeafletMap,
  Marker,
  Popup,
  TileLayer,
} from 'leaflet';
import Supercluster, { type ClusterFeature, type PointFeature } from 'supercluster';
import { formatNumber, plural } from '../../../util/plural.ts';
import { type Entry, type PageHead, TILES } from '../document.ts';
import { button, el } from './dom.ts';
import { detail, nameColumn, nameOf, type Row } from './row.ts';

interface SpotData {
  row: Row;
}
/** A row on the map, or a group of rows whose markers would overlap. */
type Spot = PointFeature<SpotData> | ClusterFeature<SpotData>;

const CONTACT = /^(?:address|(?:tele)?phone(?: number)?)$/i;
const STREET_ZOOM = 16;
const MAX_GROUP_ZOOM = 18;
/** Markers closer to each other than this, in pixels, become one; the second value applies if there are many rows. */
const GROUP_RADIUS = 20;
const LARGE_GROUP_RADIUS = 44;
const MANY_ROWS = 150;
/** Markers are drawn this far outside of the view, as a share of it. */
const DRAW_MARGIN = 0.25;
const MAX_NAMED_ROWS = 20;

export interface MapView {
  show(rows: readonly Row[]): void;
  /** Moves to a row and opens its popup; closes the popup for a row without coordinates. */
  choose(row: Row): void;
  /** Chooses a row, and brings the map into view. */
  reveal(row: Row): void;
}

/**
 * Creates the map of all rows with coordinates.
 * @param onChoose called with the row that the user selects; `open` if its details shall be shown
 */
export function makeMap(
  element: HTMLElement,
  { columns }: PageHead,
  rows: readonly Row[],
  onChoose: (row: Row, open: boolean) => void,
): MapView {
  const animate = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  const map = new LeafletMap(element, {
    minZoom: 1,
    maxZoom: 19,
    worldCopyJump: true,
    zoomAnimation: animate,
    fadeAnimation: animate,
    markerZoomAnimation: animate,
    inertia: animate,
  });
  map.attributionControl.setPrefix(attribution('https://leafletjs.com', 'Leaflet'));
  control.scale().addTo(map);
  const popup = new Popup({
    maxWidth: 280,
    minWidth: 160,
    autoPanPaddingTopLeft: [56, 16],
    autoPanPaddingBottomRight: [16, 16],
  });
  const markers = new Map<string, Marker>();
  let index = groupRows(rows);
  let chosen: Row | undefined;

  /** Adds markers for the visible area. Existing ones are kept, so they do not lose the focus. */
  function draw(): void {
    const bounds = map.getBounds().pad(DRAW_MARGIN);
    const visible = index.getClusters(
      [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()],
      Math.round(map.getZoom()),
    );
    const spots = new Map(
      visible.map(
        (spot) => [isGroup(spot) ? `group-${spot.id}` : `row-${spot.properties.row.number}`, spot] as const,
      ),
    );
    for (const [key, marker] of markers) {
      if (spots.has(key)) continue;
      marker.remove();
      markers.delete(key);
    }
    for (const [key, spot] of spots) if (!markers.has(key)) markers.set(key, addMarker(spot));
    markChosen();
  }

  function addMarker(spot: Spot): Marker {
    // The count of a group has its own sign and shape, to distinguish it from the number of a row.
    const text = isGroup(spot)
      ? `×${formatNumber(spot.properties.point_count)}`
      : formatNumber(spot.properties.row.number);
    const icon = new DivIcon({
      className: isGroup(spot) ? 'pin many' : 'pin',
      html: el('span', { 'aria-hidden': 'true' }, text),
      // The style sheet sets the size and the anchor.
      iconSize: undefined,
    });
    const marker = new Marker(pointOf(spot), { icon, riseOnHover: true }).addTo(map);
    const name = isGroup(spot) ? 'restaurants, show them apart' : nameOf(spot.properties.row, columns);
    marker.getElement()?.setAttribute('aria-label', `${text} ${name}`);
    marker.on('click', () => activate(spot));
    marker.on('keydown', ({ originalEvent }: LeafletKeyboardEvent) => {
      if (originalEvent.key !== 'Enter' && originalEvent.key !== ' ') return;
      originalEvent.preventDefault();
      activate(spot);
    });
    return marker;
  }

  /** Selects a row. For a group, zooms in until it splits, or lists its rows if they are in one place. */
  function activate(spot: Spot): void {
    if (!isGroup(spot)) {
      onChoose(spot.properties.row, false);
      showPopup(spot.properties.row);
      return;
    }
    const { cluster_id: id, point_count: count } = spot.properties;
    const zoom = index.getClusterExpansionZoom(id);
    if (zoom <= MAX_GROUP_ZOOM && zoom > map.getZoom()) {
      map.setView(pointOf(spot), zoom, { animate });
      return;
    }
    const items = index
      .getLeaves(id, MAX_NAMED_ROWS)
      .map(({ properties: { row } }) =>
        button({ dir: 'auto' }, () => onChoose(row, true), nameOf(row, columns)),
      );
    const more = count - items.length;
    const rest = more > 0 ? [el('p', {}, `and ${formatNumber(more)} more`)] : [];
    openPopup(pointOf(spot), `${plural(count, 'restaurant')} in this place`, items, ...rest);
  }

  function showPopup(row: Row): void {
    if (row.point === undefined) return;
    chosen = row;
    markChosen();
    const details = button({}, () => onChoose(row, true), 'Details in the list');
    openPopup(row.point, nameOf(row, columns), factsOf(row, columns), details);
  }

  function openPopup(
    [lat, lng]: readonly [lat: number, lng: number],
    title: string,
    items: readonly Node[],
    ...below: readonly Node[]
  ): void {
    const list = items.map((item) => el('li', { dir: 'auto' }, item));
    const name = el('p', { class: 'name', dir: 'auto' }, title);
    const content = el('div', { class: 'about' }, name, el('ul', {}, ...list), ...below);
    popup.setLatLng([lat, lng]).setContent(content).openOn(map);
  }

  function markChosen(): void {
    for (const [key, marker] of markers) {
      const isChosen = key === `row-${chosen?.number}`;
      marker.getElement()?.classList.toggle('chosen', isChosen);
      marker.setZIndexOffset(isChosen ? 1000 : 0);
    }
  }

  function choose(row: Row): void {
    if (row.point === undefined) {
      popup.close();
      return;
    }
    map.setView([...row.point], Math.max(map.getZoom(), STREET_ZOOM), { animate });
    showPopup(row);
  }

  const points = rows.flatMap(({ point }): [number, number][] => (point === undefined ? [] : [[...point]]));
  map.on('moveend', draw);
  map.fitBounds(new LatLngBounds(points), { padding: [36, 36], maxZoom: STREET_ZOOM, animate: false });
  new ResizeObserver(() => map.invalidateSize({ animate: false })).observe(element);
  void addTiles(map, element);

  return {
    show(shown) {
      index = groupRows(shown);
      for (const marker of markers.values()) marker.remove();
      markers.clear();
      if (chosen !== undefined && !shown.includes(chosen)) popup.close();
      draw();
    },
    choose,
    reveal(row) {
      element.scrollIntoView({ block: 'nearest' });
      element.focus({ preventScroll: true });
      choose(row);
    },
  };
}

const isGroup = (spot: Spot): spot is ClusterFeature<SpotData> => 'cluster' in spot.properties;

function pointOf({ geometry }: Spot): [lat: number, lng: number] {
  const [lng = 0, lat = 0] = geometry.coordinates;
  return [lat, lng];
}

function groupRows(rows: readonly Row[]): Supercluster<SpotData, SpotData> {
  const features = rows.flatMap((row): PointFeature<SpotData>[] => {
    if (row.point === undefined) return [];
    const [lat, lng] = row.point;
    return [{ type: 'Feature', properties: { row }, geometry: { type: 'Point', coordinates: [lng, lat] } }];
  });
  const radius = features.length > MANY_ROWS ? LARGE_GROUP_RADIUS : GROUP_RADIUS;
  const groups = new Supercluster<SpotData, SpotData>({ radius, extent: 256, maxZoom: MAX_GROUP_ZOOM });
  return groups.load(features);
}

const attribution = (url: string, text: string): string =>
  `<a href="${url}" target="_blank" rel="noopener noreferrer">${text}</a>`;

/** Adds the tiles if OpenStreetMap serves them; otherwise explains their absence, and tries again when online. */
async function addTiles(map: LeafletMap, element: HTMLElement): Promise<void> {
  const request = fetch(`${TILES}/0/0/0.png`, { credentials: 'omit' });
  const isServed = await request.then(({ ok }) => ok).catch(() => false);
  element.querySelector('.why')?.remove();
  if (!isServed) {
    const why =
      'No street map: OpenStreetMap cannot be reached, or this page was opened as a file, which it does not serve. Use --open to see the map.';
    element.append(el('p', { class: 'why', role: 'status' }, why));
    addEventListener('online', () => void addTiles(map, element), { once: true });
    return;
  }
  const osm = attribution('https://www.openstreetmap.org/copyright', 'OpenStreetMap');
  const tiles = new TileLayer(`${TILES}/{z}/{x}/{y}.png`, {
    maxZoom: 19,
    attribution: `© ${osm} contributors`,
    // Without cookies.
    crossOrigin: 'anonymous',
  });
  map.addLayer(tiles);
}

function factsOf(row: Row, columns: PageHead['columns']): Node[] {
  const heading = nameColumn(columns);
  const cells = columns.flatMap(({ label }, index): Entry[] => {
    const value = row.cells[index] ?? null;
    return index === heading || value === null ? [] : [[label, String(value)]];
  });
  return [...cells, ...row.details.filter(([label]) => CONTACT.test(label))].map(([label, value]) =>
    el('div', {}, el('span', { class: 'label' }, `${label} `), detail(value)),
  );
}
