import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { beforeEach } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import type { SandboxRestaurant } from '../../src/sandbox/types.ts';
import { useFolder as useTestFolder } from './files.ts';
import { type RunOptions, runCli, type Transcript } from './program.ts';
import { PAID, useService } from './service.ts';

/** Restaurants `Place 0`, `Place 1`, … of Testville, and two of one name. */
export function restaurants(count: number): SandboxRestaurant[] {
  const plain = Array.from({ length: count }, (_each, index) => ({
    service_id: `id-${index}`,
    name: `Place ${index}.`,
    city: 'Testville',
    address: `${index} "Main", St`,
    coordinates: { lat: 1.5, lng: -index },
    cuisine_tags: ['a', 'b'],
    grade: 'A',
  }));
  const twins = ['twin-1', 'twin-2'].map((id) => ({ service_id: id, name: 'Twin', city: 'Testville' }));
  return [
    ...plain,
    ...twins,
    { service_id: 'only', name: 'Café Übermut', city: 'Testville' },
    { service_id: 'evil', name: '=1+1', address: '@SUM(A1)\u001b[31m', city: 'Testville', grade: '-A' },
  ];
}

/** No quota, so that a test does not wait for it. */
export const UNPACED = { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' };

/** Gives each test an empty folder. @returns functions for the files in it */
export function useFolder() {
  const folder = useTestFolder();
  return { path: folder.at, read: folder.read, write: folder.write.bind(folder) };
}

/** Starts a sandbox with the restaurants of Testville, and gives each test an empty folder. */
export function useLists(options: SandboxOptions = { restaurants: restaurants(30) }) {
  const service = useService(options);
  const folder = useFolder();
  beforeEach(() => {
    service.sent();
  });
  return {
    ...folder,
    service,
    /** Runs `enrich` in the folder, without a quota. */
    enrich: (words: string | readonly string[], { env, ...more }: RunOptions = {}): Promise<Transcript> =>
      service.run(['enrich', ...(typeof words === 'string' ? words.split(' ') : words)], {
        cwd: folder.path(''),
        ...more,
        env: { ...UNPACED, ...env },
      }),
  };
}

/** Returns a list of the restaurants Place 0, Place 1, …, as CSV. */
export const listOf = (count: number): string =>
  `name,city\n${Array.from({ length: count }, (_each, index) => `Place ${index},Testville\n`).join('')}`;

/**
 * A list as people keep them: of four rows, one is exact, one has another spelling, one is a duplicate, and the last has no
 * restaurant, no city, or a name of several restaurants.
 */
export function mixedList(rows: number): string {
  const odd = ['nothing here,Testville', 'Place 3,', 'Twin,Testville', ',Testville'];
  const lines = Array.from({ length: rows }, (_each, index) => {
    const place = `Place ${Math.floor(index / 4) % 30}`;
    const kinds = [`${place},Testville`, `"${place.toUpperCase()}",Testville`, `${place},Testville`];
    return `${kinds[index % 4] ?? odd[Math.floor(index / 4) % odd.length]},note ${index}\n`;
  });
  return `name,city,note\n${lines.join('')}`;
}

/** The rows of a CSV, as objects. */
export const table = (text: string, delimiter = ','): Record<string, string>[] =>
  parse(text, { columns: true, delimiter, bom: true });

/**
 * Runs `enrich in.csv -o out.csv` in a folder, with a separate sandbox, and counts its requests. The sandboxes of a folder
 * have one address, because answers belong to a service.
 */
export async function enrichInSandbox(
  cwd: string,
  words: string,
  sandboxOptions: SandboxOptions = {},
  options: RunOptions = {},
): Promise<Transcript & { requests: number }> {
  const portFile = join(cwd, '.port');
  const sandbox = await startWhenFree({
    restaurants: restaurants(20),
    perMinute: 0,
    perDay: 0,
    ...(existsSync(portFile) && { port: Number(readFileSync(portFile, 'utf8')) }),
    ...sandboxOptions,
  });
  writeFileSync(portFile, new URL(sandbox.endpoint).port);
  const argv = ['enrich', 'in.csv', '-o', 'out.csv', ...words.split(' ').filter((word) => word !== '')];
  const env = { HOME: cwd, RESTAURANT_ENDPOINT: sandbox.endpoint, RESTAURANT_API_KEY: PAID, ...options.env };
  const transcript = await runCli(argv, { cwd, ...options, env });
  await sandbox.close();
  return { ...transcript, requests: sandbox.requests.length };
}

/** A process that another test is starting holds a port, even a closed one, until its program is loaded. */
async function startWhenFree(options: SandboxOptions): Promise<Sandbox> {
  for (;;) {
    try {
      return await startSandbox(options);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'in_use')) throw error;
      await sleep(1);
    }
  }
}

/** A command of sessions: returns columns of a CSV or TSV file as TSV; the prefix `restaurant_` may be left out. */
export function columns(folder: string, name = '', ...names: string[]): string {
  const delimiter = name.endsWith('.tsv') ? '\t' : ',';
  const rows = table(readFileSync(join(folder, name), 'utf8'), delimiter);
  const cells = rows.map((row) => names.map((each) => row[each] ?? row[`restaurant_${each}`]));
  return cells.map((row) => `${row.join('\t')}\n`).join('');
}
