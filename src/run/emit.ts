import { toJson } from '../output/json.ts';
import { type Format, type Presentation, present } from '../output/present.ts';
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
};

/** The form of the output: named, else by the file's extension, else set, else by what stdout is. */
export function outputFormat(app: App): Format {
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
  const sink = openSink(app);
  await sink.write(rendered(app, presentation));
  await sink.done();
}

/** The text that {@link emit} writes. */
export function rendered(app: App, presentation: Presentation): string {
  return present(presentation, outputFormat(app), {
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
