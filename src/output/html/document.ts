/** The content of a page: a list of restaurants with their details. Texts are cleaned; nothing is markup. */
export interface PageDocument {
  /** The query. */
  readonly heading: string;
  /** The kind of list: `Search`, `Details`, `Enriched list`. */
  readonly kind: string;
  /** Counts and remarks below the heading. */
  readonly notes: readonly string[];
  /** Time of the response, in milliseconds since the epoch. */
  readonly at: number;
  readonly columns: readonly PageColumn[];
  readonly rows: readonly PageRow[];
}

/** A page without its rows. */
export type PageHead = Omit<PageDocument, 'rows'>;

/** How a column is sorted and colored. */
export type ColumnKind = 'name' | 'text' | 'number' | 'grade' | 'status';

export interface PageColumn {
  readonly label: string;
  readonly kind: ColumnKind;
}

/** A row of the list. */
export interface PageRow {
  /** One per column; null for a missing value. */
  readonly cells: readonly (string | number | null)[];
  /** Latitude and longitude in degrees (WGS 84), if usable. */
  readonly point?: readonly [lat: number, lng: number];
  /** A sentence or two. */
  readonly summary?: string;
  /** Values that the cells do not show. */
  readonly details: readonly Entry[];
}

/** A value with its label. */
export type Entry = readonly [label: string, value: Detail];

/** A value for display: text, a link, a list, or labeled values. */
export type Detail =
  | string
  | { readonly href: string; readonly text: string }
  | { readonly list: readonly Detail[] }
  | { readonly pairs: readonly Entry[] };

/** The tile server, the only address that a page sends requests to. */
export const TILES = 'https://tile.openstreetmap.org';

/** Ids of the script elements with the document without rows, and with the rows, a JSON array. */
export const HEAD_ID = 'head';
export const ROWS_ID = 'rows';
/** Id of the script element with the number of rows that are not in the page. */
export const LEFT_ID = 'left';
