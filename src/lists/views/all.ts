import type { App } from '../../app/app.ts';
import type { Answers } from '../answers.ts';
import type { Plan } from '../plan.ts';
import type { ListFormat } from '../row.ts';
import type { OutputView } from './outputs.ts';
import { pageText } from './page.ts';
import { rowParts, type ViewSource } from './source.ts';
import { openRowText, type RowText } from './text.ts';
import { geoJsonText, tableBytes } from './typed.ts';
import { writeView } from './write.ts';

/** The text of rows in a format. @throws {AppError} `usage`, `bad_input` if the format cannot have the columns */
export function rowTextOf(plan: Plan, format: ListFormat, guard: boolean): RowText {
  const { list, result } = plan;
  const delimiter = delimiterOf(plan, format);
  const isDelimited = list.format !== 'ndjson' && list.isSheet !== true;
  return openRowText({
    format,
    delimiter,
    bom: list.bom && format !== 'ndjson',
    columns: format === 'ndjson' ? list.header : list.tableColumns(),
    headerText: isDelimited && list.delimiter === delimiter ? list.headerText : undefined,
    lineEnd: list.lineEnd,
    result,
    guard,
    isDelimited,
  });
}

/** A CSV keeps the delimiter of the list; one with tabs is a TSV, as Excel's "Unicode Text" is. */
function delimiterOf({ list, flags }: Plan, wanted: ListFormat): string {
  if (wanted === 'tsv') return '\t';
  if (list.format === 'ndjson') return flags.delimiter ?? ',';
  return list.delimiter === undefined || list.delimiter === '\t' ? ',' : list.delimiter;
}

/** Checks what the formats of views require of the columns, before a request is sent. @throws {AppError} */
export function checkColumns(app: App, plan: Plan, views: readonly OutputView[]): void {
  const guard = app.globals.rawCsv !== true;
  for (const { format } of views) {
    if (format === 'csv' || format === 'tsv' || format === 'ndjson') rowTextOf(plan, format, guard);
    else if (format === 'xlsx' || format === 'parquet')
      plan.result.assertNew(plan.list.tableColumns(), false);
    else plan.result.assertNew(plan.list.header, false);
  }
}

/** Writes all views; the answers file remembers their checksums. @returns whether any of them has changed */
export async function writeViews(
  app: App,
  views: readonly OutputView[],
  source: ViewSource,
  answers: Answers,
): Promise<boolean> {
  let hasChanged = false;
  for (const view of views)
    hasChanged = (await writeView(app, view, contentOf(app, view, source), answers)) || hasChanged;
  return hasChanged;
}

export function contentOf(
  app: App,
  { format }: Pick<OutputView, 'format'>,
  source: ViewSource,
): AsyncIterable<string | Uint8Array> {
  switch (format) {
    case 'html':
      return pageText(app, source);
    case 'geojson':
      return geoJsonText(source);
    case 'xlsx':
    case 'parquet':
      return tableBytes(format, source);
    default:
      return textOf(source, format);
  }
}

async function* textOf(source: ViewSource, format: ListFormat): AsyncGenerator<string> {
  const text = rowTextOf(source.plan, format, source.guard);
  yield text.header;
  for await (const rows of rowParts(source))
    yield rows.map((row) => text.row(row, source.resultOf(row))).join('');
}
