import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../src/errors.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import type { SandboxRestaurant } from '../../src/sandbox/types.ts';
import { table, UNPACED } from '../helpers/enrich.ts';
import { startRestaurant } from '../helpers/process.ts';
import { newHome, runCli, type Transcript } from '../helpers/program.ts';
import { PAID } from '../helpers/service.ts';
import type { Random } from './random.ts';
import { type Answered, type RowContent, readRecord } from './record.ts';

export const LIST = 'list.csv';
export const VIEW = 'found.csv';
export const ANSWERS = 'found.answers.ndjson';
const START = Date.UTC(2026, 10, 23, 9);
const MINUTE = 60_000;

export interface ListRow extends RowContent {
  readonly address: string;
  readonly note: string;
}

export interface Sent {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
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
  hasAddress = false;
  now: number;
  /** The probability that the service fails. */
  failures = 0;
  readonly #random: Random;
  readonly #env: Record<string, string>;
  #sandbox: Sandbox | undefined;
  #runs = 0;
  #stopAfter: { left: number; readonly stop: () => void } | undefined;

  /** @param start the time by the clock of the machine, which is set on by a minute with each command */
  constructor(random: Random, start = START) {
    this.#random = random;
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
      faults: [{ kind: '500', rate: 0.5 }],
      random: () => (this.#random.chance(this.failures) ? 0 : 1),
      onRequest: () => this.#countDown(),
    });
    Object.assign(this.#env, { RESTAURANT_BASE_URL: this.#sandbox.baseUrl, RESTAURANT_API_KEY: PAID });
    return this;
  }

  close = (): Promise<void> | undefined => this.#sandbox?.close();

  #countDown(): void {
    const stop = this.#stopAfter;
    if (stop === undefined) return;
    stop.left -= 1;
    if (stop.left === 0) stop.stop();
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

  /** Runs a command. @param stopAfter interrupts it after this number of responses */
  async run(words: readonly string[], stopAfter?: number, cwd = this.folder): Promise<Outcome> {
    // Requests of a stopped run may arrive later, so each run has a trace of its own.
    this.#runs += 1;
    const trace = this.#runs.toString(16).padStart(32, '0');
    const controller = new AbortController();
    const interrupt = () => controller.abort(new AppError('interrupted', 'interrupted by the history'));
    if (stopAfter !== undefined) this.#stopAfter = { left: stopAfter, stop: interrupt };
    this.now += MINUTE;
    const transcript = await runCli(words, {
      cwd,
      env: { ...this.#env, TRACEPARENT: `00-${trace}-00000000000000ff-01` },
      now: () => this.now,
      signal: controller.signal,
      sleep: async () => {},
    });
    this.#stopAfter = undefined;
    const { requests = [] } = this.#sandbox ?? {};
    const own = requests.filter(({ headers }) => headers.traceparent?.includes(trace));
    return { ...transcript, sent: own.map(({ body }) => sentOf(body)) };
  }

  /** Brings the list up to date in a process, which is killed after this number of responses. @returns its signal */
  async enrichAndKill(words: readonly string[], responses: number): Promise<NodeJS.Signals | null> {
    this.writeList();
    const argv = ['enrich', LIST, '-o', VIEW, '--retries', '0', '--json', ...words];
    const running = startRestaurant(argv, { cwd: this.folder, env: this.#env });
    this.#stopAfter = { left: responses, stop: () => running.process.kill('SIGKILL') };
    const { signal } = await running.ended;
    this.#stopAfter = undefined;
    this.now = Date.now();
    return signal;
  }

  /** Brings the list up to date. */
  enrich(words: readonly string[] = [], stopAfter?: number, cwd?: string): Promise<Outcome> {
    this.writeList(cwd);
    return this.run(['enrich', LIST, '-o', VIEW, '--retries', '0', '--json', ...words], stopAfter, cwd);
  }

  writeList(cwd = this.folder): void {
    const header = this.hasAddress ? 'note,name,city,address' : 'note,name,city';
    const lines = this.rows.map(({ note, name, city, address }) =>
      [note, name, city, ...(this.hasAddress ? [address] : [])].map(quoted).join(','),
    );
    writeFileSync(join(cwd, LIST), `${[header, ...lines].join('\n')}\n`);
  }
}

/** Cells in needless quotes must stay as they are. */
const quoted = (text: string): string =>
  /[",]/.test(text) || text.length % 3 === 0 ? `"${text.replaceAll('"', '""')}"` : text;

function sentOf(body: unknown): Sent {
  const { params } = body as { params: { name: string; arguments: Record<string, string> } };
  return { tool: params.name, args: params.arguments };
}
