import { extname } from 'node:path';
import type { Presentation, PresentOptions } from './presentation.ts';
import type { TableFile } from './table-file.ts';

type Writer = (data: Presentation, options: PresentOptions) => string | Promise<string>;

type FileWriter = (table: TableFile) => AsyncGenerator<Uint8Array>;

interface FormatSpec {
  readonly extensions: readonly string[];
  /** Loads the writer on first use. JSON and HTML, which need more than the records, have none. */
  readonly load?: () => Promise<Writer>;
  /** The same, for a format that only a file can have. */
  readonly file?: () => Promise<FileWriter>;
}

const plain = () => import('./plain-formats.ts');
const spreadsheet = () => import('./csv.ts');

const SPECS = {
  table: { extensions: [], load: async () => (await import('./presentation.ts')).writeTable },
  list: { extensions: [], load: async () => (await plain()).writeList },
  json: { extensions: ['json'] },
  ndjson: { extensions: ['ndjson', 'jsonl'], load: async () => (await plain()).writeNdjson },
  csv: { extensions: ['csv'], load: async () => (await spreadsheet()).writeCsv },
  tsv: { extensions: ['tsv', 'tab'], load: async () => (await spreadsheet()).writeTsv },
  markdown: { extensions: ['md', 'markdown'], load: async () => (await plain()).writeMarkdown },
  geojson: { extensions: ['geojson'], load: async () => (await plain()).writeGeoJson },
  html: { extensions: ['html', 'htm'] },
  xlsx: { extensions: ['xlsx'], file: async () => (await import('./xlsx.ts')).xlsxBytes },
  parquet: { extensions: ['parquet'], file: async () => (await import('./parquet.ts')).parquetBytes },
} satisfies Readonly<Record<string, FormatSpec>>;

export type Format = keyof typeof SPECS;
type FormatWith<Loader extends string> = {
  [F in Format]: Loader extends keyof (typeof SPECS)[F] ? F : never;
}[Format];
export type RecordFormat = FormatWith<'load'>;
/** A format that only a file can have. */
type FileFormat = FormatWith<'file'>;

export const FORMAT_DESCRIPTIONS: Readonly<Record<Format, string>> = {
  table: 'for a terminal: fits its width; the default there',
  list: 'one field per line, for screen readers',
  json: 'one document, as received from the service; pretty on a terminal',
  ndjson:
    'one JSON record per line, each as soon as it is received; objects nest (enrich: .restaurant.grade)',
  csv: 'RFC 4180 with a header line; arrays joined with "; ", nested keys dotted (enrich: restaurant_grade); cells that a spreadsheet would execute start with \' (--raw-csv disables this)',
  tsv: 'one record per line, tab-separated, no header, never truncated; the default in a pipe',
  markdown: 'a GitHub table',
  geojson: 'RFC 7946: a FeatureCollection of Points, for a map',
  html: 'find, lookup, last, saved: a page with a list and a map, in one file; --open shows it',
  xlsx: 'only with -o: an Excel workbook; text is never a formula',
  parquet: 'only with -o: a Parquet file with typed columns',
};

const ALL = Object.keys(SPECS) as readonly Format[];
export const isFileFormat = (format: Format | undefined): format is FileFormat =>
  format !== undefined && 'file' in SPECS[format];
export const FORMATS = ALL.filter((format) => !isFileFormat(format)) as readonly Exclude<
  Format,
  FileFormat
>[];

export const EXTENSIONS: ReadonlyMap<string, Format> = new Map(
  ALL.flatMap((format) => SPECS[format].extensions.map((extension) => [extension, format] as const)),
);

/** The extension without the dots and blanks after it, which Windows drops. */
export const extensionOf = (path: string): string =>
  extname(path.replace(/(?<![. ])[. ]+$/, ''))
    .slice(1)
    .toLowerCase();

export const extensionsOf = (formats: readonly Format[]): string[] =>
  formats.flatMap((format) => SPECS[format].extensions);

/** Extensions of files that a browser opens as a page, whatever is in them. */
const BROWSER_EXTENSIONS = ['xhtml', 'xht', 'shtml', 'shtm', 'ehtml', 'mhtml', 'mht', 'svg', 'svgz'];

/** The only format that a file with this extension can have, whatever the command line names; undefined if any can. */
export function soleFormat(extension: string): Format | undefined {
  if (BROWSER_EXTENSIONS.includes(extension)) return 'html';
  const format = EXTENSIONS.get(extension);
  return format === 'html' || isFileFormat(format) ? format : undefined;
}

interface Output {
  readonly formats: readonly Format[];
  /** The option without which the command has more formats. */
  readonly because?: string;
  /** Whether a file can have an extension that names no format. */
  readonly anyExtension?: true;
}

const RECORDS = ALL.filter((format) => format !== 'html');
const TEXTS = RECORDS.filter((format) => !isFileFormat(format));

export type OutputKind =
  | 'restaurants'
  | 'details'
  | 'changes'
  | 'records'
  | 'filtered'
  | 'response'
  | 'request'
  | 'command'
  | 'document';

/** The formats that each output can have. Any other, or another file extension, is refused before a request. */
export const OUTPUTS: Readonly<Record<OutputKind, Output>> = {
  restaurants: { formats: ALL },
  details: { formats: RECORDS, because: '--fields' },
  changes: { formats: RECORDS, because: '--refresh' },
  records: { formats: RECORDS },
  filtered: { formats: TEXTS, because: '--jq' },
  response: { formats: ['json'], anyExtension: true },
  request: { formats: ['json'], because: '--dry-run' },
  command: { formats: [], because: '--curl' },
  document: { formats: ['json'] },
};

/** @throws {AppError} `bad_response` if data is nested too deeply */
export async function present(
  data: Presentation,
  format: RecordFormat,
  options: PresentOptions,
): Promise<string> {
  const write: Writer = await SPECS[format].load();
  return write(data, options);
}

export async function* fileBytes(format: FileFormat, table: TableFile): AsyncGenerator<Uint8Array> {
  yield* (await SPECS[format].file())(table);
}
