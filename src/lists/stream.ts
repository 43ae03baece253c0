import type { App } from '../app/app.ts';
import { openTarget } from '../app/target.ts';
import { AppError } from '../errors.ts';
import { ioError } from '../storage/files.ts';
import { longWaitOf } from '../storage/pacer.ts';
import { openDevice } from '../storage/user-files.ts';
import { abortedWith } from '../util/async.ts';
import type { KnownAnswers } from './answers.ts';
import { MemoryAnswers } from './memory-answers.ts';
import { partialFailure, summaryOf, withNext } from './outcome.ts';
import type { Plan } from './plan.ts';
import { startProgress } from './progress/progress.ts';
import { Counters } from './progress/summary.ts';
import type { Question } from './resolve.ts';
import type { InputRow } from './row.ts';
import { Asker, workThrough } from './run.ts';
import { ListService } from './service.ts';
import {
  countRow,
  type EnrichFlags,
  ListState,
  openListAnswers,
  recentSince,
  withFailure,
} from './session.ts';
import { rowTextOf } from './views/all.ts';
import type { Outputs } from './views/outputs.ts';
import type { RowText } from './views/text.ts';

type Rows = readonly InputRow[] | AsyncIterable<InputRow>;

export interface Stream {
  readonly flags: EnrichFlags;
  readonly output: NonNullable<Outputs['stream']>;
  readonly plan: Plan;
  readonly rows: Rows;
}

/** Rows that are written in their order, each as soon as it and all rows before it are done. */
interface Run extends Stream {
  readonly app: App;
  readonly answers: KnownAnswers;
  readonly state: ListState;
  readonly service: ListService;
  readonly stop: AbortController;
  readonly out: Out;
  readonly text: RowText;
  /** Of the rows that were written. */
  readonly counters: Counters;
}

/** Writes rows to stdout or a device. */
export async function streamList(app: App, stream: Stream): Promise<void> {
  const { flags, plan, rows, output } = stream;
  const text = rowTextOf(plan, output.format ?? plan.list.format, app.globals.rawCsv !== true);
  const target = await openTarget(app);
  const file =
    flags.answers === undefined ? undefined : openListAnswers(app, [], flags.answers, 'write', target);
  const answers = file ?? new MemoryAnswers(app.context.now);
  const stop = abortedWith(app.context.signal);
  const out = await openOut(app, output.device, stop.signal);
  try {
    const recent = recentSince(flags.older, app.context.now());
    const state = new ListState(plan, isArray(rows) ? rows : [], answers, recent);
    const service = new ListService(app, target, flags);
    const counters = new Counters(plan.result.added.map(({ path }) => path));
    await writeRows({ ...stream, app, answers, state, service, stop, out, text, counters });
  } finally {
    out.close();
    file?.close();
  }
}

async function writeRows(run: Run): Promise<void> {
  const { app, flags, rows, answers, state, service, stop, out, text, counters } = run;
  const total = isArray(rows) ? rows.length : undefined;
  const source = { counts: counters.counts, total, service };
  const progress = startProgress(app, { progress: flags.progress, json: false }, source);
  const { recent } = state.options;
  const cache = answers instanceof MemoryAnswers ? 'all' : 'shared';
  await service.open({ reporter: progress, cache, recent, signal: stop.signal });
  if (text.header !== '') await out.write(text.header);
  const ended = await new RowWriter(run).run().then(
    () => undefined,
    (error: unknown) => error,
  );
  const failure = ended instanceof AppError ? ended : undefined;
  const outcome = { counters, requests: service.requests, files: [], left: 0, failure };
  if (ended === failure && (failure === undefined || counters.counts.rows > 0))
    await progress.finish(summaryOf(app, outcome));
  else await progress.stop();
  if (ended !== failure) throw ended;
  const error = failure === undefined ? partialFailure(outcome) : withNext(app, failure, false, []);
  if (error !== undefined) throw error;
}

const isArray = (rows: Rows): rows is readonly InputRow[] => Array.isArray(rows);

interface Out {
  write(text: string): Promise<void>;
  close(): void;
}

async function openOut(app: App, device: Stream['output']['device'], signal: AbortSignal): Promise<Out> {
  if (device === undefined) return { write: (text) => app.context.stdout.write(text), close() {} };
  const failed = (error: unknown): never => {
    throw ioError('write', device.path, error);
  };
  const opened = await openDevice(device, signal).catch(failed);
  return { write: (text) => opened.write(text).catch(failed), close: opened.close };
}

/** Maximum number of rows that are read but not written. */
const MAX_PENDING = 256;

class RowWriter {
  readonly #run: Run;
  readonly #asker: Asker;
  #written: Promise<void> = Promise.resolve();
  #pending = 0;
  #count = 0;

  constructor(run: Run) {
    const { service, answers, state, stop } = run;
    this.#run = run;
    this.#asker = new Asker({ service, answers, resolveRow: state.resolveRow, stop });
  }

  async run(): Promise<void> {
    try {
      await workThrough(this.#rows(), (row) => this.#take(row), this.#run.stop);
    } finally {
      await this.#written;
    }
  }

  async *#rows(): AsyncGenerator<InputRow> {
    try {
      for await (const row of this.#run.rows) {
        yield row;
        if (this.#pending >= MAX_PENDING) await this.#written;
      }
    } catch (error) {
      // The rows before a malformed one are written first.
      await this.#written;
      throw error;
    }
  }

  #take(row: InputRow): Promise<void> {
    const { flags, plan } = this.#run;
    this.#count += 1;
    const question = plan.question(row);
    const isAsked = this.#count <= (flags.first ?? Number.POSITIVE_INFINITY);
    const done = isAsked ? this.#asker.finish(question) : Promise.resolve(undefined);
    this.#pending += 1;
    this.#written = this.#written.then(async () => this.#write(row, question, await done));
    // The failure ends the run through `done`, or below.
    this.#written.catch((error: unknown) => this.#stopWith(error));
    return done.then(() => {});
  }

  #stopWith(error: unknown): void {
    const { stop } = this.#run;
    if (!stop.signal.aborted && longWaitOf(error) === undefined) stop.abort(error);
  }

  async #write(row: InputRow, question: Question, failed: AppError | undefined): Promise<void> {
    const { plan, state, counters, out, text, stop } = this.#run;
    stop.signal.throwIfAborted();
    const result = withFailure(state.resolveRow(question).result, failed);
    await out.write(text.row(row, result));
    this.#pending -= 1;
    countRow(counters, plan, question, result, failed);
  }
}
