import type { App } from '../../app/app.ts';
import { writesToTerminal } from '../../app/output.ts';
import { AppError, EXIT_CODES, PipeClosed } from '../../errors.ts';
import { errorJson } from '../../output/problem.ts';
import { formatTime } from '../../storage/pacer.ts';
import { toJson } from '../../util/json.ts';
import { type RunSummary, summaryFacts } from '../progress/summary.ts';
import { openInput } from '../read/input.ts';
import { CheckpointMismatch } from '../write/checkpoint.ts';
import { claimOutput } from '../write/output-file.ts';
import type { Report } from '../write/report.ts';
import { TooManyFailures } from './ending.ts';
import { enrichList } from './enrich-list.ts';
import { QuotaError } from './lookups.ts';
import { type EnrichFlags, type EnrichOptions, resolveOptions } from './options.ts';
import { makePlan, type Plan } from './plan.ts';
import { printEstimate } from './print-estimate.ts';
import type { ResumeCommand } from './resume-command.ts';
import { keepHeapSmall } from './small-heap.ts';

/** Runs `enrich`. What goes wrong with `--progress json` is told as JSON too. */
export async function runEnrich(
  app: App,
  file: string,
  flags: EnrichFlags,
  resumeWith: ResumeCommand,
): Promise<void> {
  try {
    await runPlan(app, file, resolveOptions(app, flags), resumeWith);
  } catch (error) {
    if (flags.progress !== 'json' || !(error instanceof AppError)) throw error;
    await app.context.stderr.write(app.redact(`${errorJson(error)}\n`)).catch(() => {});
    app.exitCode = EXIT_CODES[error.kind];
  }
}

async function runPlan(
  app: App,
  file: string,
  options: EnrichOptions,
  resumeWith: ResumeCommand,
): Promise<void> {
  keepHeapSmall();
  const input = await openInput(file, app.context);
  try {
    const place = claimOutput(app, input, options, { lock: !options.dryRun, command: resumeWith });
    try {
      if (file === '-' && app.context.stdin.isTTY)
        await app.note('reading the list from the keyboard; Ctrl-D ends it');
      const plan = await makePlan(app, input, options, { place, command: resumeWith });
      if (options.report !== undefined || options.open)
        (await import('../write/report.ts')).checkReport(app, plan);
      if (options.dryRun) await printEstimate(app, plan);
      else await runAndTell(app, plan, resumeWith);
    } finally {
      place?.release();
    }
  } finally {
    await input.close();
  }
}

async function runAndTell(app: App, plan: Plan, resumeWith: ResumeCommand): Promise<void> {
  const { tally, requests, failure, progress } = await enrichList(app, plan);
  const { counts } = tally;
  const finished = failure === undefined;
  const canResume = plan.place !== undefined && !plan.place.device;
  const next =
    canResume && (!finished || counts.error > 0)
      ? resumeWith('--resume', ...(asksErrors(plan, failure) ? ['--retry-errors'] : []))
      : undefined;
  const report = finished ? await reportOf(app, plan, counts, () => progress.stop()) : undefined;
  const summary: RunSummary = {
    counts,
    requests,
    output: plan.place?.name,
    report: report?.name,
    finished,
    total: plan.list.total,
    next,
  };
  if (failure instanceof PipeClosed) {
    await progress.stop();
    throw failure;
  }
  // Where nothing was done there is nothing to sum up, nor in an output of another run.
  if (finished || (counts.done > 0 && !(failure instanceof CheckpointMismatch)))
    await progress.finish(summary);
  else await progress.stop();
  if (failure instanceof CheckpointMismatch) throw failure.withRestartHint(resumeWith('--force'));
  if (failure !== undefined) throw withNext(failure, summary);
  if (plan.options.json) {
    await app.context.stdout.write(`${toJson(summaryFacts(summary), writesToTerminal(app))}\n`);
  }
  await report?.tell();
  if (counts.error > 0) throw partial(summary);
}

/** The page of a finished list, where one is wanted. */
async function reportOf(
  app: App,
  plan: Plan,
  counts: RunSummary['counts'],
  stop: () => Promise<void>,
): Promise<Report | undefined> {
  if (plan.options.report === undefined && !plan.options.open) return undefined;
  const { makeReport } = await import('../write/report.ts');
  return makeReport(app, plan, counts).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
}

/** What stopped because rows failed, or finished with failed rows, goes on with asking those again. */
function asksErrors({ options }: Plan, failure: unknown): boolean {
  return failure === undefined || failure instanceof TooManyFailures || options.retryErrors;
}

function partial({ counts, next }: RunSummary): AppError {
  const { error, done, unusable } = counts;
  return new AppError('partial', `${error} of ${done} rows failed`, {
    hint: remedy(error === unusable, next),
    retryable: error > unusable,
  });
}

function remedy(nothingToAsk: boolean, next: string | undefined): string {
  if (nothingToAsk) return 'they have no name, no city or no usable id: correct them in a list of their own';
  if (next !== undefined) return `ask them again: ${next}`;
  return 'the column with the error says why; with -o <file> they can be asked again: --resume --retry-errors';
}

/** The failure, with the command that goes on after it. */
function withNext(failure: unknown, { next, output }: RunSummary): unknown {
  if (!(failure instanceof AppError)) return failure;
  const told = (hint: string): AppError =>
    new AppError(failure.code, failure.message, { ...failure.details, retryable: failure.retryable, hint });
  if (failure.code === 'bad_input' && next !== undefined)
    return told(`correct the list, then go on with: ${next}`);
  if (failure.kind === 'usage') return failure;
  if (next === undefined) {
    return output === undefined && failure.kind !== 'local'
      ? told(`${failure.hint}; with -o <file> a run can go on where it stopped`)
      : failure;
  }
  if (failure instanceof QuotaError) return told(`from ${formatTime(failure.freeAt)} on: ${next}`);
  if (failure.code === 'plan_required')
    return told(`restaurant login saves a key that may; then go on with: ${next}`);
  if (failure.kind === 'interrupted') return told(`go on with: ${next}`);
  return told(`${failure.hint}; then go on with: ${next}`);
}
