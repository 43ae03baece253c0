import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { App } from '../../app/app.ts';
import { hintInRun } from '../../app/error-hint.ts';
import { hintOf } from '../../app/hints.ts';
import { checkOutputFile, outputPath, writesToTerminal } from '../../app/output-file.ts';
import { configuredTarget, openTarget } from '../../app/target.ts';
import { AppError, type Code, PipeClosed } from '../../errors.ts';
import { type Advice, adviceOf, again, type Command, type Options, restaurant } from '../../hint.ts';
import { flushFolder, ioError, whenFree } from '../../storage/files.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import { onAbort } from '../../util/async.ts';
import { plural, timeText } from '../../util/format.ts';
import { toJson } from '../../util/json.ts';
import type { Target } from '../finished/export.ts';
import { exportedFiles } from '../finished/export-options.ts';
import type { Progress } from '../progress/progress.ts';
import { type Counters, type RunSummary, summaryJson } from '../progress/summary.ts';
import { openInput } from '../read/input.ts';
import {
  CheckpointMismatch,
  FinishedRows,
  noFinishedRows,
  openRunFingerprint,
  readFinishedRows,
} from '../write/checkpoint.ts';
import { claimOutput, type OutputFile, openRowDevice, openRowFiles } from '../write/output-file.ts';
import { enrichRows, type Job, TooManyFailures } from './enrich-rows.ts';
import { type EnrichFlags, type EnrichOptions, makePlan, type Plan, resolveOptions } from './plan.ts';
import { LongRun } from './service.ts';

/** Options that are not repeated in the command that continues. */
const NOT_REPEATED: readonly string[] = ['--resume', '--retry-errors', '--force', '--dry-run'];

const nextCommand = (options: Options): Command => again(options, { without: NOT_REPEATED });

export async function runEnrich(app: App, file: string, flags: EnrichFlags): Promise<void> {
  const close: (() => Promise<void> | void)[] = [];
  try {
    const options = resolveOptions(app, { ...flags, export: exportedFiles(app, file, flags.export) });
    if (isExportOnly(app, options)) return await (await loadExport()).exportFinished(app, file, options);
    const input = openInput(file, app.context);
    close.push(input.close);
    const outputFile = claimOutput(app, input, options);
    if (outputFile !== undefined) close.push(outputFile.release);
    if (file === '-' && app.context.stdin.isTTY)
      await app.notes.note('reading the list from the keyboard; Ctrl-D ends it');
    const plan = await makePlan(app, input, options, outputFile);
    await assertNoOutput(app, plan);
    const page = options.hasPage ? (await loadReport()).checkReport(app, plan) : undefined;
    const targets = options.exports.length > 0 ? await checkTargets(app, plan) : [];
    if (options.dryRun) await (await import('./estimate.ts')).printEstimate(app, plan);
    else await runPlan(app, plan, { page, targets });
  } finally {
    for (const each of close.reverse()) await each();
  }
}

/** Whether the list is finished, and only written in other formats. */
const isExportOnly = (app: App, { exports, dryRun, hasPage }: EnrichOptions): boolean =>
  exports.length > 0 && outputPath(app) === undefined && !dryRun && !hasPage;

async function checkTargets(app: App, { options, input, outputFile }: Plan): Promise<readonly Target[]> {
  if (outputFile === undefined || outputFile.device !== undefined) {
    throw new AppError('usage', '--export needs a file of rows', {
      hint: { command: again({ '--output': 'out.csv' }) },
    });
  }
  const { createdAt } = outputFile;
  return (await loadExport()).checkExportTargets(app, options, { identity: input.identity, createdAt });
}

/** @throws {AppError} `usage` if the output exists, with --resume if that would be accepted */
async function assertNoOutput(app: App, plan: Plan): Promise<void> {
  const { options, outputFile } = plan;
  if (!outputFile?.exists || outputFile.device !== undefined || options.resume || options.force) return;
  if (!(await canResume(app, plan, outputFile))) checkOutputFile(app, false);
  throw new AppError('usage', `${outputFile.name} exists`, {
    hint: [
      { text: 'resume the run', command: again({ '--resume': true }) },
      { text: 'or start again', command: again({ '--force': true }) },
    ],
  });
}

