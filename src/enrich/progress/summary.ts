import { type Counts, formatCounts, plural } from './counters.ts';

/** A run that is over, for whatever reason. */
export interface RunSummary {
  readonly counts: Counts;
  readonly requests: number;
  /** The output file as the user named it; undefined for stdout. */
  readonly output: string | undefined;
  /** The page that was made of it. */
  readonly report?: string | undefined;
  /** Whether the list is done. */
  readonly finished: boolean;
  /** Rows of the list, where known. */
  readonly total: number | undefined;
  /** The command that goes on, where there is something to go on with. */
  readonly next: string | undefined;
}

/** The summary for a program. */
export function summaryFacts(summary: RunSummary): Record<string, unknown> {
  const { counts, requests, output, report, finished, total, next } = summary;
  return {
    rows: total ?? (finished ? counts.done : null),
    done: counts.done,
    earlier: counts.earlier,
    matched: counts.matched,
    ambiguous: counts.ambiguous,
    not_found: counts.not_found,
    errors: counts.error,
    unusable: counts.unusable,
    requests,
    finished,
    output: output ?? null,
    report: report ?? null,
    next: next ?? null,
  };
}

/** The summary for a person, as lines. */
export function summaryText(summary: RunSummary): string[] {
  const { counts, requests, output, report, finished, total } = summary;
  const of = total === undefined || finished ? '' : ` of ${total.toLocaleString('en-US')}`;
  const rows = finished
    ? plural(counts.done, 'row')
    : `${counts.done.toLocaleString('en-US')}${of} ${counts.done === 1 && of === '' ? 'row' : 'rows'}`;
  const where = output === undefined ? '' : ` in ${output}`;
  const lines = [`${rows}${where}: ${formatCounts(counts)}; ${plural(requests, 'request')} sent`];
  if (report !== undefined) lines.push(`a page of it in ${report}`);
  if (finished && counts.ambiguous > 0) {
    lines.push('ambiguous rows show the best of several candidates: check those before you use them');
  }
  return lines;
}
