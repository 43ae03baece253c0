import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { App } from '../app/app.ts';
import { fullPath } from '../app/output-file.ts';
import { newPagePath, showPage } from '../app/page.ts';
import { openTarget, type Target } from '../app/target.ts';
import { AppError, attempt, failure } from '../errors.ts';
import { again } from '../hint.ts';
import { longWaitOf } from '../storage/pacer.ts';
import { writeUserFile } from '../storage/user-files.ts';
import { abortedWith } from '../util/async.ts';
import { plural } from '../util/format.ts';
import { isPlainName } from './answer-lines.ts';
import type { Answers } from './answers.ts';
import { Asker, workThrough } from './asker.ts';
import { type DueRow, dueLine } from './due.ts';
import { assertSameList } from './guard.ts';
import { type EnrichFlags, ListState, recentSince, type Survey } from './list-state.ts';
import { answersService, openListAnswers } from './open-answers.ts';
import { errorOf, type RunOutcome, reviewCommand, summaryOf, withNext } from './outcome.ts';
import { PacedService } from './paced-service.ts';
import { type Plan, rememberedFlags, warnOfFormulas } from './plan.ts';
import { type Progress, startProgress } from './progress/progress.ts';
import { Counters, printJson, wantsSummary } from './progress/summary.ts';
import type { InputRow } from './row.ts';
import { contentOf, writeViews } from './views/all.ts';
import type { OutputView } from './views/outputs.ts';
import type { ViewSource } from './views/source.ts';
import { assertReplaceable, sweepFolders } from './views/write.ts';

export interface Update {
  /** The list as typed. */
  readonly file: string;
  readonly flags: EnrichFlags;
  readonly views: readonly OutputView[];
  readonly plan: Plan;
  readonly rows: readonly InputRow[];
}

/** Rows that are asked for, with a view of how far that is. */
export interface ListRun {
  readonly app: App;
  readonly state: ListState;
  readonly service: PacedService;
  readonly progress: Progress;
  /** Of the rows that were asked for. */
  readonly counters: Counters;
  readonly stop: AbortController;
}

/** @param total number of rows that are asked for, if that is known */
export function startRun(
  app: App,
  { state, stop }: Pick<ListRun, 'state' | 'stop'>,
  { target, flags, total }: { target: Target; flags: EnrichFlags; total: number | undefined },
): ListRun {
  const counters = new Counters(state.plan.result.added.map(({ path }) => path));
  const service = new PacedService(app, target, flags);
  const source = { counts: counters.counts, total, service };
  const progress = startProgress(app, { progress: flags.progress, json: wantsSummary(app) }, source);
  return { app, state, service, progress, counters, stop };
}

/** @param cache as {@link PacedService.open} @returns why the run ended early */
export async function askUntilEnd(
  { state, service, progress, stop }: ListRun,
  cache: 'all' | 'shared',
  ask: (asker: Asker) => Promise<void>,
): Promise<AppError | undefined> {
  const { recent } = state.options;
  await service.open({ reporter: progress, cache, recent, signal: stop.signal });
  try {
    await ask(new Asker({ service, state, stop }));
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    await progress.stop();
    throw error;
  }
}

export async function updateList(app: App, update: Update): Promise<void> {
  const { flags, views, plan, rows } = update;
  const target = await openTarget(app);
  const answers = openListAnswers(app, views, flags.answers, 'write', answersService(target));
  try {
    sweepFolders(views);
    assertReplaceable(app, views, answers);
    const state = new ListState(plan, rows, answers, recentSince(flags.older, app.context.now()));
    const before = await state.survey(flags.first, app.context.signal);
    const { due } = before;
    if (due.requests > 0 && flags.answers === undefined) assertSameList(state, answers);
    rememberRun(app, update, answers);
    const stop = abortedWith(app.context.signal);
    const run = startRun(app, { state, stop }, { target, flags, total: due.rows.length });
    await run.progress.note(dueLine(due, flags.older));
    const failed = await askForDue(run, due.rows);
    await finish(run, { views, answers, before, failed });
  } finally {
    answers.close();
  }
}

