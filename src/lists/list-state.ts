import { setImmediate } from 'node:timers/promises';
import type { AppError } from '../errors.ts';
import { cleanLine, truncate } from '../util/text.ts';
import { type KnownAnswers, MAX_AHEAD_MS } from './answers.ts';
import type { Asker } from './asker.ts';
import { Decisions } from './decisions.ts';
import { type Due, DueRows } from './due.ts';
import type { RowResult } from './match/match.ts';
import { searchesFor } from './match/searches.ts';
import type { PacedFlags } from './paced-service.ts';
import type { ListFlags, Plan } from './plan.ts';
import { Counters } from './progress/summary.ts';
import { type Question, type Resolution, type ResolveOptions, resolve } from './resolve.ts';
import type { InputRow } from './row.ts';
import type { ViewSource } from './views/source.ts';

export interface EnrichFlags extends ListFlags, PacedFlags {
  readonly first?: number;
  /** In milliseconds. */
  readonly older?: number;
  readonly answers?: string;
}

export interface Survey {
  readonly due: Due;
  readonly counters: Counters;
  /** The rows that cannot be asked for. */
  readonly skipped: readonly InputRow[];
  /** When the newest answer was given; undefined if there is none. */
  readonly at: number | undefined;
}

const TURN = 512;

export class ListState {
  readonly plan: Plan;
  readonly rows: readonly InputRow[];
  readonly answers: KnownAnswers;
  readonly options: ResolveOptions;
  readonly decisions: Decisions;
  /** Why requests for rows failed in this run. */
  readonly failures = new Map<InputRow, AppError>();

  constructor(
    plan: Plan,
    rows: readonly InputRow[],
    answers: KnownAnswers,
    recent?: ResolveOptions['recent'],
  ) {
    this.plan = plan;
    this.rows = rows;
    this.answers = answers;
    this.options = { ...plan.matching, recent };
    this.decisions = new Decisions(answers, this.#keys());
  }

  *questions() {
    for (const row of this.rows) yield this.plan.question(row);
  }

  *#keys() {
    for (const { key } of this.questions()) yield key;
  }

  resolve(question: Question): Resolution {
    const decision = this.decisions.of(question.key);
    return resolve({ decision, ...question }, this.answers, this.options);
  }

  resolveRow(row: InputRow, question = this.plan.question(row)): Resolution {
    const resolution = this.resolve(question);
    const failure = this.failures.get(row);
    return failure === undefined
      ? resolution
      : { ...resolution, result: withFailure(resolution.result, failure) };
  }

  resultOf = (row: InputRow): RowResult => this.resolveRow(row).result;

  async finish(asker: Asker, row: InputRow, question: Question): Promise<void> {
    const failure = await asker.finish(question);
    if (failure !== undefined) this.failures.set(row, failure);
  }

  /** Whether a person should decide about a row. @param withMissing also if nothing was found */
  isDoubtful = ({ key }: Question, result: RowResult, withMissing: boolean): boolean =>
    isGuess(result, withMissing) && this.decisions.of(key)?.never !== true;

  count(counters: Counters, question: Question, result: RowResult): void {
    const { name = '', city = '', id } = question.key;
    const { status, details, match, failure } = result;
    const isMissing = status === 'not_found' && match === undefined && !id;
    const hasSearches = isMissing && this.options.loose !== true;
    const looseRequests = hasSearches ? searchesFor({ name, city }).length - 1 : 0;
    if (details !== undefined) counters.addDetails(details);
    if (this.isDoubtful(question, result, false)) counters.doubtful += 1;
    counters.add({ status, city: status === 'skipped' ? undefined : city, looseRequests, failure });
  }

  /** For views. @param guard whether to neutralize formulas in tables of text */
  source({ counters, at }: Survey, guard: boolean): ViewSource {
    const { plan, rows, resultOf, answers, isDoubtful } = this;
    return { plan, rows, resultOf, answers, isDoubtful, counts: counters.counts, at, guard };
  }

  /** Looks at every row once. @param first only that many rows are asked for */
  async survey(first = Number.POSITIVE_INFINITY, signal?: AbortSignal): Promise<Survey> {
    const counters = new Counters(this.plan.result.added.map(({ path }) => path));
    const due = new DueRows(this.options);
    const skipped: InputRow[] = [];
    let newest = 0;
    for (const [index, row] of this.rows.entries()) {
      if (index % TURN === 0) {
        await setImmediate();
        signal?.throwIfAborted();
      }
      const question = this.plan.question(row);
      const resolution = this.resolveRow(row, question);
      if (index < first) due.add(index, question, resolution);
      this.count(counters, question, resolution.result);
      if (resolution.result.status === 'skipped') skipped.push(row);
      newest = Math.max(newest, resolution.at ?? 0);
    }
    return { due: due.ofAll(this.rows.length), counters, skipped, at: newest > 0 ? newest : undefined };
  }
}

const isGuess = ({ status, match }: RowResult, withMissing: boolean): boolean =>
  status === 'likely' ||
  status === 'ambiguous' ||
  (withMissing && status === 'not_found' && match !== 'rejected');

const MAX_ERROR = 300;

/** A failure does not replace an answer: a row that has one keeps its status and its data. */
export function withFailure(result: RowResult, failure: AppError): RowResult {
  const error = truncate(`${failure.code}: ${cleanLine(failure.message).trim()}`, MAX_ERROR);
  return { ...result, status: result.status === 'pending' ? 'error' : result.status, error, failure };
}

/** With --older: the times within which an answer is not due, counted from the start of the run. */
export function recentSince(older: number | undefined, now: number): ResolveOptions['recent'] {
  return older === undefined ? undefined : { start: now - older, end: now + MAX_AHEAD_MS };
}
