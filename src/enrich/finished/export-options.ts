import { extname } from 'node:path';
import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output-file.ts';
import { AppError } from '../../errors.ts';
import { again } from '../../hint.ts';
import { formatOf } from '../read/input.ts';
import { LIST_FORMATS } from '../row.ts';

export const EXPORT_FORMATS = ['xlsx', 'parquet', 'geojson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export function exportFormat(file: string): ExportFormat | undefined {
  const extension = extname(file).slice(1).toLowerCase();
  return EXPORT_FORMATS.find((each) => each === extension);
}

/** @throws {AppError} `usage` for a file with another extension */
export function checkExports(files: readonly string[]): void {
  const wrong = files.find((file) => exportFormat(file) === undefined);
  if (wrong === undefined) return;
  throw new AppError('usage', `--export ${wrong}: use the extension .${EXPORT_FORMATS.join(', .')}`, {
    hint: { command: again({ '--export': 'out.xlsx' }) },
  });
}

/**
 * Reads `-o out.xlsx` as `-o out.xlsx.csv --export out.xlsx`: a workbook is written at the end, and rows are kept in a list.
 * @returns the files to export
 */
export function exportedFiles(app: App, list: string, exports: readonly string[] = []): readonly string[] {
  const { program } = app;
  const { output = '', format } = app.globals;
  if (program === undefined || outputPath(app) === undefined || exportFormat(output) === undefined)
    return exports;
  const isNested = ['ndjson', 'geojson'].includes(formatOf(list) ?? '');
  const rows = LIST_FORMATS.find((each) => each === format) ?? (isNested ? 'ndjson' : 'csv');
  app.program = {
    line: program.line,
    words: program.words,
    opts: () => ({ ...program.opts(), output: `${output}.${rows}` }),
    longName: (flag) => program.longName(flag),
  };
  return [output, ...exports];
}
