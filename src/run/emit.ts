import { toJson } from '../output/json.ts';
import { type Format, type Presentation, present, type RecordFormat } from '../output/present.ts';
import type { App } from './app.ts';
import { openSink, outputExtension, outputPath } from './sink.ts';

const EXTENSIONS: Readonly<Record<string, Format>> = {
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  geojson: 'geojson',
  html: 'html',
  htm: 'html',
};

/** The form of the output: named, else by the file's extension, else set, else by what stdout is. */
export function outputFormat(app: App): Format {
  if (app.globals.open === true) return 'html';
  const { value, source } = app.settings.resolve('format');
  const extension = outputExtension(app);
  if (value !== undefined && source === 'flag') return value;
  if (Object.hasOwn(EXTENSIONS, extension)) return EXTENSIONS[extension] ?? 'tsv';
  return value ?? (toTerminal(app) ? 'table' : 'tsv');
}

/** Whether the data is shown on a terminal. */
export const toTerminal = (app: App): boolean => app.context.stdout.isTTY && outputPath(app) === undefined;

/** The keys that `--columns` names, in order. */
export function wantedColumns(app: App): string[] | undefined {
  const { columns } = app.globals;
  const names = columns?.split(',').map((name) => name.trim());
  return names?.filter((name) => name !== '');
}

/** Writes a command's data in the form that was asked for. */
export async function emit(app: App, presentation: Presentation): Promise<void> {
  const format = outputFormat(app);
  if (format === 'html') {
    const { page } = presentation;
    if (page !== undefined) return (await import('./page.ts')).emitPage(app, presentation, page);
    // It is set for all commands, and this one has no page.
    return write(app, rendered(app, presentation, toTerminal(app) ? 'table' : 'tsv'));
  }
  return write(app, rendered(app, presentation, format));
}

async function write(app: App, text: string): Promise<void> {
  const sink = openSink(app);
  await sink.write(text);
  await sink.done();
}

function rendered(app: App, presentation: Presentation, format: RecordFormat): string {
  return present(presentation, format, {
    columns: wantedColumns(app),
    prettyJson: toTerminal(app),
    guardCsv: app.globals.rawCsv !== true,
    view: app.view,
  });
}

/** Writes data of commands that know two forms alone: text for people, JSON with --json. */
export async function emitPlain(app: App, json: unknown, text: () => string): Promise<void> {
  const sink = openSink(app);
  const asJson = app.settings.resolve('format').value === 'json' || outputExtension(app) === 'json';
  await sink.write(asJson ? `${toJson(json, toTerminal(app))}\n` : text());
  await sink.done();
}
