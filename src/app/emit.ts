import type { Format, Presentation } from '../output/present.ts';
import { toJson } from '../util/json.ts';
import type { App } from './app.ts';
import { openOutput, outputExtension, outputPath } from './sink.ts';

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
  return value ?? (writesToTerminal(app) ? 'table' : 'tsv');
}

/** Whether the data is shown on a terminal. */
export const writesToTerminal = (app: App): boolean =>
  app.context.stdout.isTTY && outputPath(app) === undefined;

/** The keys that `--columns` names, in order. */
export function selectedColumns(app: App): string[] | undefined {
  const { columns } = app.globals;
  const names = columns?.split(',').map((name) => name.trim());
  return names?.filter((name) => name !== '');
}

/** A command's data of which the JSON document is there already; its other forms are made where they are wanted. */
export interface Document {
  readonly json: unknown;
  present(): Promise<Presentation>;
}

/** Writes a command's data in the form that was asked for. */
export async function writeResult(app: App, data: Presentation | Document): Promise<void> {
  const format = outputFormat(app);
  const columns = selectedColumns(app);
  const prettyJson = writesToTerminal(app);
  // The whole document needs no renderer, and renderers take long to load.
  if (format === 'json' && columns === undefined) return write(app, `${toJson(data.json, prettyJson)}\n`);
  const presentation = 'present' in data ? await data.present() : data;
  const { page } = presentation;
  if (format === 'html' && page !== undefined) {
    return (await import('./page.ts')).writePage(app, presentation, page);
  }
  const { present } = await import('../output/present.ts');
  // A page is set for all commands, and this one has none.
  const form = format === 'html' ? (writesToTerminal(app) ? 'table' : 'tsv') : format;
  const options = { columns, prettyJson, guardCsv: app.globals.rawCsv !== true, view: app.view };
  await write(app, present(presentation, form, options));
  const extension = outputExtension(app);
  const named = app.globals.format !== undefined || app.globals.json === true;
  if (!named && !['', 'txt', ...Object.keys(EXTENSIONS)].includes(extension)) {
    await app.note(
      `.${extension} names no form that is known, so the file holds ${form}: restaurant help formats`,
    );
  }
}

async function write(app: App, text: string): Promise<void> {
  const sink = openOutput(app);
  await sink.write(text);
  await sink.finish();
}

/** Writes data of commands that know two forms alone: text for people, JSON with --json. */
export async function writeText(app: App, json: unknown, text: () => string): Promise<void> {
  const sink = openOutput(app);
  const asJson = app.settings.resolve('format').value === 'json' || outputExtension(app) === 'json';
  await sink.write(asJson ? `${toJson(json, writesToTerminal(app))}\n` : text());
  await sink.finish();
}
