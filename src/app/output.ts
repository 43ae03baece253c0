import { extname } from 'node:path';
import { type AppError, usage } from '../errors.ts';
import { type Advice, again, slot } from '../hint.ts';
import {
  EXTENSIONS,
  extensionOf,
  extensionsOf,
  type Format,
  fileBytes,
  isFileFormat,
  OUTPUTS,
  type OutputKind,
  present,
  soleFormat,
} from '../output/formats.ts';
import type { JqFilter } from '../output/jq/filter.ts';
import type { Presentation } from '../output/presentation.ts';
import { colorJson } from '../output/style.ts';
import { checkDepth, formatJson, toJson } from '../util/json.ts';
import { nearest } from '../util/nearest.ts';
import { isPreview } from './address.ts';
import type { App } from './app.ts';
import {
  checkNotFormat,
  checkOutputFile,
  checkOutputPath,
  outputPath,
  writeBytes,
  writeOutput,
  writePaged,
  writesToTerminal,
} from './output-file.ts';

/** Checks the options of the output, and what it can be. @throws {AppError} `usage`, `bad_config` */
export async function checkOutput(
  app: App,
  kind: OutputKind,
  columns: readonly string[] = [],
): Promise<void> {
  checkSelectedColumns(app, columns);
  checkFormat(app, kind);
  const { jq } = app.globals;
  if (jq !== undefined) await (await jqFilter(app, jq)).check();
}