/** Compares the output with the list. The rows of a stream are not read for that. */
async function canResume(app: App, plan: Plan, outputFile: OutputFile): Promise<boolean> {
  const { signal } = app.context;
  const { codec } = plan;
  const url = app.globals.demo ? new URL('http://127.0.0.1') : configuredTarget(app)?.url;
  try {
    const finished = readFinishedRows(outputFile, { codec });
    if (url !== undefined) openRunFingerprint(app.paths.stateDir, outputFile, plan, url).check();
    if (!plan.input.replayable) return true;
    for await (const row of plan.rows()) {
      signal.throwIfAborted();
      if (finished.take(row, codec.input(row)) === undefined) return true;
    }
    finished.end();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_input') return false;
    throw error;
  }
}

const loadReport = () => import('./report.ts');
const loadExport = () => import('../finished/export.ts');

/** Files that are written when the list is finished. */
interface Results {
  /** The path of the page; undefined without --report. */
  readonly page: string | undefined;
  readonly targets: readonly Target[];
}

/** @throws {AppError} as {@link finishRun} */
async function runPlan(app: App, plan: Plan, results: Results): Promise<void> {
  const { options, outputFile } = plan;
  const { signal } = app.context;
  const target = await openTarget(app);
  const stop = new AbortController();
  if (signal.aborted) stop.abort(signal.reason);
  onAbort(signal, () => stop.abort(signal.reason));
  const run = new LongRun(app, { target, flags: options, total: plan.total, json: options.json });
  const { counters, progress } = run;
  const addedPaths = [...new Set(options.added.map(({ path }) => path))];
  let failure: unknown;
  try {
    const service = await run.openService({
      since: options.resume ? outputFile?.createdAt : undefined,
      signal: stop.signal,
    });
    await writeRows(app, plan, target.url, {
      ...options,
      ...plan,
      service,
      stop,
      onRow: (row) => counters.add(row),
      onDetails: (details) => counters.addDetails(details, addedPaths),
    });
  } catch (error) {
    failure = error;
  }

  await finishRun(app, plan, { ...results, failure, counters, progress, requests: run.requests });
}

/** @throws {AppError} the failure, with the command that continues; `partial` if rows failed */
async function finishRun(
  app: App,
  plan: Plan,
  run: Results & {
    readonly failure: unknown;
    readonly counters: Counters;
    readonly progress: Progress;
    readonly requests: number;
  },
): Promise<void> {
  const { failure, counters, progress, requests } = run;
  const { counts } = counters;
  const { options, outputFile } = plan;
  const finished = failure === undefined;
  const { report, exports } = finished ? await writeResults(app, plan, run) : { exports: [] };
  const next = resumeCommand(plan, failure, counts.error);
  const summary: RunSummary = {
    ...counters.results,
    requests,
    output: outputFile?.name,
    report: report === undefined ? undefined : (options.report ?? report),
    exports,
    finished,
    total: plan.total,
    next: next && hintOf(app, { command: next }),
    review: reviewCommand(app, plan),
  };
  const isOther = failure instanceof CheckpointMismatch || failure instanceof PipeClosed;
  // No summary if the run did nothing or the output belongs to another run.
  if (finished || (counts.done > 0 && !isOther)) await progress.finish(summary);
  else await progress.stop();
  if (failure instanceof CheckpointMismatch)
    throw failure.withHint([
      ...adviceOf(hintInRun(app, failure)),
      { text: await restartText(app, plan), command: nextCommand({ '--force': true }) },
    ]);
  if (!finished) throw withNext(app, failure, summary, next);
  if (options.json)
    await app.context.stdout.write(`${toJson(summaryJson(summary), writesToTerminal(app))}\n`);
  if (report !== undefined) await (await loadReport()).showReport(app, plan, report);
  if (counts.error > 0) throw partial(summary, next);
}

function reviewCommand(app: App, { outputFile, options }: Plan): string | undefined {
  if (outputFile === undefined || outputFile.device !== undefined) return undefined;
  const prefix = options.prefix === 'restaurant_' ? [] : ['--prefix', options.prefix];
  return hintOf(app, { command: restaurant('review', outputFile.name, ...prefix) });
}

interface Written {
  readonly report?: string;
  readonly exports: readonly string[];
}

async function writeResults(
  app: App,
  plan: Plan,
  { counters, page, targets, progress }: Results & { counters: Counters; progress: Progress },
): Promise<Written> {
  const { options, outputFile, written } = plan;
  if (outputFile === undefined || (!options.hasPage && targets.length === 0)) return { exports: [] };
  try {
    const { FinishedList } = await import('../finished/finished-list.ts');
    const list = await FinishedList.open(app, outputFile.name, { prefix: options.prefix, written });
    const { counts } = counters;
    const report = options.hasPage
      ? await (await loadReport()).writeReport(app, list, plan, { counts, checked: page })
      : undefined;
    if (targets.length > 0) await (await loadExport()).exportList(list, targets);
    return { ...(report !== undefined && { report }), exports: targets.map(({ name }) => name) };
  } catch (error) {
    await progress.stop();
    throw error;
  }
}

