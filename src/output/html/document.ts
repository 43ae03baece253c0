/** What stands in a page: a list of restaurants with what is known of each. Texts are cleaned; nothing is markup. */
export interface PageDocument {
  /** Names the query. */
  readonly heading: string;
  /** What kind of list it is: `Search`, `Details`, `Enriched list`. */
  readonly kind: string;
  /** How many of how many, and the like. */
  readonly notes: readonly string[];
  /** When the service said so, in milliseconds since the epoch. */
  readonly at: number;
  readonly columns: readonly PageColumn[];
  readonly rows: readonly PageRow[];
}

/** A page without its rows. */
export type PageHead = Omit<PageDocument, 'rows'>;

/** What the columns are sorted and painted by. */
export type ColumnKind = 'name' | 'text' | 'number' | 'grade' | 'status';

export interface PageColumn {
  readonly label: string;
  readonly kind: ColumnKind;
}

/** A line of the list. Short keys, since there may be very many. */
export interface PageRow {
  /** The cells of the columns; null where there is nothing. */
  readonly c: readonly (string | number | null)[];
  /** Latitude and longitude in degrees (WGS 84), where they are usable. */
  readonly p?: readonly [lat: number, lng: number];
  /** What it is in a sentence or two. */
  readonly t?: string;
  /** All that the cells do not show. */
  readonly d: readonly Entry[];
}

/** A value beside its label. */
export type Entry = readonly [label: string, value: Detail];

/** A value laid out for reading: text, a link, a list, a table, or values with labels of their own. */
export type Detail =
  | string
  | { readonly href: string; readonly text: string }
  | { readonly list: readonly Detail[] }
  | { readonly head: readonly string[]; readonly cells: readonly (readonly string[])[] }
  | { readonly pairs: readonly Entry[] };

/** Where the pictures of the map come from, the one address that a page asks. */
export const TILES = 'https://tile.openstreetmap.org';

/** Longest text that a cell shows; all of a longer one is among the details. */
export const MAX_CELL_LENGTH = 240;

/** The script element with the head of the document, and the one with its rows, a JSON array. */
export const HEAD_ID = 'head';
export const ROWS_ID = 'rows';
/** The one with the number of rows that the page does not hold. */
export const LEFT_ID = 'left';
