import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { App } from '../../app/app.ts';
import { openTarget } from '../../app/target.ts';
import { AppError } from '../../errors.ts';
import { flushFolder } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';
import { Counters } from '../progress/counters.ts';
import type { Progress } from '../progress/progress.ts';
import { startProgress } from '../progress/start-progress.ts';
import { noFinishedRows, resume } from '../write/checkpoint.ts';
import { type OutputFile, openOutput } from '../write/output-file.ts';
import type { RowCodec } from '../write/row-codec.ts';
import { type RowOutput, rowStream } from '../write/row-file.ts';
import { openFirstOptions } from '../write/run-fingerprint.ts';
import { answersInFile, answersInMemory } from './answers.ts';
import { Ending } from './ending.ts';
import { enrichRows, type Job } from './enrich-rows.ts';
import type { Age } from './known.ts';
import type { Plan } from './plan.ts';
import { openPaced, type PacedService } from './service.ts';
import { keepHeapSmall } from './small-heap.ts';
import { knownOf } from './target.ts';

/** Rows between two looks at the heap. */
const HEAP_EVERY = 256;

/** What a run was, when it is over. */
export interface RunResult {
  readonly tally: Counters;
  readonly requests: number;
  /** What ended it before its list did. */
  readonly failure: unknown;
  readonly progress: Progress;
}

/**
 * Works on a list that was found good: opens service and output, asks, writes. Progress runs on until it is told to
 * finish.
 * @throws {AppError} where nothing could be begun
 */
export async function enrichList(app: App, plan: Plan): Promise<RunResult> {
  const { options, list } = plan;
  const { context } = app;
  const target = await openTarget(app);
  const ending = new Ending(context.signal);
  const tally = new Counters();
  const checkHeap = keepHeapSmall();
  let service: PacedService | undefined;
  const progress = startProgress(app, options, {
    total: list.total,
    counts: () => tally.counts,
    requests: () => service?.requests() ?? 0,
    leftToday: () => service?.leftToday(),
    perMinute: target.demo ? 0 : options.perMinute,
  });
  let failure: unknown;
  try {
    const known = knownOf(app, target, ageOf(app, plan), true);
    const { waiting: onWaiting, warn: onWarning } = progress;
    service = openPaced(app, { target, options, signal: ending.signal, onWaiting, onWarning }, known);
    await work(app, plan, {
      rows: list.rows(),
      ask: plan.columns.ask,
      form: plan.form,
      lookups: service,
      level: options.level,
      concurrency: options.concurrency,
      ending,
      onRow: (row) => {
        tally.add(row);
        if (tally.counts.done % HEAP_EVERY === 0) checkHeap();
      },
    });
  } catch (error) {
    failure = error;
  } finally {
    ending.release();
  }
  return { tally, requests: service?.requests() ?? 0, failure, progress };
}

/** A run that goes on takes answers that were given since it began, however old it let them be at first. */
function ageOf({ settings }: App, { options, place }: Plan): Age {
  return { maxAgeMs: settings.need('max-age'), since: options.resume ? place?.createdAt : undefined };
}

type RowsJob = Omit<Job, 'output' | 'earlier' | 'answers'>;

async function work(app: App, plan: Plan, job: RowsJob): Promise<void> {
  const { options, form, place } = plan;
  if (place === undefined)
    return stream(
      job,
      form,
      rowStream((text) => app.context.stdout.write(text)),
    );
  const first = openFirstOptions(app.paths.stateDir, place, plan, app.context.now());
  const { file, previous } = openOutput(place, options, app.context.now);
  try {
    if (place.device) return await stream(job, form, file);
    const earlier = resume({
      file,
      form,
      name: place.name,
      previous,
      retryErrors: options.retryErrors,
    });
    // Where there are no rows yet, other options are no harm.
    if (previous !== undefined || file.size > Buffer.byteLength(form.header)) first.check();
    first.keep();
    await enrichRows({ ...job, output: file, earlier, answers: answersInFile(file.read) });
    file.flush();
  } catch (error) {
    flushQuietly(file.flush);
    throw error;
  } finally {
    file.close();
    previous?.close();
  }
  if (previous === undefined) return;
  takeOver(file.path, place);
  first.keep();
}

/** Writes rows to where they cannot be read again. */
async function stream(job: RowsJob, form: RowCodec, output: RowOutput): Promise<void> {
  if (form.header !== '') await output.append(form.header);
  await enrichRows({ ...job, output, earlier: noFinishedRows, answers: answersInMemory() });
}

/** The rows that were asked again take the place of the output. */
function takeOver(from: string, { path, name }: OutputFile): void {
  try {
    renameSync(from, path);
    flushFolder(dirname(path));
  } catch (error) {
    throw ioError('replace', name, error);
  }
}

/** At the end of a run that failed, its failure is told and not this one. */
function flushQuietly(flush: () => void): void {
  try {
    flush();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}
