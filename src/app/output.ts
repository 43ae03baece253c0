import { accessSync, constants, existsSync, lstatSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, isAbsolute, resolve } from 'node:path';
import type { Context } from '../context.ts';
import { AppError, systemCode } from '../errors.ts';
import { colorJson } from '../output/color.ts';
import { EXTENSIONS, FORMATS, type Format, present } from '../output/formats.ts';
import type { Presentation } from '../output/presentation.ts';
import { writeFileAtomic } from '../storage/atomic.ts';
import { ioError, ioReason } from '../storage/io-error.ts';
import { toJson } from '../util/json.ts';
import { nearest } from '../util/nearest.ts';
import { shellWord } from '../util/shell.ts';
import type { App } from './app.ts';

/**
 * Returns the absolute path. The current folder is read only for a relative path, because it may be deleted.
 * @throws {AppError} `io_error` where the path is relative to a folder that was deleted
 */
export function fullPath({ cwd }: Pick<Context, 'cwd'>, path: string): string {
  if (isAbsolute(path)) return resolve(path);
  try {
    return resolve(cwd(), path);
  } catch (cause) {
    const why = systemCode(cause) === 'ENOENT' ? 'was deleted' : 'cannot be read';
    throw new AppError('io_error', `the current folder, which ${path} would be in, ${why}`, {
      cause,
      hint: 'cd ~, or give the whole path of the file',
    });
  }
}

/** The destination of a command's data: stdout, or the file of `--output`. Keys of this run are masked. */
export interface OutputTarget {
  write(text: string): Promise<void>;
  /** Completes the output: a file appears whole, at this moment. */
  finish(): Promise<void>;
}

/** Returns the path that `--output` names; undefined for stdout. */
export function outputPath(app: App): string | undefined {
  const { output } = app.globals;
  if (output === '')
    throw new AppError('usage', '--output needs the name of a file', { hint: 'restaurant … -o out.csv' });
  return output === undefined || output === '-' ? undefined : fullPath(app.context, output);
}

/** Returns the extension of the output file, lower-case, without its dot; empty for stdout. */
export const outputExtension = (app: App): string =>
  extname(outputPath(app) ?? '')
    .slice(1)
    .toLowerCase();

/**
 * Checks the output options before anything is sent: format, columns and file.
 * @param columns names that a result is documented to have; a misspelling of one is refused
 * @param anyExtension the format does not depend on the file extension
 * @throws {AppError} `usage`, `bad_config` for a format that a variable or the config file names, `io_error`
 */
export function checkOutputOptions(app: App, columns: readonly string[] = [], anyExtension = false): void {
  const format = outputFormat(app);
  checkSelectedColumns(app, columns);
  const path = outputPath(app);
  if (format === 'html' && isFlag(app) && writesToTerminal(app)) {
    throw new AppError('usage', '--format html prints a page, which a terminal cannot show', {
      hint: 'add --open to show it in the browser, or -o page.html to write it to a file',
    });
  }
  checkOutputName(app, [...EXTENSIONS.keys()], anyExtension || app.globals.open === true || isFlag(app));
  if (path !== undefined) checkOutput(app);
}

/**
 * Rejects an output file that is the bare name of a format, or has an unknown extension.
 * @param extensions those that name a format of the command
 * @param isNamed whether an option names the format
 * @throws {AppError} `usage`
 */
export function checkOutputName(app: App, extensions: readonly string[], isNamed: boolean): void {
  const path = outputPath(app);
  const { output = '' } = app.globals;
  if (path === undefined) return;
  if (isBareFormat(output)) {
    const option = output === 'json' ? '--json' : `--format ${output}`;
    throw new AppError('usage', `--output expects a file, got the format '${output}'`, {
      hint: `for ${output} on stdout add ${option}; for a file of that name: -o ./${output} ${option}`,
    });
  }
  const extension = outputExtension(app);
  const isKnown = ['', 'txt', ...extensions].includes(extension);
  if (!isNamed && !isKnown && !isDevice(path)) {
    throw new AppError('usage', `unknown file extension '.${extension}' in ${output}`, {
      hint: `use one of .${extensions.join(', .')}, or name the format: -o ${shellWord(output)} --format tsv`,
    });
  }
}

/**
 * Checks the filter of `--jq` before anything is sent.
 * @throws {AppError} `usage` for a syntax error, or together with a format that is not JSON
 */
export async function checkJqFilter(app: App): Promise<void> {
  const { jq } = app.globals;
  if (jq === undefined) return;
  const { value, source } = app.settings.resolve('format');
  if (app.globals.open === true || (source === 'flag' && value !== 'json')) {
    const other = app.globals.open === true ? '--open' : `--format ${value}`;
    throw new AppError('usage', `--jq filters JSON and cannot be combined with ${other}`, {
      hint: `leave out ${other}`,
    });
  }
  const { checkFilter } = await import('../output/jq.ts');
  await checkFilter(jq);
}

