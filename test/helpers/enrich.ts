import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { restaurants } from '../unit/enrich/service-data.ts';
import { type RunOptions, runCli, type Transcript } from './program.ts';
import { PAID } from './service.ts';

/** Runs `enrich in.csv -o out.csv` in a folder, with a separate sandbox, and counts its requests. */
export async function enrichInSandbox(
  cwd: string,
  words: string,
  sandboxOptions: SandboxOptions = {},
  options: RunOptions = {},
): Promise<Transcript & { requests: number }> {
  const sandbox = await startSandbox({
    restaurants: restaurants(20),
    perMinute: 0,
    perDay: 0,
    ...sandboxOptions,
  });
  const argv = ['enrich', 'in.csv', '-o', 'out.csv', ...words.split(' ').filter((word) => word !== '')];
  // Each sandbox has another port and thus another ledger.
  const env = { HOME: cwd, RESTAURANT_ENDPOINT: sandbox.endpoint, RESTAURANT_API_KEY: PAID, ...options.env };
  const transcript = await runCli(argv, { cwd, ...options, env });
  await sandbox.close();
  return { ...transcript, requests: sandbox.requests.length };
}

/** A command of sessions: returns columns of a CSV or TSV file as TSV; the prefix `restaurant_` may be left out. */
export function columns(folder: string, name = '', ...names: string[]): string {
  const delimiter = name.endsWith('.tsv') ? '\t' : ',';
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, name), 'utf8'), {
    columns: true,
    delimiter,
    bom: true,
  });
  const cells = rows.map((row) => names.map((each) => row[each] ?? row[`restaurant_${each}`]));
  return cells.map((row) => `${row.join('\t')}\n`).join('');
}
