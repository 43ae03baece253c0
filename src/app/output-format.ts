import { extname } from 'node:path';
import { type AppError, usage } from '../errors.ts';
import { type Advice, again, slot } from '../hint.ts';
import {
  EXTENSIONS,
  extensionsOf,
  FILE_FORMATS,
  type Format,
  type OutputKind,
  outputSpec,
  soleFormat,
} from '../output/formats.ts';
import type { App } from './app.ts';
import { checkTarget, outputPath, writesToTerminal } from './output-file.ts';

/** The extension without the dots and blanks after it, which Windows drops. */
const extensionOf = (path = ''): string =>
  extname(path.replace(/(?<![. ])[. ]+$/, ''))
    .slice(1)
    .toLowerCase();

export const outputExtension = (app: App): string => extensionOf(outputPath(app));

/** Returns the kind of the output with the options of this run. */
function writtenKind({ globals }: App, kind: OutputKind): OutputKind {
  if (globals.curl === true) return 'command';
  if (globals.dryRun === true) return 'request';
  return globals.jq === undefined ? kind : 'filtered';
}

/** @throws {AppError} `usage` if the output cannot have the format that an option or the name of its file asks for */
export function checkFormat(app: App, kind: OutputKind): void {
  const written = writtenKind(app, kind);
  const named = namedFormat(app);
  const isPreview = written === 'request' || written === 'command';
  if (named !== undefined && !isPreview) checkNamed(app, named, written);
  const isOpen = app.globals.open === true;
  const isFree = named !== undefined && !isPreview && !isOpen;
  checkOutputName(app, extensionsOf(outputSpec(written).formats), isFree, written);
  if (!isOpen || outputPath(app) === undefined || EXTENSIONS.get(outputExtension(app)) === 'html') return;
  throw usage(`--open shows an HTML page, but ${app.globals.output} has another extension`, [
    { command: again({ '--output': 'page.html' }) },
    { text: 'or leave out -o' },
  ]);
}

function checkNamed(app: App, named: Format, written: OutputKind): void {
  const { open = false, jq } = app.globals;
  const flag = open ? '--open' : '--format';
  const option = open ? flag : `${flag} ${named}`;
  if (jq !== undefined && named !== 'json') {
    throw usage(`--jq filters JSON and cannot be combined with ${option}`, {
      text: `leave out ${option}`,
      command: again({}, { without: [flag] }),
    });
  }
  if (!outputSpec(written).formats.includes(named)) {
    const other = { command: again({}, { without: [flag] }) };
    throw notPossible(app, written, option, named, [other]);
  }
  if (named !== 'html' || open || !writesToTerminal(app)) return;
  throw usage('--format html prints a page, which a terminal cannot show', [
    { text: 'to show it in the browser', command: again({ '--open': true }, { without: ['--format'] }) },
    { text: 'to write it to a file', command: again({ '--output': 'page.html' }) },
  ]);
}

/** The format that an option names. */
function namedFormat({ globals, settings }: App): Format | undefined {
  if (globals.open === true) return 'html';
  const { value, source } = settings.resolve('format');
  return source === 'flag' ? value : undefined;
}

/** The error of a format that this output cannot have. */
function notPossible(app: App, kind: OutputKind, typed: string, format: string, ways: Advice[]): AppError {
  const { because = '' } = outputSpec(kind);
  const { command = [], options = [] } = app.program?.line ?? {};
  const isCause = options.some(({ flag }) => flag === because);
  const what = isCause ? `${command.join(' ')} ${because}` : command.join(' ');
  const leaveOut: Advice[] = isCause
    ? [{ text: `leave out ${because}`, command: again({}, { without: [because] }) }]
    : [];
  return usage(`${typed}: ${what} cannot write ${format}`, [...ways, ...leaveOut]);
}

/**
 * Checks the extension of the output file.
 * @param extensions those of the formats that the output can have
 * @param isNamed whether an option names the format, so that any other extension will do
 * @throws {AppError} `usage`
 */
export function checkOutputName(
  app: App,
  extensions: readonly string[],
  isNamed: boolean,
  kind: OutputKind = 'records',
): void {
  const path = outputPath(app);
  const { output = '' } = app.globals;
  if (path === undefined) return;
  checkNotFormat(output);
  const extension = extensionOf(path);
  const sole = soleFormat(extension);
  const isUnknown = sole === undefined && !EXTENSIONS.has(extension);
  const isPossible = isNamed
    ? sole === undefined || sole === namedFormat(app)
    : ['', 'txt', ...extensions].includes(extension);
  if (isPossible || (isUnknown && outputSpec(kind).anyExtension === true)) return;
  if (!['nothing', 'file'].includes(checkTarget(app, output, true).entry)) return;
  if (isNamed) throw soleError(app, extensions.includes(extension), sole);
  const other = otherExtension(output, extensions[0] ?? 'txt');
  const format = EXTENSIONS.get(extension);
  if (format !== undefined) throw notPossible(app, kind, `-o ${output}`, format, [other]);
  const canBeNamed = sole === undefined && WITH_FORMAT_OPTION.includes(kind);
  throw usage(`unknown file extension '.${extension}' in ${output}`, [
    { text: `use one of ${extensions.map((each) => `.${each}`).join(', ') || '.txt'}` },
    canBeNamed ? { text: 'or name the format', command: again({ '--format': 'tsv' }) } : other,
  ]);
}

/** Checks the name of the file to which a link leads. @throws {AppError} `usage` */
export function checkTargetName(app: App, target: string | undefined): void {
  const sole = soleFormat(extensionOf(target));
  if (target === undefined || sole === undefined || sole === outputFormat(app)) return;
  const { output = '' } = app.globals;
  throw usage(`${output} is a link to ${target}, which can only be ${sole}`, {
    text: 'write to another file',
    command: again({ '--output': slot('file') }),
  });
}

/** The error of a file that can have only one format, and not the one that an option names. */
function soleError(app: App, isPossible: boolean, sole: Format | undefined): AppError {
  const { output = '' } = app.globals;
  const leaveOut = {
    text: 'leave out the format',
    command: again({}, { without: ['--format', '--json'] }),
  };
  return usage(`${output} can only be ${sole}, not ${namedFormat(app)}`, [
    ...(isPossible ? [leaveOut] : []),
    otherExtension(output, 'txt'),
  ]);
}

const otherExtension = (path: string, extension: string): Advice => ({
  text: 'use another extension',
  command: again({ '--output': `${path.slice(0, path.length - extname(path).length)}.${extension}` }),
});

/** Those that --format can choose. */
const WITH_FORMAT_OPTION: readonly OutputKind[] = ['restaurants', 'details', 'changes', 'records'];

/** @throws {AppError} `usage` if the name of the file is that of a format */
function checkNotFormat(output: string): void {
  if (FILE_FORMATS.some((format) => format === output)) {
    throw usage(`--output expects a file, got the format '${output}'`, {
      command: again({ '--output': `restaurants.${output}` }),
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

/** Whether the output has numbered rows in a terminal, so that commands take these numbers. */
export const showsNumbers = (app: App): boolean =>
  writesToTerminal(app) && ['table', 'list'].includes(outputFormat(app));
