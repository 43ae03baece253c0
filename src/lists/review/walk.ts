import type { App } from '../../app/app.ts';
import { hintLine } from '../../app/hint-line.ts';
import { chooseAction, interruptible, type KeyAction, Keys, numberedLines, show } from '../../app/keys.ts';
import type { FindQuery } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { again } from '../../hint.ts';
import { glyphs } from '../../output/presentation.ts';
import { plural } from '../../util/format.ts';
import { cleanLine, truncate, wrap } from '../../util/text.ts';
import { addSearch } from '../asker.ts';
import { candidateFacts } from '../candidates.ts';
import { partSearches } from '../match/searches.ts';
import type { PacedService } from '../paced-service.ts';
import { matchQuery } from '../resolve.ts';
import { ownEntries } from '../views/source.ts';
import { type Decided, decide, type RowChoice, tallyText, undoLast } from './decide.ts';
import { writeReviewed } from './open.ts';
import {
  type Candidate,
  candidatesFor,
  currentId,
  type EqualRows,
  lineOf,
  type Review,
  resultNow,
} from './rows.ts';

const MAX_KEYS = 9;

interface Walk {
  readonly app: App;
  readonly review: Review;
  readonly rows: EqualRows[];
  readonly keys: Keys;
  readonly openSearch: () => Promise<PacedService>;
  /** The rows that were shown; a skipped one has no decision. */
  readonly steps: { readonly index: number; readonly decided?: Decided }[];
  /** Opened by the first search. */
  service?: PacedService;
}

/** Walks through rows on a terminal. Each decision is in the answers at once; the views are written at the end. */
export async function decideRows(
  app: App,
  start: Pick<Walk, 'review' | 'rows' | 'openSearch'>,
): Promise<void> {
  const walk: Walk = { ...start, app, keys: new Keys(app), steps: [] };
  try {
    const hint = { text: 'your decisions are saved; to continue', command: again() };
    await interruptible(() => walkThrough(walk), hint);
  } finally {
    await writeReviewed(app, start.review);
  }
  await showEnd(walk);
}

async function walkThrough(walk: Walk): Promise<void> {
  let index: number | undefined = 0;
  while (index !== undefined && index < walk.rows.length) index = await decideRow(walk, index);
}

async function showEnd({ app, review, rows, steps, service }: Walk): Promise<void> {
  const sent = service?.requests ?? 0;
  const decided = steps.flatMap((step) => step.decided ?? []);
  const left = rows.length - decided.length;
  const undo = again({ '--undo': true }, { without: ['--not-found'] });
  const lines = [
    ...(sent > 0 ? [`${plural(sent, 'request')} sent`] : []),
    tallyText(review, decided),
    ...(left > 0 ? [`${left} left: ${hintLine(app, { command: again() })}`] : []),
    ...(left === 0 && decided.length > 0
      ? [`to take the last decision back: ${hintLine(app, { command: undo })}`]
      : []),
  ];
  await show(
    app,
    lines.flatMap((line) => wrap(line, app.context.stderr.columns)),
  );
}

type Next = number | undefined;

/** @returns the index of the next row; undefined to quit */
async function decideRow(walk: Walk, index: number, searches?: readonly FindQuery[]): Promise<Next> {
  const { app, review, rows, keys } = walk;
  const candidates = candidatesFor(review, rows[index] as EqualRows, searches);
  await show(app, rowLines(walk, index, candidates));
  return chooseAction(actionsOf(walk, index, candidates), keys.ask);
}

/** Digits choose a candidate; `y` is the one that the row has, if it has a digit. */
function actionsOf(walk: Walk, index: number, candidates: readonly Candidate[]): KeyAction<Next>[] {
  const { review, rows, steps } = walk;
  const row = rows[index] as EqualRows;
  const step = (choice?: RowChoice) => (): Next => {
    steps.push({ index, ...(choice !== undefined && { decided: decide(review, row, choice) }) });
    return index + 1;
  };
  const query = matchQuery(row.key);
  const parts = partSearches(query).filter((part) => review.answers.find(part) === undefined);
  const more = `m more (${plural(parts.length, 'request')})`;
  const current = currentId(review, row);
  const ids = candidates.slice(0, MAX_KEYS).map(({ restaurant }) => restaurant.service_id);
  const yes = current !== undefined && ids.includes(current) ? ['y yes (*)'] : [];
  const digits = ids.length > yes.length ? [`${ids.length > 1 ? `1-${ids.length}` : '1'} this one`] : [];
  const numbered = ids.map((id, at) => ({
    keys: [String(at + 1), ...(id === current ? ['y'] : [])],
    ...(at === 0 && { text: [...yes, ...digits].join(', ') }),
    act: step({ kind: id === current ? 'yes' : 'other', id }),
  }));
  return [
    ...numbered,
    { keys: ['n'], text: 'n none', act: step({ kind: 'none' }) },
    ...(parts.length === 0 ? [] : [{ keys: ['m'], text: more, act: () => searchParts(walk, index, parts) }]),
    { keys: ['s'], text: 's search', act: () => searchWords(walk, index, query) },
    { keys: [' '], text: 'space skip', act: step() },
    { keys: ['x'], text: 'x never', act: step({ kind: 'never' }) },
    { keys: ['u'], text: 'u undo', act: () => undo(walk, index) },
    { keys: ['q', 'ctrl-d'], text: 'q quit', act: () => undefined },
  ];
}

