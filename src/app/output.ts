import { usage } from '../errors.ts';
import { again } from '../hint.ts';
import { fileBytes, isFileFormat, type OutputKind, present } from '../output/formats.ts';
import type { JqFilter } from '../output/jq/filter.ts';
import type { Presentation } from '../output/presentation.ts';
import { colorJson } from '../output/style.ts';
import { checkDepth, formatJson, toJson } from '../util/json.ts';
import { nearest } from '../util/nearest.ts';
import type { App } from './app.ts';
import {
  checkOutputFile,
  outputPath,
  writeBytes,
  writeOutput,
  writePaged,
  writesToTerminal,
} from './output-file.ts';
import { checkFormat, checkTargetName, outputExtension, outputFormat } from './output-format.ts';

/** Checks the options of the output, and what it can be. @throws {AppError} `usage`, `bad_config` */
export async function checkOutput(
  app: App,
  kind: OutputKind,
  columns: readonly string[] = [],
): Promise<void> {
  checkSelectedColumns(app, columns);
  checkFormat(app, kind);
  checkTargetName(app, checkOutputFile(app)?.path);
  const { jq } = app.globals;
  if (jq !== undefined) await (await jqFilter(app, jq)).check();
}

/** The filter of each run, whose worker is started once. */
const filters = new WeakMap<App, JqFilter>();

export async function jqFilter(app: App, jq: string): Promise<JqFilter> {
  const { JqFilter } = await import('../output/jq/filter.ts');
  const hasResults = ['find', 'last'].includes(app.program?.line.command[0] ?? '');
  const example = hasResults ? '.results[].name' : undefined;
  const filter = filters.get(app) ?? new JqFilter(jq, app.settings.get('timeout'), app.context, example);
  filters.set(app, filter);
  return filter;
}

/** @param known columns of the documented results. @throws {AppError} `usage` for none, or a misspelled one */
export function checkSelectedColumns(app: App, known: readonly string[]): void {
  const selected = selectedColumns(app);
  if (selected === undefined) return;
  const example = known.slice(0, 3).join(',') || 'name,address';
  if (selected.length === 0) {
    throw usage(`--columns '${app.globals.columns}' contains no column`, {
      command: again({ '--columns': example }),
    });
  }
  for (const column of selected) {
    // A service may have undocumented fields, so only a likely misspelling is refused.
    const [near] = known.includes(column) ? [] : nearest(column, known, 1);
    if (near === undefined || column.startsWith(near) || near.startsWith(column)) continue;
    const better = selected.map((each) => (each === column ? near : each)).join(',');
    throw usage(`there is no column '${column}'; valid: ${known.join(', ')}`, {
      text: 'did you mean',
      command: again({ '--columns': better }),
    });
  }
}

export function selectedColumns(app: App): string[] | undefined {
  const { columns } = app.globals;
  const names = columns?.split(',').map((name) => name.trim());
  return names?.filter((name) => name !== '');
}

/** @param prepare loads what other formats than JSON need. @param received the JSON text as received, if it is unchanged */
export async function writeResult(
  app: App,
  json: unknown,
  prepare: () => Promise<Presentation>,
  received?: string,
): Promise<void> {
  const format = outputFormat(app);
  const columns = selectedColumns(app);
  const isTerminal = writesToTerminal(app);
  if (format === 'json' && columns === undefined) return writeJson(app, json, received);
  const presentation = await prepare();
  if (columns !== undefined) {
    const { missingColumns } = await import('../output/plain-formats.ts');
    const missing = missingColumns(presentation, columns);
    if (missing !== undefined) {
      const { moreColumns = [] } = presentation;
      const hint = [{ text: missing.hint }, moreColumns].flat();
      await app.notes.report({ code: 'no_such_column', message: missing.message, hint });
    }
  }
  if (format === 'json') return writeJson(app, presentation.selectColumns(columns ?? []));
  if (isFileFormat(format)) {
    const { tableOf } = await import('../output/table-file.ts');
    const table = tableOf(presentation, columns, (text) => app.secrets.mask(text));
    return writeBytes(app, fileBytes(format, table));
  }
  const { page } = presentation;
  if (format === 'html' && page !== undefined && (app.globals.open === true || !isTerminal)) {
    return writePage(app, page);
  }
  // Only a setting chooses a page where there is none, or where nobody can see it.
  const usual = isTerminal ? 'table' : 'tsv';
  const records = format === 'html' ? usual : format;
  // TSV on stdout is for other programs, but a TSV file may be opened in a spreadsheet.
  const guardFormulas = app.globals.rawCsv !== true && (records !== 'tsv' || outputPath(app) !== undefined);
  const options = {
    columns,
    prettyJson: isTerminal,
    guardFormulas,
    view: app.terminal.view,
    signal: app.context.signal,
  };
  await writePaged(app, await present(presentation, records, options));
}

/** With `--open` but without `-o`, the page is stored in the cache folder, and its path is printed. */
async function writePage(app: App, page: NonNullable<Presentation['page']>): Promise<void> {
  const { renderDocument, showPage, storePage } = await import('./page.ts');
  const document = await page(selectedColumns(app));
  const html = await renderDocument(app, document);
  const path = outputPath(app);
  if (app.globals.open !== true) return writePaged(app, html);
  if (path !== undefined) {
    await writeOutput(app, html);
    return showPage(app, path);
  }
  const stored = storePage(app, document.heading, html);
  await app.context.stdout.write(`${stored}\n`);
  await showPage(app, stored);
}

/** Colored on a terminal only if a setting, not an option, selects JSON: `--json` never prints escape sequences. */
async function writeJson(app: App, json: unknown, received?: string): Promise<void> {
  const { jq } = app.globals;
  const isTerminal = writesToTerminal(app);
  if (jq !== undefined) {
    const filter = await jqFilter(app, jq);
    return writePaged(app, await filter.apply(received ?? toJson(json, false), isTerminal));
  }
  checkDepth(json);
  const text = `${received === undefined ? toJson(json, isTerminal) : formatJson(received, isTerminal)}\n`;
  const isColored = isTerminal && app.settings.resolve('format').source !== 'flag';
  await writePaged(app, isColored ? colorJson(text, app.terminal.view.palette) : text);
}

export async function writeText(app: App, json: unknown, text: () => string): Promise<void> {
  const isJson = app.settings.resolve('format').value === 'json' || outputExtension(app) === 'json';
  await writeOutput(app, isJson ? `${toJson(json, writesToTerminal(app))}\n` : text());
}