export async function jqFilter(app: App, jq: string): Promise<JqFilter> {
  if (app.jqFilter !== undefined) return app.jqFilter;
  const { JqFilter } = await import('../output/jq/filter.ts');
  const hasResults = ['find', 'last'].includes(app.program.line.command[0] ?? '');
  const example = hasResults ? '.results[].name' : undefined;
  const filter = new JqFilter(jq, app.settings.get('timeout'), app.context, example);
  app.jqFilter = filter;
  app.cleanup.add(() => filter.close());
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

const outputExtension = (app: App): string => extensionOf(outputPath(app) ?? '');

/** From an option, else the extension of the output file, else a setting, else the default for stdout. */
export function outputFormat(app: App): Format {
  if (app.globals.jq !== undefined) return 'json';
  const named = namedFormat(app)?.format ?? EXTENSIONS.get(outputExtension(app));
  return named ?? app.settings.get('format') ?? (writesToTerminal(app) ? 'table' : 'tsv');
}

/** Whether the output has numbered rows in a terminal, so that commands take these numbers. */
export const showsNumbers = (app: App): boolean =>
  writesToTerminal(app) && ['table', 'list'].includes(outputFormat(app));

/** A format that an option names. */
interface Named {
  readonly format: Format;
  readonly flag: '--open' | '--format';
  readonly typed: string;
}

function namedFormat({ globals, settings }: App): Named | undefined {
  if (globals.open === true) return { format: 'html', flag: '--open', typed: '--open' };
  const { value: format, source } = settings.resolve('format');
  if (format === undefined || source !== 'flag') return undefined;
  return { format, flag: '--format', typed: `--format ${format}` };
}

function writtenKind({ globals }: App, kind: OutputKind): OutputKind {
  if (globals.curl === true) return 'command';
  if (globals.dryRun === true) return 'request';
  return globals.jq === undefined ? kind : 'filtered';
}

/**
 * Checks that the output can have the format that an option or its file asks for, and that the file can be written.
 * @throws {AppError} `usage`; `io_error`
 */
function checkFormat(app: App, kind: OutputKind): void {
  const written = writtenKind(app, kind);
  const named = isPreview(app) ? undefined : namedFormat(app);
  if (named !== undefined) checkNamed(app, written, named);
  if (outputPath(app) === undefined) return;
  checkExtension(app, written, named);
  const file = checkOutputFile(app);
  const sole = file && soleFormat(extensionOf(file.path));
  if (sole === undefined || sole === outputFormat(app)) return;
  throw usage(`${app.globals.output} is a link to ${file?.path}, which can only be ${sole}`, {
    text: 'write to another file',
    command: again({ '--output': slot('file') }),
  });
}

function checkNamed(app: App, kind: OutputKind, { format, flag, typed }: Named): void {
  const others = { command: again({}, { without: [flag] }) };
  if (app.globals.jq !== undefined && format !== 'json')
    throw usage(`--jq filters JSON and cannot be combined with ${typed}`, {
      text: `leave out ${typed}`,
      ...others,
    });
  if (!OUTPUTS[kind].formats.includes(format)) throw notPossible(app, kind, typed, format, others);
  if (format !== 'html' || flag === '--open' || !writesToTerminal(app)) return;
  throw usage('--format html prints a page, which a terminal cannot show', [
    { text: 'to show it in the browser', command: again({ '--open': true }, { without: ['--format'] }) },
    { text: 'to write it to a file', command: again({ '--output': 'page.html' }) },
  ]);
}

function notPossible(app: App, kind: OutputKind, typed: string, format: Format, other: Advice): AppError {
  const { because = '' } = OUTPUTS[kind];
  const { command, options } = app.program.line;
  const isCause = options.some(({ flag }) => flag === because);
  const leaveOut = { text: `leave out ${because}`, command: again({}, { without: [because] }) };
  const what = [...command, ...(isCause ? [because] : [])].join(' ');
  return usage(`${typed}: ${what} cannot write ${format}`, [other, ...(isCause ? [leaveOut] : [])]);
}

/** Checks the extension of the output file. With a format that an option names, it only must not mean another one. */
function checkExtension(app: App, kind: OutputKind, named: Named | undefined): void {
  const { output = '' } = app.globals;
  checkNotFormat(output);
  const extension = outputExtension(app);
  const [format, sole] = [EXTENSIONS.get(extension), soleFormat(extension)];
  const { anyExtension = false } = OUTPUTS[kind];
  const isUnknown = format === undefined && sole === undefined;
  const isPossible = {
    '--open': format === 'html',
    '--format': sole === undefined || sole === named?.format,
    none: possibleExtensions(kind).includes(extension) || (isUnknown && anyExtension),
  }[named?.flag ?? 'none'];
  // A device can have any name.
  const isFree = isPossible || !['nothing', 'file'].includes(checkOutputPath(app, output, true).entry);
  if (!isFree) throw extensionError(app, kind, extension, named);
}

/** Without an extension, and as `.txt`, a file has the default format. */
const possibleExtensions = (kind: OutputKind): string[] => [
  '',
  'txt',
  ...extensionsOf(OUTPUTS[kind].formats),
];

function extensionError(app: App, kind: OutputKind, extension: string, named: Named | undefined): AppError {
  const { output = '', jq } = app.globals;
  const { formats } = OUTPUTS[kind];
  const extensions = extensionsOf(formats);
  const [format, sole] = [EXTENSIONS.get(extension), soleFormat(extension)];
  const withExtension = (better = 'txt'): Advice => ({
    text: 'use another extension',
    command: again({ '--output': `${output.slice(0, output.length - extname(output).length)}.${better}` }),
  });
  if (named?.flag === '--open')
    return usage(`--open shows an HTML page, but ${output} has another extension`, [
      { command: again({ '--output': 'page.html' }) },
      { text: 'or leave out -o' },
    ]);
  if (named !== undefined) {
    const command = again({}, { without: ['--format', '--json'] });
    const leaveOut = extensions.includes(extension) ? [{ text: 'leave out the format', command }] : [];
    return usage(`${output} can only be ${sole}, not ${named.format}`, [...leaveOut, withExtension()]);
  }
  const other = withExtension(extensions[0]);
  if (format !== undefined) return notPossible(app, kind, `-o ${output}`, format, other);
  const canBeNamed = sole === undefined && formats.includes('tsv') && jq === undefined;
  return usage(`unknown file extension '.${extension}' in ${output}`, [
    { text: `use one of ${extensions.map((each) => `.${each}`).join(', ') || '.txt'}` },
    canBeNamed ? { text: 'or name the format', command: again({ '--format': 'tsv' }) } : other,
  ]);
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
