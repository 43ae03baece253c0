import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../src/errors.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import type { SandboxRequest, SandboxRestaurant } from '../../src/sandbox/types.ts';
import { table, UNPACED } from '../helpers/enrich.ts';
import { startRestaurant } from '../helpers/process.ts';
import { newHome, runCli, type Transcript } from '../helpers/program.ts';
import { PAID } from '../helpers/service.ts';
import { FAULTS, GOOD, type Luck, NUMBERS, type Sent } from './luck.ts';
import { type Answered, type RowContent, readRecord } from './record.ts';
import { settled } from './settle.ts';

export const LIST = 'list.csv';
export const VIEW = 'found.csv';
export const ANSWERS = 'found.answers.ndjson';
const START = Date.UTC(2026, 10, 23, 9);
const MINUTE = 60_000;

export interface ListRow extends RowContent {
  readonly address: string;
  readonly note: string;
}

/** The result of a run, and its requests. */
export interface Outcome extends Transcript {
  readonly sent: readonly Sent[];
}

/** Several restaurants share a name, so that rows are ambiguous. */
export function restaurants(): SandboxRestaurant[] {
  const names = [
    'Nopa',
    'Golden Crane',
    'Golden Crane',
    'Café Müßiggang',
    'Tide',
    'Tide & Barrel',
    '香',
    'Anker',
  ];
  return ['Testville', 'Øst'].flatMap((city) =>
    names.map((name, index) => ({
      service_id: `${city === 'Øst' ? 'o' : 't'}-${index}-restaurant`,
      name,
      city,
      address: `${index} Main St`,
      coordinates: { lat: 1 + index, lng: 2 },
      cuisine_tags: ['plain'],
      grade: 'B',
    })),
  );
}

/** A service, a folder with a list and its output, and the clock of the machine. */
export class World {
  readonly data = restaurants();
  readonly folder: string;
  rows: ListRow[] = [];
  /** The contents of the rows of the list as it was written last. */
  listed: readonly RowContent[] = [];
  hasAddress = false;
  now: number;
  readonly #env: Record<string, string>;
  #sandbox: Sandbox | undefined;
  #runs = 0;
  /** The run that the service answers. Late requests of an earlier one, which was stopped, are nobody's. */
  #run: { readonly trace: string; readonly luck: Luck } | undefined;
  #kill: { left: number; readonly act: () => void } | undefined;

  /** @param start the time by the clock of the machine, which is set on by a minute with each command */
  constructor(start = START) {
    this.now = start;
    const { home, env } = newHome();
    this.#env = { ...env, ...UNPACED };
    this.folder = join(home, 'work');
    mkdirSync(this.folder);
  }

  async open(): Promise<this> {
    this.#sandbox = await startSandbox({
      perMinute: 0,
      perDay: 0,
      restaurants: this.data,
      faults: FAULTS,
      random: (request) => NUMBERS[this.#luckOf(request).fateOf(sentOf(request.body))],
      onRequest: () => this.#countDown(),
    });
    Object.assign(this.#env, { RESTAURANT_BASE_URL: this.#sandbox.baseUrl, RESTAURANT_API_KEY: PAID });
    return this;
  }

  close = (): Promise<void> | undefined => this.#sandbox?.close();

  #luckOf({ headers }: SandboxRequest): Luck {
    const { trace, luck = GOOD } = this.#run ?? {};
    return trace !== undefined && headers.traceparent?.includes(trace) ? luck : GOOD;
  }

  #countDown(): void {
    if (this.#kill === undefined) return;
    this.#kill.left -= 1;
    if (this.#kill.left === 0) this.#kill.act();
  }

  at = (name: string): string => join(this.folder, name);
  read = (name: string): string | undefined =>
    existsSync(this.at(name)) ? readFileSync(this.at(name), 'utf8') : undefined;
  write = (name: string, text: string | Uint8Array): void => writeFileSync(this.at(name), text);

  get record(): Answered {
    return readRecord(this.read(ANSWERS) ?? '');
  }

  /** The contents of the rows, with the columns that the list has. */
  get contents(): RowContent[] {
    return this.rows.map(({ name, city, address }) => ({
      name,
      city,
      ...(this.hasAddress ? { address } : {}),
    }));
  }

  get view(): Record<string, string>[] {
    return table(this.read(VIEW) ?? '');
  }

  /** Runs a command. */
  async run(words: readonly string[], luck: Luck = GOOD, cwd = this.folder): Promise<Outcome> {
    this.#runs += 1;
    const trace = this.#runs.toString(16).padStart(32, '0');
    const controller = new AbortController();
    this.#run = { trace, luck };
    this.now += MINUTE;
    const known = sizeOf(join(cwd, ANSWERS));
    const running = runCli(words, {
      cwd,
      env: { ...this.#env, TRACEPARENT: `00-${trace}-00000000000000ff-01` },
      now: () => this.now,
      signal: controller.signal,
      sleep: async () => {},
    });
    let isOver = false;
    const over = running.finally(() => {
      isOver = true;
    });
    await luck.stopped?.(
      () => this.record,
      () => isOver,
    );
    if (luck.stopped !== undefined && !isOver)
      controller.abort(new AppError('interrupted', 'interrupted by the history'));
    const transcript = await over;
    settle(join(cwd, ANSWERS), known);
    const { requests = [] } = this.#sandbox ?? {};
    const own = requests.filter(({ headers }) => headers.traceparent?.includes(trace));
    return { ...transcript, sent: own.map(({ body }) => sentOf(body)) };
  }

  /** Brings the list up to date in a process, which is killed after this number of responses. @returns its signal */
  async enrichAndKill(words: readonly string[], responses: number): Promise<NodeJS.Signals | null> {
    this.writeList();
    const argv = ['enrich', LIST, '-o', VIEW, '--retries', '0', '--json', ...words];
    const running = startRestaurant(argv, { cwd: this.folder, env: this.#env });
    this.#kill = { left: responses, act: () => running.process.kill('SIGKILL') };
    const { signal } = await running.ended;
    this.#kill = undefined;
    this.now = Date.now();
    return signal;
  }

  /** Brings the list up to date. */
  enrich(words: readonly string[] = [], luck?: Luck, cwd?: string): Promise<Outcome> {
    this.writeList(cwd);
    return this.run(['enrich', LIST, '-o', VIEW, '--retries', '0', '--json', ...words], luck, cwd);
  }

  writeList(cwd = this.folder): void {
    const header = this.hasAddress ? 'note,name,city,address' : 'note,name,city';
    const lines = this.rows.map(({ note, name, city, address }) =>
      [note, name, city, ...(this.hasAddress ? [address] : [])].map(quoted).join(','),
    );
    this.listed = this.contents;
    writeFileSync(join(cwd, LIST), `${[header, ...lines].join('\n')}\n`);
  }
}

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function settle(path: string, start: number): void {
  if (sizeOf(path) > start) writeFileSync(path, settled(readFileSync(path), start));
}

/** Cells in needless quotes must stay as they are. */
const quoted = (text: string): string =>
  /[",]/.test(text) || text.length % 3 === 0 ? `"${text.replaceAll('"', '""')}"` : text;

function sentOf(body: unknown): Sent {
  const { params } = body as { params: { name: string; arguments: Record<string, string> } };
  return { tool: params.name, args: params.arguments };
}
