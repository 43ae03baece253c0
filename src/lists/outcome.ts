import type { App } from '../app/app.ts';
import { hintInRun } from '../app/error-hint.ts';
import { hintLine } from '../app/hint-line.ts';
import { AppError, type Code } from '../errors.ts';
import { type Advice, adviceOf, again, type Command, restaurant } from '../hint.ts';
import { longWaitOf } from '../storage/pacer.ts';
import { formatNumber, plural, timeText } from '../util/format.ts';
import type { Counters, RunSummary } from './progress/summary.ts';

export interface RunOutcome {
  readonly counters: Counters;
  readonly requests: number;
  /** The files that were written, or are as they should be. */
  readonly files: readonly string[];
  /** Ended the run early. */
  readonly failure?: AppError | undefined;
}

/** The same command goes on; what it should replace is replaced by now. */
const sameCommand = (files: readonly string[]): Command =>
  again({}, { without: ['--first', '--dry-run', ...(files.length > 0 ? ['--force'] : [])] });

/** The command that decides doubtful rows of a view; undefined if there are none. */
export function reviewCommand(
  app: App,
  { counters, files }: Pick<RunOutcome, 'counters' | 'files'>,
): string | undefined {
  if (counters.doubtful === 0) return undefined;
  const file = files.find((name) => !name.endsWith('.html')) ?? files[0];
  return file && hintLine(app, { command: restaurant('review', file) });
}

export function summaryOf(app: App, outcome: RunOutcome): RunSummary {
  const { counters, requests, files, failure } = outcome;
  const { results } = counters;
  const finished = failure === undefined && results.pending === 0;
  const next = nextCommand(app, outcome, finished && results.errors === 0);
  return { ...results, requests, finished, files, next: files.length === 0 ? null : next };
}

function nextCommand(app: App, outcome: RunOutcome, isDone: boolean): string | null {
  if (!isDone) return hintLine(app, { command: sameCommand(outcome.files) });
  return reviewCommand(app, outcome) ?? null;
}

/** Why a run ended early, else that rows failed. @param hasAnswers whether the same command goes on where it stopped */
export const errorOf = (app: App, outcome: RunOutcome, hasAnswers: boolean): AppError | undefined =>
  outcome.failure === undefined
    ? partialFailure(outcome)
    : withNext(app, outcome.failure, hasAnswers, outcome.files);

function partialFailure({ counters, files }: RunOutcome): AppError | undefined {
  const { rows, errors } = counters.counts;
  if (errors === 0) return undefined;
  const { text = '', rows: sharing = 0 } = counters.commonError ?? {};
  const share = sharing === errors ? '' : `, ${formatNumber(sharing)} of them`;
  const reason = text === '' ? '' : `${share}: ${text}`;
  const hint: Advice =
    files.length === 0
      ? { text: 'the error column shows the reasons; with -o <file>, the same command asks for them again' }
      : { text: 'ask for them again', command: sameCommand(files) };
  return new AppError('partial', `${formatNumber(errors)} of ${plural(rows, 'row')} failed${reason}`, {
    hint,
    retryable: true,
  });
}

/** Hints that replace the hint of an error before the command that goes on. */
const BEFORE_NEXT: Readonly<Partial<Record<Code, Advice[]>>> = {
  bad_input: [{ text: 'correct the list' }],
  plan_required: [{ text: 'save a key of a paid plan', command: restaurant('login') }],
  interrupted: [],
};

/** Adds to a failure the command that goes on. @param files those that were written */
export function withNext(
  app: App,
  failure: AppError,
  hasAnswers: boolean,
  files: readonly string[],
): AppError {
  const { code, kind } = failure;
  if (kind === 'usage' || kind === 'local' || app.globals.offline === true) return failure;
  const before = adviceOf(hintInRun(app, failure));
  if (!hasAnswers)
    return failure.add({
      hint: [...before, { text: 'with -o <file>, the same command goes on where it stopped' }],
    });
  const command = sameCommand(files);
  const freeAt = longWaitOf(failure);
  if (freeAt !== undefined)
    return failure.add({ hint: { text: `from ${timeText(app, freeAt)} on`, command } });
  const first = BEFORE_NEXT[code] ?? before;
  return failure.add({
    hint: [...first, { text: first.length === 0 ? 'continue' : 'then continue', command }],
  });
}
