import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output.ts';
import { AppError } from '../../errors.ts';
import type { Delimiter } from '../../util/csv.ts';
import { type Columns, resolveColumns } from '../match/columns.ts';
import { formatOf, type Input } from '../read/input.ts';
import { type CheckedList, checkList } from '../read/list.ts';
import type { InputRow, ListFormat } from '../read/row.ts';
import type { OutputFile } from '../write/output-file.ts';
import { openRowCodec, type RowCodec } from '../write/row-codec.ts';
import type { EnrichOptions } from './options.ts';
import type { ResumeCommand } from './resume-command.ts';

/** Everything that is known before the first request. */
export interface Plan {
  readonly input: Input;
  /** The rows to work on, once. */
  rows(): AsyncIterable<InputRow>;
  /** Number of those rows; undefined for a stream. */
  readonly total: number | undefined;
  readonly columns: Columns;
  readonly codec: RowCodec;
  readonly options: EnrichOptions;
  /** Undefined for stdout. */
  readonly place: OutputFile | undefined;
  /** How the output is written, to read it again. */
  readonly written: { readonly format: ListFormat; readonly delimiter: Delimiter; readonly guarded: boolean };
}

const NO_COLUMNS: Columns = { query: () => ({ kind: 'none', why: 'the name is empty' }) };

/**
 * Reads the list as far as it must be known, and decides how its rows are searched and written.
 * @throws {AppError} `bad_input`, `usage`
 */
export async function makePlan(
  app: App,
  input: Input,
  options: EnrichOptions,
  { place, command }: { readonly place: OutputFile | undefined; readonly command: ResumeCommand },
): Promise<Plan> {
  const { first, encoding, inputFormat, prefix, added, details } = options;
  const wanted = options.outputFormat ?? formatOf(outputPath(app) ?? '');
  const list = await checkList(
    input,
    {
      format: inputFormat,
      delimiter: options.delimiter,
      encoding,
      flat: wanted !== undefined && wanted !== 'ndjson',
      withEncoding: (label) => command('--encoding', label),
    },
    app.context.signal,
  );
  const format = wanted ?? list.format;
  const delimiter = outputDelimiter(format, list, options.delimiter);
  const guard = app.globals.rawCsv !== true;
  const isNdjson = list.format === 'ndjson';
  const codec = openRowCodec({
    format,
    delimiter,
    bom: list.bom && format !== 'ndjson',
    columns: isNdjson && format !== 'ndjson' ? list.flatHeader : list.header,
    prefix,
    added,
    details,
    guard,
  });
  const columns =
    isNdjson && list.header.length === 0
      ? NO_COLUMNS
      : resolveColumns(list.header, { ...options, nested: isNdjson });
  return {
    input,
    rows: () => (first === undefined ? list.rows() : take(list.rows(), first)),
    total: list.total === undefined ? undefined : Math.min(list.total, first ?? list.total),
    columns,
    codec,
    options,
    place,
    written: { format, delimiter, guarded: guard && format !== 'ndjson' },
  };
}

async function* take<T>(items: AsyncGenerator<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left === 0) return;
  }
}

/** A CSV keeps its delimiter. */
function outputDelimiter(format: ListFormat, list: CheckedList, option: Delimiter | undefined): Delimiter {
  if (format === 'tsv') return '\t';
  if (list.format === 'csv') return list.delimiter ?? ',';
  if (option !== undefined && format !== 'csv') {
    throw new AppError('usage', '--delimiter is for CSV, and neither the list nor the output is one', {
      hint: 'restaurant enrich … --input-format csv',
    });
  }
  return option ?? ',';
}
