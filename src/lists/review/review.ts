import type { App } from '../../app/app.ts';
import { readAllText, readArgumentFile } from '../../app/input.ts';
import { openTarget } from '../../app/target.ts';
import type { FindQuery, Restaurant } from '../../client/types.ts';
import { type AppError, failure, usage } from '../../errors.ts';
import { again, restaurant } from '../../hint.ts';
import { guardFormula } from '../../output/csv.ts';
import { CsvReader } from '../../util/csv.ts';
import { timeText } from '../../util/format.ts';
import { checkId } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import type { FinishedList, ListFlags } from '../finished/finished-list.ts';
import { changeList, type Journal } from '../finished/journal.ts';
import { printJson } from '../progress/summary.ts';
import { type PacedFlags, PacedService } from '../run/service.ts';
import {
  type Decision,
  findCandidates,
  type ReviewRow,
  reviewRow,
  tallyOf,
  tallyText,
  valuesOf,
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

const DECISIONS = ['yes', 'other', 'none'] as const;

const EXAMPLE = 'row,name,decision,restaurant_id';

/** Reads decisions made elsewhere, such as on the report page. @throws {AppError} `bad_input` */
async function readDecisions(app: App, file: string) {
  const text = file === '-' ? await readAllText(app, 'decisions') : await readArgumentFile(app, file);
  const where = file === '-' ? 'stdin' : file;
  const start = text.replace(/^\ufeff/, '');
  const reader = new CsvReader(/^[^\r\n]*;/.test(start) ? ';' : ',');
  const [header, ...records] = [...reader.push(start), ...reader.end()];
  const columns = header?.cells.map((cell) => cell.trim()) ?? [];
  const bad = (line: number, what: string): AppError =>
    failure('bad_input', `${where}: line ${line} ${what}`, {
      text: `nothing was changed; the columns are ${EXAMPLE}, and a decision is ${DECISIONS.join(', ')}`,
    });
  if (!columns.includes('row') || !columns.includes('decision'))
    throw bad(1, 'has no columns row and decision');
  const decided = new Set<string>();
  return records.map(({ cells, line }) => {
    const cell = (name: string): string => cells[columns.indexOf(name)]?.trim() ?? '';
    const decision = DECISIONS.find((each) => each === cell('decision'));
    if (decision === undefined) throw bad(line, `has the decision '${cell('decision')}'`);
    if (!/^[1-9]\d{0,8}$/.test(cell('row'))) throw bad(line, `has the row '${cell('row')}'`);
    if (decided.has(cell('row'))) throw bad(line, `decides row ${cell('row')} once more`);
    decided.add(cell('row'));
    const id = cell('restaurant_id');
    if (decision === 'other' && id === '') throw bad(line, 'has no restaurant_id');
    return {
      line,
      /** Number of the row in the list, from 1. */
      row: Number(cell('row')),
      /** Name in the list, to check that the row is the same; empty if it is not in the file. */
      name: cell('name'),
      decision,
      id: id === '' ? '' : checkId(id, `${where}: line ${line}`),
    };
  });
}

type WrittenDecision = Awaited<ReturnType<typeof readDecisions>>[number];

/** Checks all decisions before the first is recorded. @throws {AppError} `bad_input` naming the row */
async function applyDecisions(
  list: FinishedList,
  journal: Journal,
  decisions: readonly WrittenDecision[],
  openSearch: () => Promise<PacedService>,
): Promise<readonly Decision[]> {
  const numbers = new Set(decisions.map(({ row }) => row));
  const rows = new Map<number, ReviewRow>();
  for await (const row of list.rows())
    if (numbers.has(row.number)) rows.set(row.number, reviewRow(list, row));
  for (const each of decisions) checkDecision(list, rows.get(each.row), each);
  const others = decisions.some(({ decision }) => decision === 'other');
  const service = others ? await openSearch() : undefined;
  const all: Decision[] = [];
  for (const { row: number, decision, id } of decisions) {
    const row = rows.get(number) as ReviewRow;
    const kind = decision === 'other' && row.current?.service_id === id ? 'yes' : decision;
    const made: Decision =
      kind === 'other'
        ? { kind, restaurant: await restaurantWith(service as PacedService, row, id) }
        : { kind };
    journal.add(row.row, { set: valuesOf(list, row, made) });
    all.push(made);
  }
  return all;
}

function checkDecision(
  list: FinishedList,
  row: ReviewRow | undefined,
  { row: number, line, name, decision, id }: WrittenDecision,
): void {
  const refuse = (what: string): AppError =>
    failure('bad_input', `line ${line} of the decisions: ${what}`, {
      text: 'nothing was changed; make the decisions with the present file, as listed by',
      command: restaurant('review', list.name, '--json'),
    });
  if (row === undefined) throw refuse(`${list.name} has no row ${number}`);
  const { name: listed, current } = row;
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
  const among = async (words?: FindQuery): Promise<Restaurant | undefined> =>
    (await findCandidates(service, row, words)).find(({ restaurant: each }) => each.service_id === id)
      ?.restaurant;
  const candidate = await among();
  if (candidate !== undefined) return candidate;
  const details = { ...(await service.lookup(id, 'basic')), service_id: id };
  const { name } = details as Partial<Restaurant>;
  const found = typeof name === 'string' ? await among({ name, city: row.city }) : undefined;
  return found ?? (details as unknown as Restaurant);
}
