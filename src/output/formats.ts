import type { Presentation, PresentOptions } from './presentation.ts';

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
    write: async (data, options) => (await plainFormats()).writeMarkdown(data, options),
  },
  geojson: {
    extensions: ['geojson'],
    write: async (data, options) => (await import('./geo.ts')).writeGeoJson(data, options),
  },
  kml: {
    extensions: ['kml'],
    write: async (data, options) => (await import('./geo.ts')).writeKml(data, options),
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