/** Searches for parts of the name, whose results are candidates of the row from then on. */
async function searchParts(walk: Walk, index: number, parts: readonly FindQuery[]): Promise<Next> {
  const { app, review, rows } = walk;
  const count = (): number => candidatesFor(review, rows[index] as EqualRows).length;
  const before = count();
  if ((await sendSearches(walk, parts)) && count() === before) await show(app, ['no more candidates found']);
  return decideRow(walk, index);
}

async function searchWords(walk: Walk, index: number, { name, city }: FindQuery): Promise<Next> {
  const { app, review } = walk;
  const ask = async (what: string, known: string): Promise<string> =>
    (await app.context.prompt.text(`${what} [${cleanLine(known)}]`)).trim() || known;
  const words = { name: await ask('Name', name), city: await ask('City', city) };
  const isAnswered = review.answers.find(words) !== undefined || (await sendSearches(walk, [words]));
  return decideRow(walk, index, isAnswered ? [words] : undefined);
}

/** Takes the last step back; before the first, the last decision of an earlier review. */
function undo({ review, rows, steps }: Walk, index: number): number {
  const step = steps.pop();
  if (step?.decided !== undefined) review.answers.undo(step.decided.line);
  if (step !== undefined) return step.index;
  const undone = undoLast(review);
  if (undone !== undefined) rows.splice(index, 0, undone.rows);
  return index;
}

/** @returns false if one fails, which is said */
async function sendSearches(walk: Walk, searches: readonly FindQuery[]): Promise<boolean> {
  const { app, review } = walk;
  try {
    for (const query of searches) {
      walk.service ??= await walk.openSearch();
      await addSearch(query, review.answers, walk.service);
    }
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted' || error.kind === 'auth') throw error;
    await app.notes.warn(`the search failed: ${error.message}`);
    return false;
  }
}

function rowLines(walk: Walk, index: number, candidates: readonly Candidate[]): string[] {
  const { app, review, rows } = walk;
  const row = rows[index] as EqualRows;
  const { columns } = app.context.stderr;
  const { dim, heading } = app.terminal.palette('stderr');
  const cut = (parts: readonly string[]): string => truncate(cleanLine(parts.join(', ')), columns);
  const { name, city } = matchQuery(row.key);
  const others = ownEntries(review.state.plan, row.first)
    .map(([, value]) => (typeof value === 'object' ? '' : String(value).trim()))
    .filter((text) => text !== name && text !== city);
  const count = row.indexes.length;
  const position = [
    `${index + 1} of ${rows.length}`,
    `line ${lineOf(row.first)}`,
    resultNow(review, row).status.replace('_', ' '),
    ...(count > 1 ? [`applies to ${plural(count, 'row')}`] : []),
  ];
  const more = candidates.length - MAX_KEYS;
  return [
    '',
    dim(cut(position)),
    heading(cut([name, city, ...others].filter((text) => text !== ''))),
    ...candidateLines(walk, row, candidates.slice(0, MAX_KEYS)),
    ...(candidates.length === 0 ? ['  no candidates'] : []),
    ...(more > 0 ? [`  and ${more} more: search again with other words`] : []),
  ];
}

function candidateLines({ app, review }: Walk, row: EqualRows, candidates: readonly Candidate[]): string[] {
  const query = matchQuery(row.key);
  const current = currentId(review, row);
  const numbered = candidates.map(({ restaurant, meters, isEarlier }) => ({
    mark: restaurant.service_id === current ? '*' : ' ',
    name: restaurant.name,
    facts: [
      ...candidateFacts(restaurant, query, meters),
      ...(isEarlier ? ['decided before the row was corrected'] : []),
    ],
  }));
  return numberedLines(numbered, app.context.stderr.columns, glyphs(app.terminal.view).ellipsis);
}
