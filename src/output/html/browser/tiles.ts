import { type Coords, type DoneCallback, GridLayer } from 'leaflet';
import { TILES } from '../document.ts';

const ATTRIBUTION =
  '\u00a9 <a href="https://www.openstreetmap.org/copyright" target="_blank" rel="noopener noreferrer">OpenStreetMap</a> contributors';

/** The tile usage policy requires a Referer, which is sent if the page has an address. */
const REQUEST: RequestInit = { referrerPolicy: 'strict-origin-when-cross-origin', credentials: 'omit' };

/** Tiles of OpenStreetMap. They are fetched, so that an image of an error response is never shown. */
export class Tiles extends GridLayer {
  readonly #requests = new WeakMap<HTMLElement, AbortController>();

  constructor() {
    super({ maxZoom: 19, attribution: ATTRIBUTION });
    this.on('tileunload', ({ tile }: { tile: HTMLElement }) => this.#requests.get(tile)?.abort());
  }

  override createTile({ x, y, z }: Coords, done: DoneCallback): HTMLElement {
    const tile = document.createElement('img');
    const abort = new AbortController();
    tile.alt = '';
    this.#requests.set(tile, abort);
    fetch(`${TILES}/${z}/${x}/${y}.png`, { ...REQUEST, signal: abort.signal })
      .then((response) =>
        response.ok ? response.blob() : Promise.reject(new Error(String(response.status))),
      )
      .then((blob) => {
        const address = URL.createObjectURL(blob);
        tile.onload = () => {
          URL.revokeObjectURL(address);
          done(undefined, tile);
        };
        tile.src = address;
      })
      .catch((error: Error) => done(error, tile));
    return tile;
  }
}

/** Returns why there are no tiles; undefined if there are. Requests one, unless there is no network. */
export async function tileError(): Promise<string | undefined> {
  if (!navigator.onLine) return 'no network.';
  try {
    const { ok, status } = await fetch(`${TILES}/0/0/0.png`, REQUEST);
    if (ok) return undefined;
    return location.protocol === 'file:'
      ? 'OpenStreetMap does not serve pages that are opened as files. Use --open to see the map.'
      : `OpenStreetMap answered ${status}.`;
  } catch {
    return 'OpenStreetMap cannot be reached.';
  }
}