function resumeCommand({ options, outputFile }: Plan, failure: unknown, errors: number): Command | undefined {
  const finished = failure === undefined;
  if (outputFile === undefined || outputFile.device !== undefined || (finished && errors === 0))
    return undefined;
  const retries = finished || failure instanceof TooManyFailures || options.retryErrors;
  return nextCommand({ '--resume': true, ...(retries && { '--retry-errors': true }) });
}

type RowsJob = Omit<Job, 'append' | 'finished'>;

async function writeRows(app: App, plan: Plan, url: URL, job: RowsJob): Promise<void> {
  const { options, codec, outputFile } = plan;
  const stream = async (append: Job['append']): Promise<void> => {
    if (codec.header !== '') await append(codec.header);
    await enrichRows({ ...job, append, finished: noFinishedRows });
  };
  if (outputFile === undefined) return stream((text) => app.context.stdout.write(text));
  if (outputFile.device !== undefined) {
    const device = await openRowDevice(outputFile.device, job.stop.signal);
    return stream((text) => device.write(text)).finally(() => device.close());
  }
  const fingerprint = openRunFingerprint(app.paths.stateDir, outputFile, plan, url);
  const { file, previous } = openRowFiles(outputFile, options);
  try {
    const finished = new FinishedRows({ ...options, name: outputFile.name, file, codec, previous });
    // Options may change as long as there are no rows.
    if (previous !== undefined || file.size > Buffer.byteLength(codec.header)) fingerprint.check();
    fingerprint.save();
    try {
      await enrichRows({ ...job, append: (text) => file.append(text), finished });
    } catch (error) {
      // Report the error of the run, not a disk error after it.
      try {
        file.flush();
      } catch {}
      throw error;
    }
    file.flush();
  } finally {
    file.close();
    previous?.close();
  }
  if (previous === undefined) return;
  // After a retry, the new rows replace the output.
  try {
    whenFree(() => renameSync(file.path, outputFile.path));
    flushFolder(dirname(outputFile.path));
  } catch (error) {
    throw ioError('replace', outputFile.name, error);
  }
  fingerprint.save();
}

/** The cached responses make a new start cheaper than the first run. */
async function restartText(app: App, plan: Plan): Promise<string> {
  if (!plan.input.replayable) return 'or start again';
  const { cached, requests } = await (await import('./estimate.ts')).costOfRestart(app, plan);
  return cached === 0
    ? 'or start again'
    : `or start again (${plural(cached, 'response')} cached, ${plural(requests, 'request')} to send)`;
}

function partial({ counts, commonError }: RunSummary, next: Command | undefined): AppError {
  const { text = '', rows = 0 } = commonError ?? {};
  const share = rows === counts.error ? '' : `, ${rows} of them`;
  const reason = commonError === undefined ? '' : `${share}: ${text}`;
  return new AppError('partial', `${counts.error} of ${counts.done} rows failed${reason}`, {
    hint:
      next === undefined
        ? {
            text: 'the error column shows the reasons; rows written to a file (-o <file>) can be retried with --resume --retry-errors',
          }
        : { text: 'retry them', command: next },
    retryable: true,
  });
}

/** Hints that replace the hint of an error before the command that continues. */
const BEFORE_NEXT: Readonly<Partial<Record<Code, Advice[]>>> = {
  bad_input: [{ text: 'correct the list' }],
  plan_required: [{ text: 'save a key of a paid plan', command: restaurant('login') }],
  interrupted: [],
};

function withNext(app: App, failure: unknown, { output }: RunSummary, next: Command | undefined): unknown {
  if (!(failure instanceof AppError)) return failure;
  const { code, kind } = failure;
  const hint = hintInRun(app, failure);
  if (kind === 'usage' && (code !== 'bad_input' || next === undefined)) return failure;
  if (next === undefined) {
    return output === undefined && kind !== 'local'
      ? failure.withHint([
          ...adviceOf(hint),
          { text: 'with -o <file> a run can be continued where it stopped' },
        ])
      : failure;
  }
  if (failure instanceof RateLimitError) {
    return failure.withHint({ text: `from ${timeText(app, failure.freeAt)} on`, command: next });
  }
  const before = BEFORE_NEXT[code] ?? adviceOf(hint);
  const text = before.length === 0 ? 'continue' : 'then continue';
  return failure.withHint([...before, { text, command: next }]);
}
