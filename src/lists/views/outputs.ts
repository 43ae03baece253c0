import { statSync } from 'node:fs';
import { extname } from 'node:path';
import type { App } from '../../app/app.ts';
import { checkNotFormat, checkOutputPath, type Naming, otherName } from '../../app/output-file.ts';
import { usage } from '../../errors.ts';
import { again, type Command, type Hint, type Word } from '../../hint.ts';
import { EXTENSIONS, extensionOf } from '../../output/formats.ts';
import { nearest } from '../../util/nearest.ts';
import type { Input } from '../read/input.ts';
import { LIST_FORMATS, type ListFormat } from '../row.ts';

/** The formats of a list with results, and of the extensions of their files. */
const VIEW_FORMATS = ['csv', 'tsv', 'ndjson', 'geojson', 'xlsx', 'parquet', 'html'] as const;
type ViewFormat = (typeof VIEW_FORMATS)[number];

type OutputTarget = ReturnType<typeof checkOutputPath>;

/** A file that is written from answers. */
export interface OutputView {
  /** As typed. */
  readonly name: string;
  readonly format: ViewFormat;
  readonly target: OutputTarget;
  /** The command that writes another file. @param answers the file that has the answers */
  readonly command: (file: Word, answers?: Word) => Command;
  /** How to go on if a person has written or changed the file. @param answers of the file */
  readonly ways: (answers?: Word) => Hint;
}

export interface Outputs {
  readonly views: readonly OutputView[];
  /** Where rows go in their order as they are done: stdout, or a device. Undefined if there are views. */
  readonly stream?: { readonly format: ListFormat | undefined; readonly device?: OutputTarget };
}

export function viewFormatOf(name: string): ViewFormat | undefined {
  const format = EXTENSIONS.get(extensionOf(name));
  return VIEW_FORMATS.find((each) => each === format);
}

const asListFormat = (format: string | undefined): ListFormat | undefined =>
  LIST_FORMATS.find((each) => each === format);

/** The format of `--format`, which is for stdout and devices. */
const streamFormat = (app: App): ListFormat | undefined => asListFormat(app.globals.format);

const outputNames = (app: App): string[] =>
  app.program.line.options.flatMap(({ flag, value }) =>
    flag === '--output' && typeof value === 'string' ? [value] : [],
  );

/** That the files may be replaced is checked with their answers. @throws {AppError} `usage`; `io_error` */
export function checkOutputs(app: App, input: Input): Outputs {
  const names = outputNames(app);
  const files = names.filter((name) => name !== '-');
  if (files.length < names.length && names.length > 1)
    throw usage('-o - is stdout, and cannot be combined with files', {
      command: again({ '--output': files }),
    });
  if (files.length === 0) return { views: [], stream: { format: streamFormat(app) } };
  const targets = files.map((name) => {
    const naming = namingOf(name, files);
    if (name === '') throw usage('--output needs the name of a file', { command: naming.command('out.csv') });
    return { name, naming, target: checkOutputPath(app, name, true, naming) };
  });
  const [first] = targets;
  if (targets.length === 1 && first?.target.entry === 'device')
    return {
      views: [],
      stream: { format: streamFormat(app) ?? asListFormat(viewFormatOf(first.name)), device: first.target },
    };
  const views = targets.map(({ name, naming, target }) => ({
    ...{ name, target, format: formatOf(app, name, naming), command: naming.command },
    ways: (answers?: Word) => waysOn(name, naming, files, answers),
  }));
  for (const view of views) assertNotInput(view, input);
  assertDifferent(views);
  return { views };
}

type ViewNaming = Pick<Naming, 'example'> & Pick<OutputView, 'command'>;

/** How the command line names one of several files. */
const namingOf = (name: string, all: readonly string[]): ViewNaming => ({
  example: 'out.csv',
  command: (file, answers) =>
    again({
      '--output': all.map((each) => (each === name ? file : each)),
      ...(answers !== undefined && { '--answers': answers }),
    }),
});

/** Another file, overwriting it, or the file as the list. */
function waysOn(name: string, { command }: ViewNaming, all: readonly string[], answers?: Word): Hint {
  const other = otherName(name);
  const others = all.map((each) => (each === name ? other : each));
  const asList = {
    text: 'or use it as the list',
    command: again({ '--output': others }, { operands: [name] }),
  };
  return [
    { text: 'write another file', command: command(other, answers) },
    { text: 'or overwrite it', command: again({ '--force': true }) },
    ...(viewFormatOf(name) === 'html' ? [] : [asList]),
  ];
}

function formatOf(app: App, name: string, naming: Naming): ViewFormat {
  const format = viewFormatOf(name);
  const wanted = streamFormat(app);
  if (wanted !== undefined && format !== wanted)
    throw usage(`--format ${wanted}: the format of ${name} follows its extension`, {
      command: again({}, { without: ['--format'] }),
    });
  if (format !== undefined) return format;
  checkNotFormat(name, naming);
  const extension = extname(name).slice(1);
  const [near = 'csv'] = nearest(extension, VIEW_FORMATS, 1);
  const base = extension === '' ? name : name.slice(0, -extension.length - 1);
  const what =
    extension === '' ? `${name} has no file extension` : `unknown file extension '.${extension}' in ${name}`;
  throw usage(`${what}: use one of .${VIEW_FORMATS.join(', .')}`, {
    command: naming.command(`${base}.${near}`),
  });
}

/** Overwriting the list would lose data. */
function assertNotInput({ name, target, command }: OutputView, { file }: Input): void {
  const stats = statSync(target.path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined || file?.stats.dev !== stats.dev || file.stats.ino !== stats.ino) return;
  throw usage(`${name} is the input itself`, {
    command: command(name.replace(/(\.\w+)?$/, '-enriched$1')),
  });
}

function assertDifferent(views: readonly OutputView[]): void {
  const seen = new Set<string>();
  const twice = views.find(({ target }) => seen.size === seen.add(target.path).size);
  if (twice === undefined) return;
  const files = views.filter((view) => view !== twice).map(({ name }) => name);
  throw usage(`${twice.name} is named twice`, { command: again({ '--output': files }) });
}
