import type { App } from '../../app/app.ts';
import { outputExtension, outputPath } from '../../app/output.ts';
import type { Level } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { parseValue } from '../../settings/values.ts';
import type { Delimiter } from '../../util/csv.ts';
import type { ColumnOptions } from '../match/columns.ts';
import { isEncoding } from '../read/decode.ts';
import { LIST_FORMATS, type ListFormat } from '../read/row.ts';
import type { AddedColumn } from '../write/row-codec.ts';

/** The options of `enrich` itself, as commander hands them over. */
export interface EnrichFlags {
  nameColumn?: string;
  cityColumn?: string;
  city?: string;
  idColumn?: string;
  fields?: Level;
  add?: string[];
  prefix: string;
  inputFormat?: ListFormat;
  delimiter?: string;
  encoding?: string;
  concurrency: number;
  perMinute?: number;
  perDay?: number;
  wait?: true;
  resume?: true;
  retryErrors?: true;
  loose?: true;
  first?: number;
  /** False with `--no-details`. */
  details: boolean;
  progress?: 'json';
  report?: string;
}

/** The options of a run. */
export interface EnrichOptions {
  readonly columns: ColumnOptions;
  /** Fields of the lookup of each matched row; undefined: none is made. */
  readonly fields: Level | undefined;
  /** Whether there is a column for the whole details. */
  readonly details: boolean;
  /** Search a row that found nothing once more by its simplified name. */
  readonly loose: boolean;
  /** Process so many rows alone. */
  readonly first: number | undefined;
  readonly added: readonly AddedColumn[];
  readonly prefix: string;
  readonly inputFormat: ListFormat | undefined;
  readonly outputFormat: ListFormat | undefined;
  readonly delimiter: Delimiter | undefined;
  /** WHATWG label of the input's encoding. */
  readonly encoding: string | undefined;
  readonly concurrency: number;
  readonly perMinute: number;
  readonly perDay: number;
  readonly wait: boolean;
  readonly resume: boolean;
  readonly retryErrors: boolean;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly progress: 'json' | undefined;
  /** File of the page of the finished list. */
  readonly report: string | undefined;
  /** Whether the page is shown. */
  readonly open: boolean;
  /** Summary and estimate as JSON on stdout. */
  readonly json: boolean;
}

const DELIMITER_NAMES: Readonly<Record<string, Delimiter>> = {
  ',': ',',
  comma: ',',
  ';': ';',
  semicolon: ';',
  '\t': '\t',
  '\\t': '\t',
  tab: '\t',
};

/** Parses `--delimiter`. @throws {Error} naming the accepted values */
export function parseDelimiter(text: string): Delimiter {
  const found = Object.hasOwn(DELIMITER_NAMES, text) ? DELIMITER_NAMES[text] : undefined;
  if (found === undefined) throw new Error("expected comma, semicolon or tab (',', ';', '\\t')");
  return found;
}

/** Parses `--add column=path`. @throws {AppError} `usage` */
export function parseAdded(text: string): AddedColumn {
  const at = text.indexOf('=');
  const [name, path] = [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1).trim()];
  if (at > 0 && name !== '' && path !== '') return { name, path };
  throw new AppError('usage', `--add '${text}': expected <column>=<dotted.path>`, {
    hint: 'restaurant enrich list.csv -o out.csv --fields standard --add phone=phone',
  });
}

/**
 * Resolves the options of a run.
 * @throws {AppError} `usage` for options that contradict each other or mean nothing here
 */
