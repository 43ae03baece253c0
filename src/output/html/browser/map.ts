import {
  Control,
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
import { formatNumber, plural } from '../../../util/format.ts';
import { type DetailEntry, type PageHead, TILES } from '../document.ts';
import { detail } from './details.ts';
import { button, el, nameColumn, nameOf, type PlacedRow, words } from './elements.ts';
import type { MapPanel } from './panel.ts';

interface SpotData {
  row: PlacedRow;
}
/** A row on the map, or a group of rows whose markers would overlap. */
type Spot = PointFeature<SpotData> | ClusterFeature<SpotData>;

const CONTACT = /^(?:address|(?:tele)?phone(?: number)?)$/i;
const STREET_ZOOM = 16;
const MAX_GROUP_ZOOM = 18;
/** Markers closer to each other than this, in pixels, become one; the second value applies if there are many rows. */
const GROUP_RADIUS = 26;
const LARGE_GROUP_RADIUS = 44;
const MANY_ROWS = 150;
/** Markers are drawn this far outside of the view, as a share of it. */
const DRAW_MARGIN = 0.25;
const MAX_NAMED_ROWS = 20;
/** Below this zoom, the map shows several cities: it begins with the one that has most rows. */
const CITY_ZOOM = 9;
/** Radius of a city at that zoom, in pixels: about 30 km at 50 degrees of latitude. */
const CITY_RADIUS = 150;
/** Widths in pixels: of a popup's text, of its padding and frame, and of the space around it. */
const MIN_POPUP = 160;
const MAX_POPUP = 280;
const POPUP_FRAME = 46;
const POPUP_MARGIN = 16;
const ZOOM_BUTTONS = 56;

export class MapView {
  /** Called with the row that the user selects; `open` if its details are wanted. */
  onChoose: (row: PlacedRow, open: boolean) => void = () => {};
  readonly #panel: MapPanel;
  readonly #head: PageHead;
  readonly #animate = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  readonly #map: LeafletMap;
  readonly #markers = new Map<string, Marker>();
  #popup = new Popup();
  #groups: Supercluster<SpotData, SpotData>;
  #chosen: PlacedRow | undefined;
  #isFitted = false;
  /** A row was chosen while the map was not visible. */
  #isOutdated = false;

  constructor(panel: MapPanel, head: PageHead, rows: readonly PlacedRow[]) {
    this.#panel = panel;
    this.#head = head;
    this.#groups = groupRows(rows);
    const animate = this.#animate;
    this.#map = new LeafletMap(panel.map, {
      minZoom: 1,
      maxZoom: 19,
      worldCopyJump: true,
      zoomAnimation: animate,
      fadeAnimation: animate,
      markerZoomAnimation: animate,
      inertia: animate,
    });
    this.#map.attributionControl.setPrefix(attribution('https://leafletjs.com', 'Leaflet'));
    control.scale().addTo(this.#map);
    this.#map.on('moveend', () => this.#draw());
    this.#map.setView([...(rows.find(({ point }) => point !== undefined)?.point ?? [0, 0])], CITY_ZOOM);
    new ResizeObserver(() => this.#resize(rows)).observe(panel.map);
    void addTiles(this.#map, panel);
  }

  /** Also called when the map becomes visible for the first time. */
  #resize(rows: readonly PlacedRow[]): void {
    this.#map.invalidateSize({ animate: false });
    if (this.#panel.isFolded) return;
    if (!this.#isFitted) this.#fit(rows);
    this.#isFitted = true;
    if (this.#isOutdated && this.#chosen !== undefined) this.choose(this.#chosen);
  }

  #fit(rows: readonly PlacedRow[]): void {
    const all = boundsOf(rows);
    const isFar = this.#map.getBoundsZoom(all) < CITY_ZOOM;
    const shown = isFar ? largestCity(rows) : rows;
    this.#show(boundsOf(shown));
    if (shown.length < rows.filter(({ point }) => point !== undefined).length) this.#addButton(all);
  }

  #show(bounds: LatLngBounds): void {
    this.#map.fitBounds(bounds, { padding: [36, 36], maxZoom: STREET_ZOOM, animate: false });
  }

  #addButton(all: LatLngBounds): void {
    const whole = new Control({ position: 'topright' });
    whole.onAdd = () => button({ class: 'whole' }, () => this.#show(all), 'Show all cities');
    whole.addTo(this.#map);
  }

  show(rows: readonly PlacedRow[]): void {
    this.#groups = groupRows(rows);
    for (const marker of this.#markers.values()) marker.remove();
    this.#markers.clear();
    if (this.#chosen !== undefined && !rows.includes(this.#chosen)) this.#closePopup();
    this.#draw();
  }

  /** Also of a map that is hidden, which then opens no popup when it is shown. */
  #closePopup(): void {
    this.#isOutdated = false;
    this.#popup.close();
  }

  /** Moves to a row and opens its popup; closes the popup for a row without coordinates. */
  choose(row: PlacedRow): void {
    if (row.point === undefined) {
      this.#closePopup();
      return;
    }
    this.#chosen = row;
    this.#isOutdated = !this.#isFitted || this.#panel.isFolded;
    if (this.#isOutdated) return;
    const zoom = Math.max(this.#map.getZoom(), STREET_ZOOM);
    this.#map.setView([...row.point], zoom, { animate: this.#animate });
    this.#showPopup(row);
  }

  reveal(row: PlacedRow): void {
    this.#chosen = row;
    this.#panel.open();
    this.#map.invalidateSize({ animate: false });
    this.#panel.map.scrollIntoView({ block: 'nearest' });
    this.#panel.map.focus({ preventScroll: true });
    this.choose(row);
  }

  /** Adds markers for the visible area. Existing ones are kept, so they do not lose the focus. */
  #draw(): void {
    const bounds = this.#map.getBounds().pad(DRAW_MARGIN);
    const visible = this.#groups.getClusters(
      [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()],
      Math.round(this.#map.getZoom()),
    );
    const spots = new Map(visible.map((spot) => [spotKey(spot), spot]));
    for (const [key, marker] of this.#markers) {
      if (spots.has(key)) continue;
      marker.remove();
      this.#markers.delete(key);
    }
    for (const [key, spot] of spots)
      if (!this.#markers.has(key)) this.#markers.set(key, this.#addMarker(spot));
    this.#markChosen();
  }

  #addMarker(spot: Spot): Marker {
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
    const marker = new Marker(pointOf(spot), { icon, riseOnHover: true }).addTo(this.#map);
    const name = isGroup(spot) ? 'restaurants. Zoom in' : nameOf(spot.properties.row, this.#head.columns);
    marker.getElement()?.setAttribute('aria-label', `${text} ${name}`);
    marker.on('click', () => this.#activate(spot));
    marker.on('keydown', ({ originalEvent }: LeafletKeyboardEvent) => {
      if (originalEvent.key !== 'Enter' && originalEvent.key !== ' ') return;
      originalEvent.preventDefault();
      this.#activate(spot);
    });
    return marker;
  }

  /** Selects a row. For a group, zooms in until it splits, or lists its rows if they are at one location. */
  #activate(spot: Spot): void {
    if (!isGroup(spot)) {
      this.onChoose(spot.properties.row, false);
      this.#showPopup(spot.properties.row);
      return;
    }
    const { cluster_id: id, point_count: count } = spot.properties;
    const zoom = this.#groups.getClusterExpansionZoom(id);
    if (zoom <= MAX_GROUP_ZOOM && zoom > this.#map.getZoom()) {
      this.#map.setView(pointOf(spot), zoom, { animate: this.#animate });
      return;
    }
    const items = this.#groups
      .getLeaves(id, MAX_NAMED_ROWS)
      .map(({ properties: { row } }) =>
        button({ dir: 'auto' }, () => this.onChoose(row, true), nameOf(row, this.#head.columns)),
      );
    const more = count - items.length;
    const rest = more > 0 ? [el('p', {}, `and ${formatNumber(more)} more`)] : [];
    this.#openPopup(pointOf(spot), `${plural(count, 'restaurant')} at this location`, items, ...rest);
  }

  #showPopup(row: PlacedRow): void {
    if (row.point === undefined) return;
    this.#chosen = row;
    this.#markChosen();
    const { columns, isCard, comparison } = this.#head;
    const label = comparison === undefined ? 'Details in the list' : 'Show in the comparison';
    // The only restaurant of a card is on the page anyway.
    const more = isCard === true ? [] : [button({}, () => this.onChoose(row, true), label)];
    this.#openPopup(row.point, nameOf(row, columns), factsOf(row, columns), ...more);
  }

  #openPopup(
    [lat, lng]: readonly [lat: number, lng: number],
    title: string,
    items: readonly Node[],
    ...below: readonly Node[]
  ): void {
    const list = items.map((item) => el('li', { dir: 'auto' }, item));
    const name = words('p', title, { class: 'name', dir: 'auto' });
    const content = el('div', { class: 'about' }, name, el('ul', {}, ...list), ...below);
    const room = this.#map.getSize().x - POPUP_FRAME;
    // Beside the zoom buttons if it fits there, otherwise over them.
    const left = room - ZOOM_BUTTONS < MIN_POPUP ? POPUP_MARGIN : ZOOM_BUTTONS;
    this.#popup.close();
    this.#popup = new Popup({
      maxWidth: Math.min(MAX_POPUP, room - left - POPUP_MARGIN),
      minWidth: MIN_POPUP,
      autoPanPaddingTopLeft: [left, POPUP_MARGIN],
      autoPanPaddingBottomRight: [POPUP_MARGIN, POPUP_MARGIN],
    });
    this.#popup.setLatLng([lat, lng]).setContent(content).openOn(this.#map);
  }

  #markChosen(): void {
    for (const [key, marker] of this.#markers) {
      const isChosen = key === `row-${this.#chosen?.number}`;
      marker.getElement()?.classList.toggle('chosen', isChosen);
      marker.setZIndexOffset(isChosen ? 1000 : 0);
    }
  }
}

const spotKey = (spot: Spot): string =>
  isGroup(spot) ? `group-${spot.id}` : `row-${spot.properties.row.number}`;

const isGroup = (spot: Spot): spot is ClusterFeature<SpotData> => 'cluster' in spot.properties;

function pointOf({ geometry }: Spot): [lat: number, lng: number] {
  const [lng = 0, lat = 0] = geometry.coordinates;
  return [lat, lng];
}

function groupRows(
  rows: readonly PlacedRow[],
  { radius, maxZoom = MAX_GROUP_ZOOM }: { readonly radius?: number; readonly maxZoom?: number } = {},
): Supercluster<SpotData, SpotData> {
  const features = rows.flatMap((row): PointFeature<SpotData>[] => {
    if (row.point === undefined) return [];
    const [lat, lng] = row.point;
    return [{ type: 'Feature', properties: { row }, geometry: { type: 'Point', coordinates: [lng, lat] } }];
  });
  const usual = features.length > MANY_ROWS ? LARGE_GROUP_RADIUS : GROUP_RADIUS;
  const groups = new Supercluster<SpotData, SpotData>({ radius: radius ?? usual, extent: 256, maxZoom });
  return groups.load(features);
}

const attribution = (url: string, text: string): string =>
  `<a href="${url}" target="_blank" rel="noopener noreferrer">${text}</a>`;

const boundsOf = (rows: readonly PlacedRow[]): LatLngBounds =>
  new LatLngBounds(
    rows.flatMap(({ point }): [number, number][] => (point === undefined ? [] : [[...point]])),
  );

function largestCity(rows: readonly PlacedRow[]): PlacedRow[] {
  const cities = groupRows(rows, { radius: CITY_RADIUS, maxZoom: CITY_ZOOM });
  const groups = cities.getClusters([-180, -90, 180, 90], CITY_ZOOM);
  const sizeOf = (spot: Spot): number => (isGroup(spot) ? spot.properties.point_count : 1);
  const largest = groups.reduce((one, other) => (sizeOf(other) > sizeOf(one) ? other : one));
  if (!isGroup(largest)) return [largest.properties.row];
  const leaves = cities.getLeaves(largest.properties.cluster_id, Number.POSITIVE_INFINITY);
  return leaves.map(({ properties }) => properties.row);
}

/** Adds the tiles if OpenStreetMap serves them; otherwise folds the map, and tries again when online. */
async function addTiles(map: LeafletMap, panel: MapPanel): Promise<void> {
  const request = fetch(`${TILES}/0/0/0.png`, { credentials: 'omit' });
  const isServed = await request.then(({ ok }) => ok).catch(() => false);
  if (!isServed) {
    panel.fold('No street map: offline, or this page was opened as a file.');
    addEventListener('online', () => void addTiles(map, panel), { once: true });
    return;
  }
  if (panel.hasReason) panel.restore();
  const osm = attribution('https://www.openstreetmap.org/copyright', 'OpenStreetMap');
  const tiles = new TileLayer(`${TILES}/{z}/{x}/{y}.png`, {
    maxZoom: 19,
    attribution: `© ${osm} contributors`,
    // Without cookies.
    crossOrigin: 'anonymous',
  });
  map.addLayer(tiles);
}

function factsOf(row: PlacedRow, columns: PageHead['columns']): Node[] {
  const heading = nameColumn(columns);
  const cells = columns.flatMap(({ label }, index): DetailEntry[] => {
    const value = row.cells[index] ?? null;
    return index === heading || value === null ? [] : [[label, String(value)]];
  });
  return [...cells, ...row.details.filter(([label]) => CONTACT.test(label))].map(([label, value]) =>
    el('div', {}, el('span', { class: 'label' }, `${label} `), detail(value)),
  );
}
