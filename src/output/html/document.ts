/** The content of a page: restaurants with their details. Texts are cleaned; nothing is markup. */
export interface PageDocument {
  readonly heading: string;
  /** The kind of list, such as `Restaurant search`. */
  readonly kind: string;
  /** Whether the page shows one restaurant as a card. Default: a list. */
  readonly isCard?: boolean;
  /** The fields of a few restaurants, which the page shows side by side. */
  readonly comparison?: readonly FieldRow[];
  readonly notes: readonly string[];
  /** Time of the response, in milliseconds since the epoch. */
  readonly at?: number | undefined;
  readonly columns: readonly PageColumn[];
  readonly rows: readonly PageRow[];
}

export type PageHead = Omit<PageDocument, 'rows'>;

/** A field of restaurants side by side, with a cell for each; without cells, a heading of the fields below it. */
export interface FieldRow {
  readonly label: string;
  readonly level: number;
  readonly kind: ColumnKind;
  readonly isDay?: boolean;
  readonly cells?: readonly Detail[];
}

export type ColumnKind = 'name' | 'text' | 'grade' | 'status';

export interface PageColumn {
  readonly label: string;
  readonly kind: ColumnKind;
}

export interface PageRow {
  readonly cells: readonly (string | number | null)[];
  /** Latitude and longitude in degrees (WGS 84), if usable. */
  readonly point?: readonly [lat: number, lng: number];
  readonly summary?: string;
  readonly details: readonly DetailEntry[];
  readonly review?: RowReview;
}

export interface RowReview {
  /** Name of the row in the list, as a cell without a formula; empty if it has none. */
  readonly name: string;
  readonly current: string | null;
  readonly choices: readonly ReviewChoice[];
}

export interface ReviewChoice {
  readonly id: string;
  readonly text: string;
}

export type DetailEntry = readonly [label: string, value: Detail];

export type Detail =
  | string
  | { readonly href: string; readonly text: string }
  | { readonly list: readonly Detail[] }
  | { readonly pairs: readonly DetailEntry[]; readonly isWeek?: boolean }
  | DetailTable;

/** Similar records, such as dishes. */
export interface DetailTable {
  readonly head: readonly string[];
  readonly numeric: readonly boolean[];
  readonly rows: readonly (readonly string[])[];
}

/** The tile server, the only address that a page sends requests to. */
export const TILES = 'https://tile.openstreetmap.org';

/** Ids of the script elements with the document without rows, and with the rows, a JSON array. */
export const HEAD_ID = 'head';
export const ROWS_ID = 'rows';
/** Id of the script element with the number of rows that are not in the page. */
export const LEFT_ID = 'left';