/** @returns why the run ended early */
async function askForDue(run: ListRun, due: readonly DueRow[]): Promise<AppError | undefined> {
  const { app, state, counters } = run;
  if (due.length === 0) return undefined;
  if (app.globals.offline === true) return notSent(due.length);
  return askUntilEnd(run, 'shared', (asker) =>
    workThrough(
      due,
      async ({ index }) => {
        const row = state.rows[index] as InputRow;
        const question = state.plan.question(row);
        await state.finish(asker, row, question);
        state.count(counters, question, state.resolveRow(row, question).result);
      },
      run.stop,
    ),
  );
}

const notSent = (rows: number): AppError =>
  failure('network', `${plural(rows, 'row')} ${rows === 1 ? 'is' : 'are'} due, and --offline sends nothing`, {
    text: 'ask for them',
    command: again({}, { without: ['--offline'] }),
  });

interface Ending {
  readonly views: readonly OutputView[];
  readonly answers: Answers;
  readonly before: Survey;
  readonly failed: AppError | undefined;
}

async function finish(run: ListRun, { views, answers, before, failed }: Ending): Promise<void> {
  const { app, state, progress } = run;
  const { requests } = run.service;
  if (failed !== undefined && !keepsViews(failed, requests)) {
    await progress.stop();
    throw withNext(app, failed, true, []);
  }
  const files = views.map(({ name }) => name);
  if (failed?.kind === 'interrupted') await progress.note(`writing ${files.join(', ')}; press again to skip`);
  const survey = before.due.rows.length === 0 ? before : await state.survey();
  const source = state.source(survey, app.globals.rawCsv !== true);
  try {
    if (await writeViews(app, views, source, answers)) await warnOfFormulas(app, state.plan);
  } catch (error) {
    await progress.stop();
    throw error;
  }
  const outcome: RunOutcome = { counters: survey.counters, requests, files, failure: failed };
  const summary = summaryOf(app, outcome);
  await progress.finish(summary, reviewCommand(app, outcome));
  if (wantsSummary(app)) await printJson(app, summary);
  if (failed === undefined && app.globals.open === true) await openPage(app, views, source);
  const error = errorOf(app, outcome, true);
  if (error !== undefined) throw error;
}

/** Whether views are written after a failure: not if nothing was asked, or if this machine fails. */
const keepsViews = (failed: AppError, requests: number): boolean =>
  longWaitOf(failed) !== undefined ||
  failed.kind === 'interrupted' ||
  (requests > 0 && failed.kind !== 'local') ||
  failed.kind === 'network';

/** Shows the page among the views, or one in a temporary file. */
async function openPage(app: App, views: readonly OutputView[], source: ViewSource): Promise<void> {
  const page = views.find(({ format }) => format === 'html');
  if (page !== undefined) return showPage(app, page.target.path);
  const { name } = source.plan;
  const path = newPagePath(app, name === 'stdin' ? 'List' : basename(name));
  const content = contentOf(app, { format: 'html' }, source);
  const { signal } = app.context;
  await writeUserFile({ path, entry: 'nothing', isShellPipe: false }, content, {
    signal,
    mode: 0o600,
  });
  await app.context.stdout.write(`${path}\n`);
  await showPage(app, path);
}

/** How the list is brought up to date, for the review: names of files in the folder of the answers only. */
function rememberRun(app: App, { file, plan, rows, views }: Update, answers: Answers): void {
  const folder = dirname(answers.path);
  const isHere = (path: string): boolean => dirname(path) === folder && isPlainName(basename(path));
  const list = file === '-' ? undefined : attempt(() => realpathSync(fullPath(app.context, file)));
  const paths = views.map(({ target }) => target.path);
  answers.addRun({
    list: list !== undefined && isHere(list) ? basename(list) : null,
    options: rememberedFlags({ ...plan.flags, ...(app.globals.rawCsv === true && { rawCsv: true }) }),
    files: paths.filter(isHere).map((path) => basename(path)),
    ...(!paths.every(isHere) && { elsewhere: true as const }),
    ...(rows.some(({ earlier }) => earlier !== undefined) && { replaced: true as const }),
  });
}
