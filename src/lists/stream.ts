import type { App } from '../app/app.ts';
import { openTarget } from '../app/target.ts';
import { AppError } from '../errors.ts';
import { ioError } from '../storage/files.ts';
import { longWaitOf } from '../storage/pacer.ts';
import { openDevice } from '../storage/user-files.ts';
import { abortedWith } from '../util/async.ts';
import type { Answers } from './answers.ts';
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
  answersPlace,
  countRow,
  type EnrichFlags,
  ListState,
  openAnswersAt,
  recentSince,
  withFailure,
} from './session.ts';
import { rowTextOf } from './views/all.ts';
import type { Outputs } from './views/outputs.ts';

type Rows = readonly InputRow[] | AsyncIterable<InputRow>;

export interface Stream {
  readonly flags: EnrichFlags;
  readonly output: NonNullable<Outputs['stream']>;
  readonly plan: Plan;
  readonly rows: Rows;
}

/** Writes rows to stdout or a device in their order, each as soon as it and all rows before it are done. */
export async function streamList(app: App, stream: Stream): Promise<void> {
  const { flags, plan, output } = stream;
  const text = rowTextOf(plan, output.format ?? plan.list.format, app.globals.rawCsv !== true);
  const target = await openTarget(app);
  const place = flags.answers === undefined ? undefined : answersPlace(app, [], flags.answers, target);
  const answers = place && openAnswersAt(app, place, 'write');
  const stop = abortedWith(app.context.signal);
  const service = new ListService(app, target, flags);
  const out = await openOut(app, output.device, stop.signal);
  try {
    await writeRows(app, stream, { out, text, answers, service, stop });
  } finally {
    out.close();
    answers?.close();
  }
}

async function writeRows(app: App, stream: Stream, opened: Opened): Promise<void> {
  const { flags, plan, rows } = stream;
  const { service, answers, stop, out, text } = opened;
  const counters = new Counters(plan.result.added.map(({ path }) => path));
  const total = isArray(rows) ? rows.length : undefined;
  const source = { counts: counters.counts, total, service };
  const progress = startProgress(app, { progress: flags.progress, json: false }, source);
  const recent = recentSince(flags.older, app.context.now());
  const cache = answers === undefined ? 'all' : 'shared';
  await service.open({ reporter: progress, cache, recent, signal: stop.signal });
  if (text.header !== '') await out.write(text.header);
  const ended = await new RowWriter(app, stream, { ...opened, counters, recent }).run().then(
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

interface Opened {
  readonly out: Out;
  readonly text: ReturnType<typeof rowTextOf>;
  readonly answers: Answers | undefined;
  readonly service: ListService;
  readonly stop: AbortController;
}

interface Tools extends Opened {
  readonly counters: Counters;
  readonly recent: ReturnType<typeof recentSince>;
}

/** Maximum number of rows that are read but not written. */
const MAX_PENDING = 256;

class RowWriter {
  readonly #stream: Stream;
  readonly #tools: Tools;
  readonly #state: ListState;
  readonly #asker: Asker;
  #written: Promise<void> = Promise.resolve();
  #pending = 0;
  #count = 0;

  constructor(app: App, stream: Stream, tools: Tools) {
    this.#stream = stream;
    this.#tools = tools;
    const { service, stop, recent } = tools;
    const { plan, rows } = stream;
    const answers = tools.answers ?? new MemoryAnswers(app.context.now);
    this.#state = new ListState(plan, isArray(rows) ? rows : [], answers, recent);
    this.#asker = new Asker({ service, answers, resolveRow: this.#state.resolveRow, stop });
  }

  async run(): Promise<void> {
    const { stop } = this.#tools;
    try {
      await workThrough(this.#rows(), (row) => this.#take(row), stop);
    } finally {
      await this.#written;
    }
  }

  async *#rows(): AsyncGenerator<InputRow> {
    try {
      for await (const row of this.#stream.rows) {
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
    const { flags, plan } = this.#stream;
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
    const { stop } = this.#tools;
    if (!stop.signal.aborted && longWaitOf(error) === undefined) stop.abort(error);
  }

  async #write(row: InputRow, question: Question, failed: AppError | undefined): Promise<void> {
    const { counters, out, text, stop } = this.#tools;
    stop.signal.throwIfAborted();
    const result = withFailure(this.#state.resolveRow(question).result, failed);
    await out.write(text.row(row, result));
    this.#pending -= 1;
    countRow(counters, this.#stream.plan, question, result, failed);
  }
}