/** Whether an option names the format. */
const isFlag = (app: App): boolean =>
  app.globals.open !== true && app.settings.resolve('format').source === 'flag';

const isBareFormat = (output: string): boolean => FORMATS.some((format) => format === output);

function isDevice(path: string): boolean {
  const { stats } = inspect(path);
  return stats !== undefined && !stats.isFile();
}

function checkSelectedColumns(app: App, known: readonly string[]): void {
  const selected = selectedColumns(app);
  if (selected === undefined) return;
  const example = known.slice(0, 3).join(',') || 'name,address';
  if (selected.length === 0) {
    throw new AppError('usage', `--columns '${app.globals.columns}' names no column`, {
      hint: `restaurant … --columns ${example}`,
    });
  }
  for (const column of selected) {
    // A service may have more fields than it documents, but a slip of the finger is none of them.
    const [near] = known.includes(column) ? [] : nearest(column, known, 1);
    if (near === undefined || column.startsWith(near) || near.startsWith(column)) continue;
    const better = selected.map((each) => (each === column ? near : each)).join(',');
    throw new AppError('usage', `there is no column '${column}'; valid: ${known.join(', ')}`, {
      hint: `did you mean --columns ${shellWord(better)}?`,
    });
  }
}

/**
 * Refuses an output file that exists already, or that cannot be created.
 * @throws {AppError} `usage` naming --force; `io_error` for a folder, or where there is none to write in
 */
function checkOutput(app: App): void {
  const path = outputPath(app);
  if (path === undefined) return;
  const { isLink, stats } = inspect(path);
  if (stats?.isDirectory()) {
    throw new AppError('io_error', `${path} is a folder`, { hint: 'name a file: -o <folder>/out.csv' });
  }
  // A link whose target is missing would create a file somewhere else.
  const exists = stats === undefined ? isLink : stats.isFile();
  if (exists && app.globals.force !== true) {
    throw new AppError('usage', `${path} exists`, {
      hint: 'add --force to overwrite it, or name another file with -o',
    });
  }
  if (stats === undefined) checkFolder(path);
}

/** @throws {AppError} `io_error` for a path that cannot be one */
function inspect(path: string): { isLink: boolean; stats: Stats | undefined } {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return { isLink, stats: statSync(path, { throwIfNoEntry: false }) };
  } catch (error) {
    throw writeError(path, error);
  }
}

function writeError(path: string, error: unknown): AppError {
  const { code, message, details } = ioError('write', path, error);
  return new AppError(code, message, { ...details, hint: details.hint ?? OTHER_PLACE });
}

/** Checks that a new file can be created. @throws {AppError} `io_error` naming the folder */
function checkFolder(path: string, name = path): void {
  const folder = dirname(path);
  if (!existsSync(folder)) {
    throw new AppError('io_error', `cannot write ${name}: there is no folder ${folder}`, {
      hint: `mkdir -p ${shellWord(folder)}`,
    });
  }
  try {
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw new AppError('io_error', `cannot write ${name}: ${ioReason(cause)}`, { cause, hint: OTHER_PLACE });
  }
}

const OTHER_PLACE = 'name a file in a folder of yours: restaurant … -o ~/out.csv';

/** Opens the destination of a command's data. @throws {AppError} as {@link checkOutput} */
export function openOutput(app: App): OutputTarget {
  checkOutput(app);
  const path = outputPath(app);
  const { stdout } = app.context;
  if (path === undefined) return { write: (text) => stdout.write(app.maskKey(text)), finish: async () => {} };
  const parts: string[] = [];
  return {
    write: async (text) => {
      parts.push(app.maskKey(text));
    },
    finish: async () => writeOutput(path, parts.join('')),
  };
}

function writeOutput(path: string, text: string): void {
  try {
    // A device or a pipe is written to; only a plain file can be replaced.
    if (existsSync(path) && !lstatSync(path).isFile() && !statSync(path).isFile()) writeFileSync(path, text);
    else writeFileAtomic(path, text, { mode: 0o644 });
  } catch (error) {
    throw writeError(path, error);
  }
}

/** Returns the output format: named by a flag, else by the file's extension, else by a setting, else by stdout. */
export function outputFormat(app: App): Format {
  if (app.globals.open === true) return 'html';
  if (app.globals.jq !== undefined) return 'json';
  const { value, source } = app.settings.resolve('format');
  const extension = outputExtension(app);
  if (value !== undefined && source === 'flag') return value;
  return EXTENSIONS.get(extension) ?? value ?? (writesToTerminal(app) ? 'table' : 'tsv');
}

