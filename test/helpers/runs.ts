import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { TestFolder } from './files.ts';
import { filesWith, shows } from './leaks.ts';
import { newHome, type RunOptions, runCli, type Transcript } from './program.ts';
import { PAID, useService } from './service.ts';

/** A restaurant of the sandbox. */
export const ID = 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53';

/** A call of a command that succeeds. */
export interface CommandRun {
  readonly words: readonly string[];
  readonly stdin?: string;
}

const NOPA = '{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}';

/** One call of every command, except those that run until they are stopped or need a person. A missing command fails the tests. */
export const RUNS: Readonly<Record<string, CommandRun>> = {
  find: { words: ['find', 'Nopa', '--city', 'SF'] },
  lookup: { words: ['lookup', ID] },
  last: { words: ['last'] },
  save: { words: ['save', ID] },
  saved: { words: ['saved', '--demo'] },
  unsave: { words: ['unsave', 'Old Mill', '--demo'] },
  changes: { words: ['changes', '--demo'] },
  enrich: { words: ['enrich', 'places.csv', '-o', 'out.csv'] },
  review: { words: ['review', 'results.csv', '--json'] },
  tools: { words: ['tools', '--demo'] },
  call: { words: ['call', 'find_restaurant', 'name=Nopa', 'city=SF'] },
  raw: { words: ['raw', 'tools/call', NOPA] },
  mcp: { words: ['mcp'], stdin: '' },
  'mcp config': { words: ['mcp', 'config', 'claude-desktop'] },
  login: { words: ['login', '--key-stdin'], stdin: PAID },
  logout: { words: ['logout'] },
  status: { words: ['status'] },
  'config get': { words: ['config', 'get', 'timeout'] },
  'config set': { words: ['config', 'set', 'city', 'San Francisco'] },
  'config unset': { words: ['config', 'unset', 'city'] },
  'config list': { words: ['config', 'list'] },
  'config path': { words: ['config', 'path'] },
  'config profiles': { words: ['config', 'profiles'] },
  'cache clear': { words: ['cache', 'clear'] },
  'cache path': { words: ['cache', 'path'] },
  schema: { words: ['schema'] },
  'skill print': { words: ['skill', 'print'] },
  'skill install': { words: ['skill', 'install', 'claude-code', '--dry-run'] },
  'skill uninstall': { words: ['skill', 'uninstall', 'claude-code', '--dry-run'] },
  completion: { words: ['completion', 'bash'] },
  help: { words: ['help', 'find'] },
};

/** Returns the run of a command. */
export function plannedRun(name: string): CommandRun {
  const run = RUNS[name];
  if (run === undefined) throw new Error(`no run is planned for ${name}`);
  return run;
}

/** The files that examples name. */
const SAVED_AT = '2026-11-01T12:00:00.000Z';
const SAVED = [
  { restaurant: 'answers', version: 1, service: 'demo' },
  { id: '1', at: SAVED_AT, save: { id: 'saved-1' }, restaurant: { name: 'Old Mill', grade: 'A' } },
  { id: '2', at: SAVED_AT, lookup: { id: 'saved-1', fields: 'basic' }, output: { grade: 'B' } },
];

/** A list of which one row has two candidates. */
const QUERY = { name: 'Nop', city: 'San Francisco' };
const FOUND = ['Nopa', 'Nopalina'].map((name) => ({
  service_id: name.toLowerCase(),
  name,
  city: 'San Francisco',
}));
const RESULTS = [
  { restaurant: 'answers', version: 1, service: 'demo' },
  { id: '1', at: SAVED_AT, run: { list: 'nop.csv', options: {}, files: ['results.csv'] } },
  { id: '2', at: SAVED_AT, find: QUERY, results: FOUND, received: 2, total: 2 },
];

const linesOf = (values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

const FILES: Readonly<Record<string, string>> = {
  '.local/share/restaurant/saved-demo.answers.ndjson': SAVED.map((line) => `${JSON.stringify(line)}\n`).join(
    '',
  ),
  'key.txt': `${PAID}\n`,
  'ids.txt': `${ID}\n`,
  'places.csv': 'name,city\nNopa,San Francisco\n',
  'nop.csv': 'name,city\nNop,San Francisco\n',
  'results.answers.ndjson': linesOf(RESULTS),
  'results.csv': 'name,city,restaurant_status,restaurant_id\nNop,San Francisco,ambiguous,x\n',
};

/** Empties a folder and puts the files of the examples into it. */
export function resetFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = new TestFolder(folder);
  for (const [name, text] of Object.entries(FILES)) files.write(name, text);
  // On the PATH of useRuns, because mcp config warns when there is no such command.
  files.write('bin/restaurant', '#!/bin/sh\n', 0o700);
}

/** Returns the words after `restaurant` in a command line, without quotes. */
export function splitWords(line: string): string[] {
  const words = line.match(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2')).slice(1);
}

const SECRET = PAID.replace('sk_service_', '');
const CONFIG = join('.config', 'restaurant', 'config.json');

/** Starts a sandbox around the tests of a file. @returns functions that run commands in one home folder */
export function useCommandRuns() {
  const service = useService();
  const { home } = newHome();
  /** Runs a command with the files of the previous run. No command prints the key, and only login saves it. */
  const again = async ({ words, stdin }: CommandRun, options: RunOptions = {}): Promise<Transcript> => {
    const env = { ...service.env, HOME: home, PATH: join(home, 'bin'), ...options.env };
    const run = await runCli(words, {
      ...(stdin === undefined ? {} : { stdin }),
      ...options,
      cwd: home,
      env,
    });
    const found = filesWith(PAID, home).filter((name) => !['key.txt', CONFIG].includes(name));
    expect([words, shows(run.stdout + run.stderr, SECRET), found]).toEqual([words, false, []]);
    return run;
  };
  /** Runs a command in a new home. */
  const fresh = (plan: CommandRun, more: readonly string[] = [], options: RunOptions = {}) => {
    resetFolder(home);
    return again({ ...plan, words: [...plan.words, ...more] }, options);
  };
  return { service, home, again, fresh };
}
