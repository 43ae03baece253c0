import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { App } from '../../app/app.ts';
import { hintInRun } from '../../app/error-hint.ts';
import { hintOf } from '../../app/hints.ts';
import { checkOutputFile, outputPath } from '../../app/output-file.ts';
import { configuredTarget, openTarget, type Target as ServiceTarget } from '../../app/target.ts';
import { AppError, type Code, PipeClosed, usage } from '../../errors.ts';
import { type Advice, adviceOf, again, type Command, type Options, restaurant } from '../../hint.ts';
import { flushFolder, perform, whenFree } from '../../storage/files.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import { onAbort } from '../../util/async.ts';
import { timeText } from '../../util/format.ts';
import type { Target } from '../finished/export.ts';
import { startProgress } from '../progress/progress.ts';
import { Counters, printJson, type RunSummary } from '../progress/summary.ts';
import { openInput } from '../read/input.ts';
import { CheckpointMismatch, FinishedRows, noFinishedRows, readFinishedRows } from '../write/checkpoint.ts';
import { openExportSource, openRunFingerprint } from '../write/list-state.ts';
import { claimOutput, type OutputFile, openRowDevice, openRowFiles } from '../write/output-file.ts';
import { enrichRows, type Job, TooManyFailures } from './enrich-rows.ts';
import {
  type EnrichFlags,
  type EnrichOptions,
  makePlan,
  type Plan,
  resolveOptions,
  rowFileOf,
} from './plan.ts';
import { PacedService } from './service.ts';

/** Options that are not repeated in the command that continues. */
const NOT_REPEATED: readonly string[] = ['--resume', '--retry-errors', '--force', '--dry-run'];

const nextCommand = (options: Options): Command => again(options, { without: NOT_REPEATED });

export async function runEnrich(app: App, file: string, flags: EnrichFlags): Promise<void> {
  const close: (() => void)[] = [];
  try {
    const options = resolveOptions(app, file, flags);
    if (isExportOnly(app, options)) return await (await loadExport()).exportFinished(app, file, options);
    const input = openInput(file, app.context);
    close.push(input.close);
    const outputFile = claimOutput(app, input, options.resume === true);
    if (outputFile !== undefined) close.push(outputFile.release);
    if (file === '-' && app.context.stdin.isTTY)
      await app.notes.note('reading the list from the keyboard; Ctrl-D ends it');
    const plan = await makePlan(app, input, options, outputFile);
    await assertNoOutput(app, plan);
    const page = options.hasPage ? (await loadReport()).checkReport(app, plan) : undefined;
    const targets = options.export.length > 0 ? await checkTargets(app, plan) : [];
    if (app.globals.dryRun) await (await import('./estimate.ts')).printEstimate(app, plan);
    else await enrichList(openRun(app, plan, { page, targets }, await openTarget(app)));
  } finally {
    for (const each of close.reverse()) each();
  }
}

/** Whether the list is finished, and only written in other formats. */
const isExportOnly = (app: App, options: EnrichOptions): boolean =>
  options.export.length > 0 && outputPath(app) === undefined && !app.globals.dryRun && !options.hasPage;

async function checkTargets(app: App, plan: Plan): Promise<readonly Target[]> {
  const { options, input } = plan;
  const file = rowFileOf(plan);
  if (file === undefined)
    throw usage('--export needs a file of rows', { command: again({ '--output': 'out.csv' }) });
  const { path } = file;
  return (await loadExport()).checkExportTargets(app, options, { path, identity: input.file?.stats });
}

/** @throws {AppError} `usage` if the output exists, with --resume if that would be accepted */
async function assertNoOutput(app: App, plan: Plan): Promise<void> {
  const { options } = plan;
  const outputFile = rowFileOf(plan);
  if (!outputFile?.exists || options.resume || app.globals.force) return;
  if (!(await canResume(app, plan, outputFile))) checkOutputFile(app, false);
  throw usage(`${outputFile.name} exists`, [
    { text: 'resume the run', command: again({ '--resume': true }) },
    { text: 'or start again', command: again({ '--force': true }) },
  ]);
}

