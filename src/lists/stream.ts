import type { App } from '../app/app.ts';
import { openTarget } from '../app/target.ts';
import { AppError } from '../errors.ts';
import { ioError } from '../storage/files.ts';
import { openDevice } from '../storage/user-files.ts';
import { abortedWith } from '../util/async.ts';
import type { KnownAnswers } from './answers.ts';
import { Asker, workThrough } from './asker.ts';
import { MemoryAnswers } from './memory-answers.ts';
import { partialFailure, summaryOf, withNext } from './outcome.ts';
import type { Plan } from './plan.ts';
import { startProgress } from './progress/progress.ts';
import { Counters } from './progress/summary.ts';
import type { InputRow } from './row.ts';
import { ListService } from './service.ts';
import { countRow, type EnrichFlags, ListState, openListAnswers, recentSince } from './session.ts';
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
  const { app, flags, rows, answers, state, service, stop, counters } = run;
  const total = isArray(rows) ? rows.length : undefined;
  const source = { counts: counters.counts, total, service };
  const progress = startProgress(app, { progress: flags.progress, json: false }, source);
  const { recent } = state.options;
  const cache = answers instanceof MemoryAnswers ? 'all' : 'shared';
  await service.open({ reporter: progress, cache, recent, signal: stop.signal });
  const ended = await writeInOrder(run).then(
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

async function writeInOrder(run: Run): Promise<void> {
  const { flags, plan, rows, service, answers, state, stop, out, text, counters } = run;
  const { first = Number.POSITIVE_INFINITY } = flags;
  const asker = new Asker({ service, answers, state, stop });
  let count = 0;
  let written: Promise<void> = Promise.resolve();
  const writeRow = async (row: InputRow, before: Promise<void>): Promise<void> => {
    const question = plan.question(row);
    count += 1;
    if (count <= first) await asker.finish(question);
    await before;
    stop.signal.throwIfAborted();
    const { result } = state.resolveRow(question);
    await out.write(text.row(row, result));
    countRow(counters, plan, question, result);
  };
  const begin = (row: InputRow): Promise<void> => {
    written = writeRow(row, written);
    return written;
  };
  if (text.header !== '') await out.write(text.header);
  try {
    await workThrough(rows, begin, stop);
  } finally {
    await written;
  }
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
