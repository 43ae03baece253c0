import type { PageDocument } from './html/document.ts';
import type { View } from './view.ts';

/** A command's data, ready for every output format. */
export interface Presentation {
  /** The JSON document. */
  readonly json: unknown;
  /** The records in it, for formats with one entry per record. An element that is not an object gives an empty one. */
  readonly records: readonly unknown[];
  /** The records of CSV, TSV and Markdown, where they differ from `records`. */
  readonly rows?: readonly unknown[];
  /** Default columns of CSV and TSV. Without them: all keys, in order of appearance. */
  readonly columns?: readonly string[];
  /** Default columns of Markdown. Without them: `columns`. */
  readonly readableColumns?: readonly string[];
  /** Whether TSV without `--columns` prints `key<TAB>value` lines, and not one line per record. */
  readonly keyValue?: boolean;
  /** The JSON document reduced to these keys. Default: each record reduced, in a list if `json` is one. */
  readonly selectColumns?: (columns: readonly string[]) => unknown;
  /** The text for people, without a final line break. */
  table(view: View, columns?: readonly string[]): string;
  /** The content of an HTML page, for commands that have one. */
  page?(columns?: readonly string[]): Promise<PageDocument>;
}

export interface PresentOptions {
  readonly columns?: readonly string[] | undefined;
  readonly prettyJson: boolean;
  /** Neutralizes text that a spreadsheet would run as a formula, in CSV and TSV. */
  readonly guardFormulas: boolean;
  readonly view: View;
}

interface FormatSpec {
  /** File extensions that select the format. */
  readonly extensions: readonly string[];
  /** The whole output, with a final line break unless it is empty. A page is made of more than records. */
  readonly write?: (data: Presentation, options: PresentOptions) => Promise<string>;
}

const plainFormats = () => import('./plain-formats.ts');

/** Every output format. What a format needs is loaded when it is used. */
const SPECS = {
  table: {
    extensions: [],
    write: async (data, options) => (await plainFormats()).writeTable(data, options),
  },
  json: {
    extensions: ['json'],
    write: async (data, options) => (await plainFormats()).writeJson(data, options),
  },
  ndjson: {
    extensions: ['ndjson', 'jsonl'],
    write: async (data, options) => (await plainFormats()).writeNdjson(data, options),
  },
  csv: {
    extensions: ['csv'],
    write: async (data, options) => (await import('./csv.ts')).writeCsv(data, options),
  },
  tsv: {
    extensions: ['tsv', 'tab'],
    write: async (data, options) => (await import('./csv.ts')).writeTsv(data, options),
  },
  markdown: {
    extensions: ['md', 'markdown'],
    write: async (data, options) => (await import('./markdown.ts')).writeMarkdown(data, options),
  },
  geojson: {
    extensions: ['geojson'],
    write: async (data, options) => (await import('./geojson.ts')).writeGeoJson(data, options),
  },
  kml: {
    extensions: ['kml'],
    write: async (data, options) => (await import('./kml.ts')).writeKml(data, options),
  },
  html: { extensions: ['html', 'htm'] },
} satisfies Readonly<Record<string, FormatSpec>>;

export type Format = keyof typeof SPECS;
/** The formats that are made of the records alone; a page is made of more. */
export type RecordFormat = Exclude<Format, 'html'>;

/** The names of all formats, in the order of the help. */
export const FORMATS = Object.keys(SPECS) as readonly Format[];

/** The format of each known file extension. */
export const EXTENSIONS: ReadonlyMap<string, Format> = new Map(
  FORMATS.flatMap((format) => SPECS[format].extensions.map((extension) => [extension, format] as const)),
);

/**
 * The whole text of a command's data in one format, with a final line break unless it is empty.
 * @throws {AppError} `bad_response` if data nests too deep
 */
export async function present(
  data: Presentation,
  format: RecordFormat,
  options: PresentOptions,
): Promise<string> {
  const hasRows = format === 'csv' || format === 'tsv' || format === 'markdown';
  const selected = hasRows && data.rows !== undefined ? { ...data, records: data.rows } : data;
  return SPECS[format].write(selected, options);
}