export function resolveOptions(app: App, flags: EnrichFlags): EnrichOptions {
  const { globals, settings } = app;
  assertSupported(app);
  assertConsistent(app, flags);
  const added = (flags.add ?? []).map(parseAdded);
  return {
    columns: {
      nameColumn: flags.nameColumn,
      cityColumn: flags.cityColumn,
      idColumn: flags.idColumn,
      city: flags.city,
      defaultCity: settings.get('city'),
    },
    // Added columns need a lookup.
    fields: flags.fields ?? (added.length > 0 ? 'basic' : undefined),
    added,
    details: flags.details,
    loose: flags.loose === true,
    first: flags.first,
    prefix: flags.prefix,
    inputFormat: flags.inputFormat,
    outputFormat: wantedFormat(app),
    delimiter: delimiterOf(flags),
    encoding: encodingOf(flags),
    concurrency: flags.concurrency,
    perMinute: flags.perMinute ?? settings.need('per-minute'),
    perDay: flags.perDay ?? settings.need('per-day'),
    wait: flags.wait === true,
    resume: flags.resume === true,
    retryErrors: flags.retryErrors === true,
    force: globals.force === true,
    dryRun: globals.dryRun === true,
    progress: flags.progress,
    report: flags.report,
    open: globals.open === true,
    json: wantsJson(app),
  };
}

function delimiterOf({ delimiter }: EnrichFlags): Delimiter | undefined {
  if (delimiter === undefined) return undefined;
  return parseValue(parseDelimiter, delimiter, { name: '--delimiter', flag: true });
}

function encodingOf({ encoding }: EnrichFlags): string | undefined {
  if (encoding === undefined || isEncoding(encoding)) return encoding;
  throw new AppError('usage', `--encoding '${encoding}': unknown encoding`, {
    hint: 'restaurant enrich … --encoding windows-1252 (or utf-16le, shift_jis, gb18030, …)',
  });
}

const wantsJson = ({ globals }: App): boolean => globals.json === true || globals.format === 'json';

/** The format of `--format`. A setting for all commands does not apply to a list. */
function wantedFormat(app: App): ListFormat | undefined {
  const { settings, globals } = app;
  if (globals.format === undefined) return assertExtension(app);
  const { value } = settings.resolve('format');
  const format = LIST_FORMATS.find((each) => each === value);
  if (format !== undefined || value === 'json') return format;
  throw new AppError('usage', `--format ${value}: rows are written as ${LIST_FORMATS.join(', ')}`, {
    hint: value === 'html' ? PAGE_HINT : 'restaurant enrich list.csv -o out.ndjson',
  });
}

const PAGE_HINT =
  'a page is made along with the rows: restaurant enrich list.csv -o out.csv --report out.html';

/** Rejects an output file whose extension is of a format that rows are not written in. */
function assertExtension(app: App): undefined {
  const extension = outputExtension(app);
  const isPage = ['html', 'htm'].includes(extension);
  if (!isPage && !['json', 'geojson'].includes(extension)) return;
  throw new AppError('usage', `${app.globals.output}: rows are written as ${LIST_FORMATS.join(', ')}`, {
    hint: isPage ? PAGE_HINT : 'restaurant enrich list.csv -o out.ndjson',
  });
}

function assertSupported({ globals }: App): void {
  const foreign = globals.columns !== undefined ? '--columns' : globals.curl === true ? '--curl' : undefined;
  if (foreign === undefined) return;
  throw new AppError('usage', `enrich does not take ${foreign}`, { hint: 'restaurant enrich --help' });
}

function assertConsistent(app: App, flags: EnrichFlags): void {
  const { globals } = app;
  const toFile = outputPath(app) !== undefined;
  const refuse = (message: string, hint: string): never => {
    throw new AppError('usage', message, { hint });
  };
  if (flags.resume === true && globals.force === true) {
    refuse(
      '--resume and --force contradict each other',
      '--resume continues, --force starts again: leave one out',
    );
  }
  if (flags.retryErrors === true && flags.resume !== true) {
    refuse('--retry-errors needs --resume', 'restaurant enrich … -o out.csv --resume --retry-errors');
  }
  if (flags.resume === true && !toFile) {
    refuse('--resume needs the output file of the first run', 'restaurant enrich … -o out.csv --resume');
  }
  if (flags.progress !== undefined && globals.quiet === true) {
    refuse('--progress and --quiet contradict each other', 'leave one out');
  }
  if (wantsJson(app) && !toFile && globals.dryRun !== true) {
    refuse(
      `${globals.json === true ? '--json' : '--format json'} prints the summary of a run, so the rows need a file`,
      'restaurant enrich … -o out.csv --json, or --format ndjson for rows as JSON',
    );
  }
}
