import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output.ts';
import { AppError } from '../../errors.ts';
import type { Delimiter } from '../../util/csv.ts';
import { type Columns, resolveColumns } from '../match/columns.ts';
import { formatOf, type Input } from '../read/input.ts';
import { type CheckedList, checkList } from '../read/list.ts';
import type { ListFormat } from '../read/row.ts';
import type { OutputFile } from '../write/output-file.ts';
import { openRowCodec, type RowCodec } from '../write/row-codec.ts';
import type { EnrichOptions } from './options.ts';
import type { ResumeCommand } from './resume-command.ts';

/** Everything that is settled before the first request. */
export interface Plan {
  readonly input: Input;
  readonly list: CheckedList;
  readonly columns: Columns;
  readonly form: RowCodec;
  readonly options: EnrichOptions;
  /** Undefined for stdout. */
  readonly place: OutputFile | undefined;
  /** How the output is written, to read it again. */
  readonly written: { readonly format: ListFormat; readonly delimiter: Delimiter; readonly guarded: boolean };
}

/**
 * Reads the list as far as it must be known, and settles how its rows are asked and written.
 * @throws {AppError} `bad_input`, `usage`
 */
export async function makePlan(
  app: App,
  input: Input,
  options: EnrichOptions,
  { place, command }: { readonly place: OutputFile | undefined; readonly command: ResumeCommand },
): Promise<Plan> {
  const wanted = options.outputFormat ?? formatOf(outputPath(app) ?? '');
  const flat = wanted !== undefined && wanted !== 'ndjson';
  const list = await checkList(
    input,
    {
      format: options.inputFormat,
      delimiter: options.delimiter,
      encoding: options.encoding,
      flat,
      withEncoding: (label) => command('--encoding', label),
    },
    app.context.signal,
  );
  const format = wanted ?? list.format;
  const delimiter = outputDelimiter(format, list, options.delimiter);
  const guarded = app.globals.rawCsv !== true;
  const form = openRowCodec({
    format,
    delimiter,
    bom: list.bom && format !== 'ndjson',
    columns: list.format === 'ndjson' && format !== 'ndjson' ? list.flatHeader : list.header,
    prefix: options.prefix,
    added: options.added,
    guard: guarded,
  });
  const isEmpty = list.format === 'ndjson' && list.header.length === 0;
  const columns = isEmpty
    ? NO_COLUMNS
    : resolveColumns(list.header, { ...options.columns, nested: list.format === 'ndjson' });
  const written = { format, delimiter, guarded: guarded && format !== 'ndjson' };
  return { input, list, columns, form, options, place, written };
}

const NO_COLUMNS: Columns = { ask: () => ({ kind: 'none', why: 'the name is empty' }) };

/** A CSV keeps its delimiter. */
function outputDelimiter(format: ListFormat, list: CheckedList, asked: Delimiter | undefined): Delimiter {
  if (format === 'tsv') return '\t';
  if (list.format === 'csv') return list.delimiter ?? ',';
  if (asked !== undefined && format !== 'csv') {
    throw new AppError('usage', '--delimiter is for CSV, and neither list nor output is one', {
      hint: 'restaurant enrich … --input-format csv',
    });
  }
  return asked ?? ',';
}
