import type { App } from '../../app/app.ts';
import { openTarget } from '../../app/target.ts';
import { type AppError, usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { timeText } from '../../util/format.ts';
import type { FinishedList, ListFlags } from '../finished/finished-list.ts';
import { changeList } from '../finished/journal.ts';
import { printJson } from '../progress/summary.ts';
import { type PacedFlags, PacedService } from '../run/service.ts';
import { applyDecisions, readDecisions } from './apply.ts';
import {
  type Decision,
  findCandidates,
  type ReviewRow,
  reviewRow,
  tallyOf,
  tallyText,
} from './candidates.ts';

export interface ReviewFlags extends ListFlags, PacedFlags {
  readonly notFound?: true;
  readonly apply?: string;
}

export async function runReview(app: App, file: string, flags: ReviewFlags): Promise<void> {
  const isJson = app.terminal.wantsJson;
  const decisions = flags.apply === undefined ? undefined : await readDecisions(app, flags.apply);
  if (decisions === undefined && !isJson && !app.terminal.canPrompt) throw needsTerminal();
  const applied = await changeList(app, file, flags, async (list, journal) => {
    if (decisions !== undefined)
      return applyDecisions(list, journal, decisions, () => openSearch(app, flags));
    const rows = await rowsToReview(list, flags);
    if (isJson) return listRows(app, list, rows, flags);
    const { decideRows } = await import('./session.ts');
    if (rows.length === 0) await app.notes.note(`${list.name} has no rows to review`);
    else await decideRows(app, { list, journal, rows, service: await openSearch(app, flags) });
    return undefined;
  });
  if (applied !== undefined) await printApplied(app, file, applied);
}

const needsTerminal = (): AppError =>
  usage('review needs a terminal', [
    { text: 'to list the rows with their candidates', command: again({ '--json': true }) },
    { text: 'to apply decisions', command: again({ '--apply': 'decisions.csv' }) },
  ]);

async function openSearch(app: App, flags: ReviewFlags): Promise<PacedService> {
  const isFresh = app.settings.resolve('max-age').source === 'flag';
  return new PacedService(app, await openTarget(app), flags).open({
    // Candidates of any age, as enrich received them.
    since: isFresh ? undefined : 0,
    reporter: {
      waiting: ({ until, why }) => void app.notes.warn(`${why}; continuing at ${timeText(app, until)}`, true),
      warn: (text) => void app.notes.warn(text),
    },
  });
}

/** Rows with the status that needs a decision, and not those that a decision has changed. */
async function rowsToReview(list: FinishedList, { notFound }: ReviewFlags): Promise<ReviewRow[]> {
  const rows: ReviewRow[] = [];
  for await (const row of list.rows()) {
    const status = list.text(row.values, 'status');
    const isMissing = status === 'not_found' && list.text(row.values, 'match') !== 'rejected';
    if (status === 'likely' || status === 'ambiguous' || (isMissing && notFound === true))
      rows.push(reviewRow(list, row));
  }
  return rows;
}

async function listRows(
  app: App,
  list: FinishedList,
  rows: readonly ReviewRow[],
  flags: ReviewFlags,
): Promise<undefined> {
  const service = rows.length === 0 ? undefined : await openSearch(app, flags);
  const listed: unknown[] = [];
  for (const row of rows) {
    const candidates = service === undefined ? [] : await findCandidates(service, row);
    listed.push({
      row: row.row.number,
      line: row.row.line,
      status: row.status,
      name: row.name,
      city: row.city,
      restaurant_id: row.current?.service_id ?? null,
      list: Object.fromEntries(list.ownFields(row.row)),
      candidates: candidates.map(({ restaurant: found, similarity, meters }) => ({
        ...found,
        similarity,
        distance_m: meters ?? null,
      })),
    });
  }
  await printJson(app, listed);
}

async function printApplied(app: App, file: string, decisions: readonly Decision[]): Promise<void> {
  if (app.terminal.wantsJson) await printJson(app, tallyOf(decisions));
  else if (app.globals.quiet !== true) await app.context.stderr.write(`${tallyText(file, decisions)}\n`);
}
