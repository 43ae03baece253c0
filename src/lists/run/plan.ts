import { extname } from 'node:path';
import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output-file.ts';
import { checkOutputName, outputExtension } from '../../app/output-format.ts';
import { quotaLimits } from '../../app/quota.ts';
import type { Level } from '../../client/types.ts';
import { usage } from '../../errors.ts';
import { again, type Options } from '../../hint.ts';
import type { Delimiter } from '../../util/csv.ts';
import type { Written } from '../finished/finished-list.ts';
import { type ColumnOptions, type Columns, resolveColumns } from '../match/columns.ts';
import { isEncoding } from '../read/decode.ts';
import { formatOf, type Input } from '../read/input.ts';
import { type CheckedList, checkList } from '../read/list.ts';
import { type InputFormat, type InputRow, LIST_FORMATS, type ListFormat } from '../row.ts';
import type { OutputFile } from '../write/output-file.ts';
import { type AddedColumn, openRowCodec, type RowCodec } from '../write/row-codec.ts';
import { separateResults } from './fed-back.ts';

export interface EnrichFlags extends Omit<ColumnOptions, 'defaultCity' | 'nested'> {
  readonly fields?: Level | undefined;
  readonly add?: string[];
  readonly details: boolean;
  readonly loose?: boolean;
  readonly first?: number;
  readonly prefix: string;
  readonly inputFormat?: InputFormat;
  readonly headerLine?: number;
  readonly sheet?: string;
  readonly delimiter?: Delimiter;
  readonly encoding?: string;
  readonly concurrency: number;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly wait?: true;
  readonly resume?: true;
  readonly retryErrors?: true;
  readonly progress?: 'json';
  readonly report?: string;
  readonly export: readonly string[];
}

export interface EnrichOptions extends EnrichFlags, ColumnOptions {
  readonly added: readonly AddedColumn[];
  readonly outputFormat: ListFormat | undefined;
  readonly perMinute: number;
  readonly perDay: number;
  /** Whether an HTML page is written: with --report or --open. */
  readonly hasPage: boolean;
  /** Whether summary and estimate are printed as JSON on stdout. */
  readonly json: boolean;
}

function parseAdded(text: string): AddedColumn {
  const at = text.indexOf('=');
  const [name, path] = [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1).trim()];
  if (at > 0 && name !== '' && path !== '') return { name, path };
  throw usage(`--add '${text}': expected <column>=<dotted.path>`, {
    command: again({ '--fields': 'standard', '--add': 'phone=phone' }),
  });
}

export function resolveOptions(app: App, list: string, typed: EnrichFlags): EnrichOptions {
  const flags = { ...typed, export: exportedFiles(app, list, typed.export) };
  const { globals, settings } = app;
  assertConsistent(app, flags);
  const added = (flags.add ?? []).map(parseAdded);
  return {
    ...flags,
    defaultCity: settings.get('city'),
    // Added columns require a lookup.
    fields: flags.fields ?? (added.length > 0 ? 'basic' : undefined),
    added,
    // A format that is configured for all commands does not apply to lists.
    outputFormat: LIST_FORMATS.find((each) => each === globals.format),
    ...quotaLimits(app, flags),
    hasPage: flags.report !== undefined || globals.open === true,
    json: wantsJson(app),
  };
}

const wantsJson = ({ globals }: App): boolean => globals.json === true || globals.format === 'json';

const FILE: Options = { '--output': 'out.csv' };

function assertListFormat(app: App): void {
  const { globals } = app;
  if (globals.format !== undefined && ![...LIST_FORMATS, 'json'].includes(globals.format)) {
    throw usage(`--format '${globals.format}': rows are written as ${LIST_FORMATS.join(', ')}`, {
      command: again({ '--format': 'csv' }),
    });
  }
  if (globals.format === undefined && ['html', 'htm', 'json'].includes(outputExtension(app))) {
    throw usage(`${globals.output}: rows are written as ${LIST_FORMATS.join(', ')}`, [
      { command: again({ '--output': 'out.ndjson' }) },
      { text: 'for a page', command: again({ '--output': 'out.csv', '--report': 'out.html' }) },
    ]);
  }
}

function assertConsistent(app: App, flags: EnrichFlags): void {
  const { resume, retryErrors, encoding } = flags;
  const { globals } = app;
  const toFile = outputPath(app) !== undefined;
  assertListFormat(app);
  checkExports(flags.export);
  if (retryErrors && !resume)
    throw usage('--retry-errors needs --resume', {
      command: again({ ...(toFile ? {} : FILE), '--resume': true, '--retry-errors': true }),
    });
  if (resume && !toFile) {
    throw usage('--resume needs the output file of the first run', {
      command: again({ ...FILE, '--resume': true }),
    });
  }
  if (encoding !== undefined && !isEncoding(encoding))
    throw usage(`--encoding '${encoding}': unknown encoding`, {
      command: again({ '--encoding': 'windows-1252' }),
    });
  if (wantsJson(app) && !toFile && !globals.dryRun) {
    throw usage(
      `${globals.json ? '--json' : '--format json'} prints the summary of a run, so the rows need a file`,
      [
        { command: again(FILE) },
        { text: 'or for rows as JSON', command: again({ '--format': 'ndjson' }, { without: ['--json'] }) },
      ],
    );
  }
  checkOutputName(app, ['csv', 'tsv', 'tab', 'ndjson', 'jsonl'], globals.format !== undefined);
}