/** Returns whether the data is shown on a terminal. */
export const writesToTerminal = (app: App): boolean =>
  app.context.stdout.isTTY && outputPath(app) === undefined;

/** Returns the columns that `--columns` names, in order. */
export function selectedColumns(app: App): string[] | undefined {
  const { columns } = app.globals;
  const names = columns?.split(',').map((name) => name.trim());
  return names?.filter((name) => name !== '');
}

/** A command's data as a JSON document; the other formats are made on demand. */
export interface ResultDocument {
  readonly json: unknown;
  present(): Promise<Presentation>;
}

/** Writes a command's data in the selected format. */
export async function writeResult(app: App, data: Presentation | ResultDocument): Promise<void> {
  const format = outputFormat(app);
  const columns = selectedColumns(app);
  const prettyJson = writesToTerminal(app);
  // The whole document needs no renderer, and renderers take long to load.
  if (format === 'json' && columns === undefined) return writeJson(app, data.json);
  const presentation = 'present' in data ? await data.present() : data;
  const { page } = presentation;
  await warnOfMissingColumns(app, presentation, columns);
  // A format that is set for all commands does not fill a terminal with the text of a page.
  const isPage = format === 'html' && (app.globals.open === true || !writesToTerminal(app));
  if (isPage && page !== undefined) {
    return writePage(app, page);
  }
  if (format === 'json') {
    const { selectedJson } = await import('../output/plain-formats.ts');
    return writeJson(app, selectedJson(presentation, columns));
  }
  // A page is set for all commands, and this one has none.
  const form = format === 'html' ? (writesToTerminal(app) ? 'table' : 'tsv') : format;
  // TSV on stdout is for other programs; in a file it is opened by spreadsheets, too.
  const guardFormulas = app.globals.rawCsv !== true && (form !== 'tsv' || outputPath(app) !== undefined);
  const options = { columns, prettyJson, guardFormulas, view: app.view };
  await write(app, await present(presentation, form, options));
}

/** Warns of selected columns that the result does not have, after it is too late to refuse them. */
async function warnOfMissingColumns(
  app: App,
  presentation: Presentation,
  columns: readonly string[] | undefined,
): Promise<void> {
  if (columns === undefined) return;
  const { missingColumns } = await import('../output/plain-formats.ts');
  const problem = missingColumns(presentation, columns);
  if (problem !== undefined) await app.warn(problem);
}

/**
 * Writes a result as an HTML page and, with `--open`, shows it in the browser. Without `-o`, a page to show is stored
 * in the cache folder, and its path is printed.
 */
async function writePage(app: App, page: NonNullable<Presentation['page']>): Promise<void> {
  const { renderDocument, showPage, tempReportPath } = await import('./page.ts');
  const document = await page(selectedColumns(app));
  const html = await renderDocument(app, document);
  const path = outputPath(app);
  if (app.globals.open !== true) return write(app, html);
  const shown = path ?? tempReportPath(app, document.heading);
  if (path !== undefined) await write(app, html);
  else {
    writeFileAtomic(shown, html, { durable: false });
    await app.context.stdout.write(`${shown}\n`);
  }
  await showPage(app, shown);
}

/**
 * Writes a JSON document, filtered by `--jq`. JSON that an option requests never contains an escape byte; a setting that
 * makes JSON the format of a person's terminal gets color.
 */
async function writeJson(app: App, json: unknown): Promise<void> {
  const { jq } = app.globals;
  const isTerminal = writesToTerminal(app);
  if (jq === undefined) {
    const text = `${toJson(json, isTerminal)}\n`;
    const isColored = isTerminal && app.settings.resolve('format').source !== 'flag';
    return write(app, isColored ? colorJson(text, app.view.palette) : text);
  }
  const { applyFilter } = await import('../output/jq.ts');
  await write(app, await applyFilter(jq, toJson(json, false), isTerminal));
}

async function write(app: App, text: string): Promise<void> {
  if (outputPath(app) === undefined && app.context.stdout.isTTY) {
    const { pagerCommand, showInPager } = await import('./pager.ts');
    const masked = app.maskKey(text);
    const pager = pagerCommand(app, masked);
    if (pager !== undefined && (await showInPager(app, pager, masked))) return;
  }
  const sink = openOutput(app);
  await sink.write(text);
  await sink.finish();
}

/** Writes data of commands with two formats: text for people, JSON with --json. */
export async function writeText(app: App, json: unknown, text: () => string): Promise<void> {
  const sink = openOutput(app);
  const asJson = app.settings.resolve('format').value === 'json' || outputExtension(app) === 'json';
  await sink.write(asJson ? `${toJson(json, writesToTerminal(app))}\n` : text());
  await sink.finish();
}
