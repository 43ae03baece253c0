import { extname } from 'node:path';
import { usage } from '../errors.ts';
import { again, type Options } from '../hint.ts';
import {
  EXTENSIONS,
  FILE_FORMATS,
  FORMATS,
  type Format,
  fileBytes,
  isFileFormat,
  present,
} from '../output/formats.ts';
import type { Filter } from '../output/jq/filter.ts';
import type { Presentation } from '../output/presentation.ts';
import { colorJson } from '../output/style.ts';
import { writeFileAtomic } from '../storage/atomic.ts';
import { checkDepth, formatJson, toJson } from '../util/json.ts';
import { nearest } from '../util/nearest.ts';
import type { App } from './app.ts';
import {
  checkOutputFile,
  checkTarget,
  outputPath,
  writeBytes,
  writeOutput,
  writePaged,
  writesToTerminal,
} from './output-file.ts';

const extensionOf = (path = ''): string => extname(path).slice(1).toLowerCase();

export const outputExtension = (app: App): string => extensionOf(outputPath(app));

/** @param anyExtension the format does not depend on that of the file. @throws {AppError} `usage`, `bad_config` */
export async function checkOutput(
  app: App,
  columns: readonly string[] = [],
  anyExtension = false,
): Promise<void> {
  const { open = false } = app.globals;
  const format = outputFormat(app);
  const isNamed = !open && app.settings.resolve('format').source === 'flag';
  checkSelectedColumns(app, columns);
  if (format === 'html' && isNamed && writesToTerminal(app)) {
    throw usage('--format html prints a page, which a terminal cannot show', [
      { text: 'to show it in the browser', command: again({ '--open': true }, { without: ['--format'] }) },
      { text: 'to write it to a file', command: again({ '--output': 'page.html' }) },
    ]);
  }
  checkOutputName(app, [...EXTENSIONS.keys()], anyExtension || open || isNamed);
  checkOutputFile(app);
  await checkJqFilter(app);
}

/** @param extensions those that name a format of the command. @throws {AppError} `usage` */
export function checkOutputName(app: App, extensions: readonly string[], anyExtension: boolean): void {
  const path = outputPath(app);
  const { output = '' } = app.globals;
  if (path === undefined) return;
  if (FORMATS.some((format) => format === output)) {
    const option: Options = output === 'json' ? { '--json': true } : { '--format': output };
    throw usage(`--output expects a file, got the format '${output}'`, [
      { text: `for ${output} on stdout`, command: again(option, { without: ['--output'] }) },
      { text: 'for a file of that name', command: again({ '--output': `./${output}`, ...option }) },
    ]);
  }
  if (FILE_FORMATS.some((format) => format === output)) {
    throw usage(`--output expects a file, got the format '${output}'`, {
      command: again({ '--output': `restaurants.${output}` }),
    });
  }
  const extension = extensionOf(path);
  const file = EXTENSIONS.get(extension);
  if (anyExtension && isFileFormat(file)) {
    throw usage(`${output} cannot have the text of another format than ${file}`, [
      { text: `leave out the format, if the command can write ${file}` },
      { text: 'or name a file with another extension' },
    ]);
  }
  if (anyExtension || ['', 'txt', ...extensions].includes(extension)) return;
  if (!['nothing', 'file'].includes(checkTarget(app, output, true).entry)) return;
  throw usage(`unknown file extension '.${extension}' in ${output}`, [
    { text: `use one of .${extensions.join(', .')}` },
    { text: 'or name the format', command: again({ '--format': 'tsv' }) },
  ]);
}

/** @throws {AppError} `usage` for a syntax error, or if the format is not JSON */
async function checkJqFilter(app: App): Promise<void> {
  const { jq } = app.globals;
  if (jq === undefined) return;
  const { value, source } = app.settings.resolve('format');
  if (app.globals.open === true || (source === 'flag' && value !== 'json')) {
    const flag = app.globals.open === true ? '--open' : '--format';
    const other = flag === '--open' ? flag : `${flag} ${value}`;
    throw usage(`--jq filters JSON and cannot be combined with ${other}`, {
      text: `leave out ${other}`,
      command: again({}, { without: [flag] }),
    });
  }
  await (await jqFilter(app, jq)).check();
}

/** The filter of each run, whose worker is started once. */
const filters = new WeakMap<App, Filter>();

export async function jqFilter(app: App, jq: string): Promise<Filter> {
  const { Filter } = await import('../output/jq/filter.ts');
  const filter = filters.get(app) ?? new Filter(jq, app.settings.get('timeout'), app.context);
  filters.set(app, filter);
  return filter;
}

function checkSelectedColumns(app: App, known: readonly string[]): void {
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

/** From a flag, else the extension of the output file, else a setting, else the default for stdout. */
export function outputFormat(app: App): Format {
  if (app.globals.open === true) return 'html';
  if (app.globals.jq !== undefined) return 'json';
  const { value, source } = app.settings.resolve('format');
  if (value !== undefined && source === 'flag') return value;
  return EXTENSIONS.get(outputExtension(app)) ?? value ?? (writesToTerminal(app) ? 'table' : 'tsv');
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
    if (missing !== undefined) await app.notes.warn(missing);
  }
  if (format === 'json') return writeJson(app, presentation.selectColumns(columns ?? []));
  if (isFileFormat(format)) {
    const { tableOf } = await import('../output/table-file.ts');
    const table = tableOf(presentation, columns, (text) => app.secrets.mask(text));
    return writeBytes(app, fileBytes(format, table));
  }
  const { page } = presentation;
  // If html is only the configured format, do not print the page on a terminal.
  if (format === 'html' && page !== undefined && (app.globals.open === true || !isTerminal)) {
    return writePage(app, page);
  }
  const fallback = isTerminal ? 'table' : 'tsv';
  const records = format === 'html' ? fallback : format;
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
  const { renderDocument, showPage, tempReportPath } = await import('./page.ts');
  const document = await page(selectedColumns(app));
  const html = await renderDocument(app, document);
  const path = outputPath(app);
  if (app.globals.open !== true) return writePaged(app, html);
  if (path !== undefined) {
    await writeOutput(app, html);
    return showPage(app, path);
  }
  const stored = tempReportPath(app, document.heading);
  writeFileAtomic(stored, html, { durable: false });
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
