import type { App } from '../app/app.ts';
import { openTarget } from '../app/target.ts';
import type { AppError } from '../errors.ts';
import { ioError } from '../storage/files.ts';
import { openDevice } from '../storage/user-files.ts';
import { abortedWith } from '../util/async.ts';
import { type Asker, workThrough } from './asker.ts';
import { type EnrichFlags, ListState, recentSince } from './list-state.ts';
import type { RowResult } from './match/match.ts';
import { MemoryAnswers } from './memory-answers.ts';
import { answersService, openListAnswers } from './open-answers.ts';
import { errorOf, summaryOf } from './outcome.ts';
import { type Plan, warnOfFormulas } from './plan.ts';
import type { InputRow } from './row.ts';
import { askUntilEnd, type ListRun, startRun } from './run.ts';
import { rowTextOf } from './views/all.ts';
import type { Outputs } from './views/outputs.ts';

type Rows = readonly InputRow[] | AsyncIterable<InputRow>;

interface Stream {
  readonly flags: EnrichFlags;
  readonly output: NonNullable<Outputs['stream']>;
  readonly plan: Plan;
  readonly rows: Rows;
}

/** Writes rows to stdout or a device, in their order, each as soon as it and all rows before it are done. */
export async function streamList(app: App, stream: Stream): Promise<void> {
  const { flags, plan, rows, output } = stream;
  const text = rowTextOf(plan, output.format ?? plan.list.format, app.globals.rawCsv !== true);
  const target = await openTarget(app);
  await warnOfFormulas(app, plan);
  const file =
    flags.answers === undefined
      ? undefined
      : openListAnswers(app, [], flags.answers, 'write', answersService(target));
  const known = isArray(rows) ? rows : undefined;
  const answers = file ?? new MemoryAnswers(app.context.now);
  const stop = abortedWith(app.context.signal);
  try {
    const state = new ListState(plan, known ?? [], answers, recentSince(flags.older, app.context.now()));
    const out = await openOut(app, output.device, stop.signal);
    try {
      const run = startRun(app, { state, stop }, { target, flags, total: known?.length });
      const failure = await askUntilEnd(run, file === undefined ? 'all' : 'shared', async (asker) => {
        if (text.header !== '') await out.write(text.header);
        await writeRows(run, asker, stream, (row, result) => out.write(text.row(row, result)));
      });
      await finish(run, failure);
    } finally {
      out.close();
    }
  } finally {
    file?.close();
  }
}

async function writeRows(
  { state, stop, counters }: ListRun,
  asker: Asker,
  { rows, flags: { first = Number.POSITIVE_INFINITY } }: Stream,
  write: (row: InputRow, result: RowResult) => Promise<void>,
): Promise<void> {
  let count = 0;
  let written: Promise<void> = Promise.resolve();
  const writeRow = async (row: InputRow, before: Promise<void>): Promise<void> => {
    const question = state.plan.question(row);
    count += 1;
    if (count <= first) await state.finish(asker, row, question);
    await before;
    stop.signal.throwIfAborted();
    const { result } = state.resolveRow(row, question);
    await write(row, result);
    state.count(counters, question, result);
  };
  const begin = (row: InputRow): Promise<void> => {
    written = writeRow(row, written);
    return written;
  };
  try {
    await workThrough(rows, begin, stop);
  } finally {
    await written;
  }
}

async function finish({ app, counters, service, progress }: ListRun, failure: AppError | undefined) {
  const outcome = { counters, requests: service.requests, files: [], failure };
  if (failure === undefined || counters.counts.rows > 0) await progress.finish(summaryOf(app, outcome));
  else await progress.stop();
  const error = errorOf(app, outcome, false);
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
