import { type Coords, type DoneCallback, GridLayer } from 'leaflet';
import { TILES } from '../document.ts';

const ATTRIBUTION =
  '\u00a9 <a href="https://www.openstreetmap.org/copyright" target="_blank" rel="noopener noreferrer">OpenStreetMap</a> contributors';

/** The tile usage policy asks for a Referer, which is sent where the page has an address to send. */
const REQUEST: RequestInit = { referrerPolicy: 'strict-origin-when-cross-origin', credentials: 'omit' };

/** Tiles of OpenStreetMap. They are fetched, so that a picture that comes with an error is never shown. */
export class Tiles extends GridLayer {
  readonly #asked = new WeakMap<HTMLElement, AbortController>();

  constructor() {
    super({ maxZoom: 19, attribution: ATTRIBUTION });
    this.on('tileunload', ({ tile }: { tile: HTMLElement }) => this.#asked.get(tile)?.abort());
  }

  override createTile({ x, y, z }: Coords, done: DoneCallback): HTMLElement {
    const tile = document.createElement('img');
    const abort = new AbortController();
    tile.alt = '';
    this.#asked.set(tile, abort);
    fetch(`${TILES}/${z}/${x}/${y}.png`, { ...REQUEST, signal: abort.signal })
      .then((answer) => (answer.ok ? answer.blob() : Promise.reject(new Error(String(answer.status)))))
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

/** Why there are no tiles; undefined where there are. Asks for one, and not at all where there is no network. */
export async function tileError(): Promise<string | undefined> {
  if (!navigator.onLine) return 'there is no network.';
  try {
    const { ok, status } = await fetch(`${TILES}/0/0/0.png`, REQUEST);
    if (ok) return undefined;
    return location.protocol === 'file:'
      ? 'OpenStreetMap gives none to a page that is opened as a file. restaurant shows it with them: --open.'
      : `OpenStreetMap answered ${status}.`;
  } catch {
    return 'OpenStreetMap cannot be reached.';
  }
}