export interface Plan {
  readonly input: Input;
  /** Reads the rows to process. Those of a stream can be read only once. */
  rows(): AsyncIterable<InputRow>;
  readonly total: number | undefined;
  readonly columns: Columns;
  readonly codec: RowCodec;
  readonly options: EnrichOptions;
  readonly outputFile: OutputFile | undefined;
  /** How the output is written, for reading it again. */
  readonly written: Written;
}

/** The file with the rows; undefined for stdout or a device. */
export const rowFileOf = ({ outputFile }: Plan): OutputFile | undefined =>
  outputFile?.device === undefined ? outputFile : undefined;

const NO_COLUMNS: Columns = { query: () => ({ kind: 'none', why: 'the name is empty' }) };

/** @throws {AppError} `bad_input`, `usage` */
export async function makePlan(
  app: App,
  input: Input,
  options: EnrichOptions,
  outputFile: OutputFile | undefined,
): Promise<Plan> {
  const { first, encoding, inputFormat } = options;
  const named = formatOf(outputPath(app) ?? '');
  const wanted = options.outputFormat ?? LIST_FORMATS.find((each) => each === named);
  const list = await checkList(input, {
    format: inputFormat,
    delimiter: options.delimiter,
    encoding,
    headerLine: options.headerLine,
    sheet: options.sheet,
    named: [options.nameColumn, options.cityColumn, options.idColumn],
    flat: wanted !== undefined && wanted !== 'ndjson',
  });
  const { detectedEncoding } = list;
  if (detectedEncoding !== undefined)
    await app.notes.warn(
      `${input.name} is not UTF-8; reading it as ${detectedEncoding} (--encoding changes that)`,
      true,
    );
  const format = wanted ?? list.format;
  const delimiter = outputDelimiter(wanted, list, options.delimiter);
  const isNdjson = list.format === 'ndjson';
  const own = { ...list, ...separateResults(list, options) };
  const { header, flatHeader, headerText, ignored, earlierIdColumn } = own;
  const codec = openRowCodec({
    ...options,
    format,
    delimiter,
    bom: list.bom && format !== 'ndjson',
    columns: isNdjson && format !== 'ndjson' ? flatHeader : header,
    headerText: list.delimiter === delimiter ? headerText : undefined,
    lineEnd: list.lineEnd,
    guard: app.globals.rawCsv !== true,
  });
  const columns =
    isNdjson && header.length === 0
      ? NO_COLUMNS
      : resolveColumns(header, {
          ...options,
          ignored,
          earlierIdColumn,
          nested: isNdjson,
          likelyHeader: list.likelyHeader,
          sheets: list.sheets,
        });
  return {
    input,
    rows: () => separated(list.rows(), own.separate, first),
    total: list.total === undefined ? undefined : Math.min(list.total, first ?? list.total),
    columns,
    codec,
    options,
    outputFile,
    written: { format, delimiter, columns, added: options.added },
  };
}

/** @param count the number of rows to process */
async function* separated(
  rows: AsyncGenerator<InputRow>,
  separate: (row: InputRow) => InputRow = (row) => row,
  count = Number.POSITIVE_INFINITY,
): AsyncGenerator<InputRow> {
  let left = count;
  for await (const row of rows) {
    yield separate(row);
    left -= 1;
    if (left === 0) return;
  }
}

/** @param wanted the format of --format or of the output's extension; undefined to keep that of the list */
function outputDelimiter(
  wanted: ListFormat | undefined,
  list: CheckedList,
  option: Delimiter | undefined,
): Delimiter {
  const format = wanted ?? list.format;
  if (format === 'tsv') return '\t';
  // A CSV with tabs is a TSV, as Excel's "Unicode Text" is.
  if (list.format === 'csv' && wanted === 'csv' && list.delimiter === '\t') return ',';
  if (list.format === 'csv') return list.delimiter ?? ',';
  if (option !== undefined && format !== 'csv')
    throw usage('--delimiter only applies to CSV, and neither the list nor the output is CSV', {
      command: again({ '--input-format': 'csv' }),
    });
  return option ?? ',';
}

const EXPORT_FORMATS = ['xlsx', 'parquet', 'geojson'] as const;
type ExportFormat = (typeof EXPORT_FORMATS)[number];

export function exportFormat(file: string): ExportFormat | undefined {
  const extension = extname(file).slice(1).toLowerCase();
  return EXPORT_FORMATS.find((each) => each === extension);
}

/** @throws {AppError} `usage` for a file with another extension */
function checkExports(files: readonly string[]): void {
  const wrong = files.find((file) => exportFormat(file) === undefined);
  if (wrong === undefined) return;
  throw usage(`--export ${wrong}: use the extension .${EXPORT_FORMATS.join(', .')}`, {
    command: again({ '--export': 'out.xlsx' }),
  });
}

/**
 * Reads `-o out.xlsx` as `-o out.xlsx.csv --export out.xlsx`: a workbook is written at the end, and rows are kept in a list.
 * @returns the files to export
 */
function exportedFiles(app: App, list: string, exports: readonly string[]): readonly string[] {
  const { output = '', format } = app.globals;
  if (outputPath(app) === undefined || exportFormat(output) === undefined) return exports;
  const isNested = ['ndjson', 'geojson'].includes(formatOf(list) ?? '');
  const rows = LIST_FORMATS.find((each) => each === format) ?? (isNested ? 'ndjson' : 'csv');
  // From here on, the list is the output of this run.
  app.program?.setOptionValue('output', `${output}.${rows}`);
  return [output, ...exports];
}
