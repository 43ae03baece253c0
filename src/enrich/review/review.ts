import type { App } from '../../app/app.ts';
import { writesToTerminal } from '../../app/output-file.ts';
import { openTarget } from '../../app/target.ts';
import type { Restaurant } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { again, restaurant } from '../../hint.ts';
import { guardFormula } from '../../output/csv.ts';
import { timeText } from '../../util/format.ts';
import { toJson } from '../../util/json.ts';
import { cleanLine } from '../../util/text.ts';
import { changeList } from '../finished/change-list.ts';
import type { FinishedList, ListFlags, ListRow } from '../finished/finished-list.ts';
import type { Journal } from '../finished/journal.ts';
import { type PacedFlags, PacedService } from '../run/service.ts';
import { findCandidates, type ReviewRow, reviewRow, type Words } from './candidates.ts';
import { type Decision, TALLIED, type Tally, tallyText, valuesOf } from './decide.ts';
import { readDecisions, type WrittenDecision } from './decisions.ts';

export interface ReviewFlags extends ListFlags, PacedFlags {
  readonly notFound?: true;
  readonly apply?: string;
}

export async function runReview(app: App, file: string, flags: ReviewFlags): Promise<void> {
  const isJson = app.terminal.wantsJson;
  const decisions = flags.apply === undefined ? undefined : await readDecisions(app, flags.apply);
  if (decisions === undefined && !isJson && !app.terminal.canPrompt) throw needsTerminal();
  const result = await changeList(app, file, flags, async (list, journal) => {
    if (decisions !== undefined) return applyDecisions(app, list, journal, { flags, decisions });
    const rows = await rowsToReview(list, flags);
    if (isJson) return listRows(app, list, rows, flags);
    const { ReviewSession } = await import('./session.ts');
    if (rows.length === 0) {
      await app.notes.note(`${list.name} has no rows to review`);
      return undefined;
    }
    return new ReviewSession(app, { list, journal, rows, service: await openSearch(app, flags) }).run();
  });
  if (decisions !== undefined) await printTally(app, file, result as Tally);
}

const needsTerminal = (): AppError =>
  new AppError('usage', 'review needs a terminal', {
    hint: [
      { text: 'to list the rows with their candidates', command: again({ '--json': true }) },
      { text: 'to apply decisions', command: again({ '--apply': 'decisions.csv' }) },
    ],
  });

async function openSearch(app: App, flags: ReviewFlags): Promise<PacedService> {
  const isFresh = app.settings.resolve('max-age').source === 'flag';
  return PacedService.open(app, {
    target: await openTarget(app),
    flags,
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
  await app.context.stdout.write(`${toJson(listed, writesToTerminal(app))}\n`);
}

interface Work {
  readonly flags: ReviewFlags;
  readonly decisions: readonly WrittenDecision[];
}

/** Checks all decisions before the first is recorded. @throws {AppError} `bad_input` naming the row */
async function applyDecisions(
  app: App,
  list: FinishedList,
  journal: Journal,
  { flags, decisions }: Work,
): Promise<Tally> {
  const rows = await rowsWithNumbers(list, new Set(decisions.map(({ row }) => row)));
  for (const each of decisions) checkDecision(list, rows.get(each.row), each);
  const others = decisions.some(({ decision }) => decision === 'other');
  const service = others ? await openSearch(app, flags) : undefined;
  const tally = { confirmed: 0, other: 0, rejected: 0 };
  for (const { row: number, decision, id } of decisions) {
    const row = reviewRow(list, rows.get(number) as ListRow);
    const kind = decision === 'other' && row.current?.service_id === id ? 'yes' : decision;
    const made: Decision =
      kind === 'other'
        ? { kind, restaurant: await restaurantWith(service as PacedService, row, id) }
        : { kind };
    journal.add(row.row, { set: valuesOf(list, row, made), at: app.context.now() });
    tally[TALLIED[kind]] += 1;
  }
  return tally;
}

async function rowsWithNumbers(
  list: FinishedList,
  numbers: ReadonlySet<number>,
): Promise<Map<number, ListRow>> {
  const rows = new Map<number, ListRow>();
  for await (const row of list.rows()) if (numbers.has(row.number)) rows.set(row.number, row);
  return rows;
}

function checkDecision(
  list: FinishedList,
  row: ListRow | undefined,
  { row: number, line, name, decision, id }: WrittenDecision,
): void {
  const refuse = (what: string): AppError =>
    new AppError('bad_input', `line ${line} of the decisions: ${what}`, {
      hint: {
        text: 'nothing was changed; make the decisions with the present file, as listed by',
        command: restaurant('review', list.name, '--json'),
      },
    });
  if (row === undefined) throw refuse(`${list.name} has no row ${number}`);
  const { name: listed, current } = reviewRow(list, row);
  const shown = cleanLine(listed).trim();
  if (name !== '' && ![shown, guardFormula(shown)].includes(cleanLine(name)))
    throw refuse(`row ${number} of ${list.name} is '${listed}', not '${name}'`);
  if (decision !== 'yes') return;
  if (current === undefined) throw refuse(`row ${number} has no restaurant to confirm`);
  if (id !== '' && id !== current.service_id)
    throw refuse(`row ${number} has the restaurant ${current.service_id}, not ${id}`);
}

/** Returns a candidate of the row. An id that is none is looked up, and searched by its name, which finds its address. */
async function restaurantWith(service: PacedService, row: ReviewRow, id: string): Promise<Restaurant> {
  const among = async (words?: Words): Promise<Restaurant | undefined> =>
    (await findCandidates(service, row, words)).find(({ restaurant: each }) => each.service_id === id)
      ?.restaurant;
  const candidate = await among();
  if (candidate !== undefined) return candidate;
  const details = { ...(await service.lookup(id, 'basic')), service_id: id };
  const { name } = details as Partial<Restaurant>;
  const found = typeof name === 'string' ? await among({ name, city: row.city }) : undefined;
  return found ?? (details as unknown as Restaurant);
}

async function printTally(app: App, file: string, tally: Tally): Promise<void> {
  const { confirmed, other, rejected } = tally;
  const count = confirmed + other + rejected;
  if (app.terminal.wantsJson)
    await app.context.stdout.write(`${toJson({ rows: count, ...tally }, writesToTerminal(app))}\n`);
  else if (app.globals.quiet !== true) await app.context.stderr.write(`${tallyText(file, tally)}\n`);
}