/** Compares the output with the list. The rows of a stream are not read for that. */
async function canResume(app: App, plan: Plan, outputFile: OutputFile): Promise<boolean> {
  const { signal } = app.context;
  const { codec } = plan;
  const url = app.globals.demo ? new URL('http://127.0.0.1') : configuredTarget(app)?.url;
  try {
    const finished = readFinishedRows(outputFile, { codec });
    if (url !== undefined) openRunFingerprint(app.paths.stateDir, outputFile, plan, url).check();
    if (plan.input.file === undefined) return true;
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

interface Results {
  /** The path of the page; undefined without --report. */
  readonly page: string | undefined;
  readonly targets: readonly Target[];
}

type Run = ReturnType<typeof openRun>;

function openRun(app: App, plan: Plan, results: Results, target: ServiceTarget) {
  const { options, total } = plan;
  const counters = new Counters(options.added.map(({ path }) => path));
  const service = new PacedService(app, target, options);
  const progress = startProgress(app, options, { counts: counters.counts, total, service });
  const stop = new AbortController();
  return { app, plan, results, url: target.url, counters, service, progress, stop };
}

/** @throws {AppError} the failure, with the command that continues; `partial` if rows failed */
async function enrichList(run: Run): Promise<void> {
  const { app, plan, counters, progress } = run;
  const failure = await writeRows(run).then(
    () => undefined,
    (error: unknown) => error,
  );
  const finished = failure === undefined;
  const page = finished ? await writeResults(run) : undefined;
  const { done, errors } = counters.counts;
  const next = resumeCommand(plan, failure, errors);
  const summary = summaryOf(run, { finished, page, next });
  const isOther = failure instanceof CheckpointMismatch || failure instanceof PipeClosed;
  // No summary if the run did nothing or the output belongs to another run.
  if (finished || (done > 0 && !isOther)) await progress.finish(summary, reviewCommand(app, plan));
  else await progress.stop();
  if (!finished) throw await withNext(app, plan, failure, next);
  if (plan.options.json) await printJson(app, summary);
  if (page !== undefined) await (await loadReport()).showReport(app, plan, page);
  if (errors > 0) throw partial(counters, next);
}

interface End {
  readonly finished: boolean;
  readonly page: string | undefined;
  readonly next: Command | undefined;
}

const summaryOf = (
  { app, plan: { options, outputFile, total }, results, counters, service }: Run,
  { finished, page, next }: End,
): RunSummary => ({
  rows: total ?? (finished ? counters.counts.done : null),
  ...counters.results,
  requests: service.requests,
  finished,
  output: outputFile?.name ?? null,
  report: page === undefined ? null : (options.report ?? page),
  exports: finished ? results.targets.map(({ name }) => name) : [],
  next: next === undefined ? null : hintOf(app, { command: next }),
});

async function writeRows(run: Run): Promise<void> {
  const { app, plan, stop } = run;
  const { signal, stdout } = app.context;
  const { outputFile } = plan;
  if (signal.aborted) stop.abort(signal.reason);
  onAbort(signal, () => stop.abort(signal.reason));
  await run.service.open({
    reporter: run.progress,
    since: plan.options.resume ? outputFile?.createdAt : undefined,
    signal: stop.signal,
  });
  if (outputFile === undefined) return writeStream(run, (text) => stdout.write(text));
  if (outputFile.device === undefined) return writeFile(run, outputFile);
  const device = await openRowDevice(outputFile.device, stop.signal);
  return writeStream(run, (text) => device.write(text)).finally(() => device.close());
}

async function writeStream(run: Run, append: Job['append']): Promise<void> {
  const { header } = run.plan.codec;
  if (header !== '') await append(header);
  await enrichRows({ ...run, append, finished: noFinishedRows });
}

async function writeFile(run: Run, outputFile: OutputFile): Promise<void> {
  const { app, plan, results } = run;
  const { options, codec } = plan;
  const { stateDir } = app.paths;
  const fingerprint = openRunFingerprint(stateDir, outputFile, plan, run.url);
  const { file, previous } = openRowFiles(outputFile, options);
  try {
    const finished = new FinishedRows({ ...options, name: outputFile.name, file, codec, previous });
    // Options may change as long as there are no rows.
    if (previous !== undefined || file.size > Buffer.byteLength(codec.header)) fingerprint.check();
    fingerprint.save();
    // With --force they may exist, and the run that continues may replace them, too.
    for (const path of [...results.targets.map((each) => each.path), results.page ?? []].flat())
      openExportSource(stateDir, path).write({ list: outputFile.path });
    await enrichRows({ ...run, append: (text) => file.append(text), finished });
    file.flush();
  } finally {
    file.close();
    previous?.close();
  }
  if (previous === undefined) return;
  // After a retry, the new rows replace the output.
  perform('replace', outputFile.name, () => {
    whenFree(() => renameSync(file.path, outputFile.path));
    flushFolder(dirname(outputFile.path));
  });
  fingerprint.save();
}

/** @returns the path of the page */
async function writeResults({ app, plan, results, counters, progress }: Run): Promise<string | undefined> {
  const { options, outputFile, written } = plan;
  const { page, targets } = results;
  if (outputFile === undefined || (!options.hasPage && targets.length === 0)) return undefined;
  try {
    const { FinishedList } = await import('../finished/finished-list.ts');
    const list = await FinishedList.open(app, outputFile.name, { prefix: options.prefix, written });
    const report = options.hasPage
      ? await (await loadReport()).writeReport(app, list, plan, { counts: counters.counts, page })
      : undefined;
    if (targets.length > 0) await (await loadExport()).exportList(app, list, targets);
    return report;
  } catch (error) {
    await progress.stop();
    throw error;
  }
}

function reviewCommand(app: App, plan: Plan): string | undefined {
  const { prefix } = plan.options;
  const file = rowFileOf(plan);
  const words = prefix === 'restaurant_' ? [] : ['--prefix', prefix];
  return file && hintOf(app, { command: restaurant('review', file.name, ...words) });
}

function resumeCommand(plan: Plan, failure: unknown, errors: number): Command | undefined {
  const { options } = plan;
  const finished = failure === undefined;
  if (rowFileOf(plan) === undefined || (finished && errors === 0)) return undefined;
  const retries = finished || failure instanceof TooManyFailures || options.retryErrors;
  return nextCommand({ '--resume': true, ...(retries && { '--retry-errors': true }) });
}

function partial({ counts, commonError }: Counters, next: Command | undefined): AppError {
  const { done, errors } = counts;
  const { text = '', rows = 0 } = commonError ?? {};
  const share = rows === errors ? '' : `, ${rows} of them`;
  const reason = commonError === undefined ? '' : `${share}: ${text}`;
  return new AppError('partial', `${errors} of ${done} rows failed${reason}`, {
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

async function withNext(app: App, plan: Plan, failure: unknown, next: Command | undefined): Promise<unknown> {
  if (!(failure instanceof AppError)) return failure;
  const { code, kind } = failure;
  const before = adviceOf(hintInRun(app, failure));
  if (failure instanceof CheckpointMismatch) {
    const text = await (await import('./estimate.ts')).restartText(app, plan);
    return failure.add({ hint: [...before, { text, command: nextCommand({ '--force': true }) }] });
  }
  if (kind === 'usage' && (code !== 'bad_input' || next === undefined)) return failure;
  if (next === undefined) {
    const text = 'with -o <file> a run can be continued where it stopped';
    return plan.outputFile === undefined && kind !== 'local'
      ? failure.add({ hint: [...before, { text }] })
      : failure;
  }
  if (failure instanceof RateLimitError)
    return failure.add({ hint: { text: `from ${timeText(app, failure.freeAt)} on`, command: next } });
  const first = BEFORE_NEXT[code] ?? before;
  const text = first.length === 0 ? 'continue' : 'then continue';
  return failure.add({ hint: [...first, { text, command: next }] });
}
