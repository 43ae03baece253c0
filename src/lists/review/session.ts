import type { App } from '../../app/app.ts';
import { hintOf } from '../../app/hints.ts';
import { Keys, show } from '../../app/keys.ts';
import type { FindQuery } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { again } from '../../hint.ts';
import { plural } from '../../util/format.ts';
import { cleanLine, pad, truncate, width, wrap } from '../../util/text.ts';
import { candidateFacts } from '../candidates.ts';
import { matchQuery } from '../resolve.ts';
import { addSearch } from '../run.ts';
import type { ListService } from '../service.ts';
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
  resultOf,
} from './rows.ts';

/** Candidates that have a key: 1 to 9. */
const MAX_KEYS = 9;

interface ReviewSession {
  readonly app: App;
  readonly review: Review;
  readonly rows: EqualRows[];
  readonly keys: Keys;
  readonly openSearch: () => Promise<ListService>;
  /** The rows that were shown; a skipped one has no decision. */
  readonly steps: { readonly index: number; readonly decided?: Decided }[];
  /** Opened by the first search with other words. */
  service?: ListService;
}

/** Walks through rows on a terminal. Each decision is in the answers at once; the views are written at the end. */
export async function decideRows(
  app: App,
  work: Pick<ReviewSession, 'review' | 'rows' | 'openSearch'>,
): Promise<void> {
  const keys = new Keys(app, { text: 'your decisions are saved; to continue', command: again() });
  const session: ReviewSession = { ...work, app, keys, steps: [] };
  let index: number | undefined = 0;
  try {
    while (index !== undefined && index < work.rows.length) index = await decideRow(session, index);
  } finally {
    await writeReviewed(app, work.review);
  }
  await showEnd(session);
}

async function showEnd({ app, review, rows, steps, service }: ReviewSession): Promise<void> {
  const sent = service?.requests ?? 0;
  const decided = steps.flatMap((step) => step.decided ?? []);
  const left = rows.length - decided.length;
  const undo = again({ '--undo': true }, { without: ['--not-found'] });
  const lines = [
    ...(sent > 0 ? [`${plural(sent, 'request')} sent`] : []),
    tallyText(review.name, decided),
    ...(left > 0 ? [`${left} left: ${hintOf(app, { command: again() })}`] : []),
    ...(left === 0 && decided.length > 0
      ? [`to take the last decision back: ${hintOf(app, { command: undo })}`]
      : []),
  ];
  await show(
    app,
    lines.flatMap((line) => wrap(line, app.context.stderr.columns)),
  );
}

type Next = number | undefined;

/** @returns the index of the next row; undefined to quit */
async function decideRow(session: ReviewSession, index: number, words?: FindQuery): Promise<Next> {
  const { app, review, rows, steps, keys } = session;
  const row = rows[index] as EqualRows;
  const candidates = candidatesFor(review, row, words);
  const choices = choicesOf(candidates, currentId(review, row));
  await show(app, rowLines(session, index, candidates));
  const key = (await keys.ask(keysText(choices), (each) => choices.has(each) || each in ACTS)) ?? 'q';
  const choice = choices.get(key);
  if (choice === undefined) return ACTS[key]?.(session, index);
  steps.push({ index, decided: decide(review, row, choice) });
  return index + 1;
}

/** The keys that decide; `y` if the restaurant that the row has is among those with a key. */
function choicesOf(
  candidates: readonly Candidate[],
  current: string | undefined,
): ReadonlyMap<string, RowChoice> {
  const numbered = candidates.slice(0, MAX_KEYS).map(({ restaurant: { service_id: id } }, at) => {
    const kind = id === current ? 'yes' : 'other';
    return [String(at + 1), { kind, id }] as const;
  });
  const yes = numbered.find(([, { kind }]) => kind === 'yes');
  const all: [string, RowChoice][] = [...numbered.map(([key, choice]): [string, RowChoice] => [key, choice])];
  if (yes !== undefined) all.push(['y', yes[1]]);
  return new Map([...all, ['n', { kind: 'none' }], ['x', { kind: 'never' }]]);
}

const ACTS: Readonly<Record<string, (session: ReviewSession, index: number) => Next | Promise<Next>>> = {
  ' ': ({ steps }, index) => {
    steps.push({ index });
    return index + 1;
  },
  s: async (session, index) => decideRow(session, index, await searchAgain(session, index)),
  u: undo,
  q: () => undefined,
  'ctrl-d': () => undefined,
};

/** Takes the last step back; before the first, the last decision of an earlier session. */
function undo({ review, rows, steps }: ReviewSession, index: number): number {
  const step = steps.pop();
  if (step?.decided !== undefined) review.answers.undo(step.decided.line);
  if (step !== undefined) return step.index;
  const undone = undoLast(review);
  if (undone !== undefined) rows.splice(index, 0, undone.rows);
  return index;
}

/** Asks for other words, and searches with them. @returns undefined if that fails */
async function searchAgain(session: ReviewSession, index: number): Promise<FindQuery | undefined> {
  const { app, review, rows } = session;
  const query = matchQuery((rows[index] as EqualRows).key);
  const ask = async (what: string, known: string): Promise<string> =>
    (await app.context.prompt.text(`${what} [${cleanLine(known)}]`)).trim() || known;
  const words = { name: await ask('Name', query.name), city: await ask('City', query.city) };
  if (review.answers.find(words) !== undefined) return words;
  try {
    session.service ??= await session.openSearch();
    await addSearch(words, review.answers, session.service);
    return words;
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted' || error.kind === 'auth') throw error;
    await app.notes.warn(`no other candidates: ${error.message}`);
    return undefined;
  }
}

function rowLines(
  { app, review, rows }: ReviewSession,
  index: number,
  candidates: readonly Candidate[],
): string[] {
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
    resultOf(review, row).status.replace('_', ' '),
    ...(count > 1 ? [`applies to ${plural(count, 'row')}`] : []),
  ];
  const more = candidates.length - MAX_KEYS;
  return [
    '',
    dim(cut(position)),
    heading(cut([name, city, ...others].filter((text) => text !== ''))),
    ...candidateLines(candidates.slice(0, MAX_KEYS), review, row, columns),
    ...(candidates.length === 0 ? ['  no candidates'] : []),
    ...(more > 0 ? [`  and ${more} more: search again with other words`] : []),
  ];
}

function candidateLines(
  candidates: readonly Candidate[],
  review: Review,
  row: EqualRows,
  columns: number,
): string[] {
  const names = candidates.map(({ restaurant }) => cleanLine(restaurant.name));
  const room = Math.min(Math.max(0, ...names.map(width)), Math.floor(columns / 2));
  const query = matchQuery(row.key);
  const current = currentId(review, row);
  return candidates.map(({ restaurant, isEarlier }, index) => {
    const mark = restaurant.service_id === current ? '*' : ' ';
    const name = pad(truncate(names[index] ?? '', room), room);
    const earlier = isEarlier ? ['decided before the row was corrected'] : [];
    const start = `${index + 1} ${mark} ${name}`;
    const facts = fitted([...candidateFacts(restaurant, query), ...earlier], columns - width(start));
    return truncate([start, ...facts].join('  '), columns);
  });
}

/** Shortens the longest fact, usually the address, so that the others are not cut off. */
function fitted(facts: readonly string[], room: number): string[] {
  const widths = facts.map(width);
  const longest = Math.max(0, ...widths);
  const over = widths.reduce((sum, each) => sum + each + 2, 0) - room;
  const at = widths.indexOf(longest);
  return facts.map((fact, index) =>
    index === at && over > 0 ? truncate(fact, Math.max(8, longest - over)) : fact,
  );
}

function keysText(choices: ReadonlyMap<string, RowChoice>): string {
  const count = [...choices.keys()].filter((key) => /\d/.test(key)).length;
  const isOnlyCurrent = count === 1 && choices.has('y');
  return [
    ...(choices.has('y') ? ['y yes (*)'] : []),
    ...(count === 0 || isOnlyCurrent ? [] : [`${count > 1 ? `1-${count}` : '1'} this one`]),
    ...['n none', 's search', 'space skip', 'x never', 'u undo', 'q quit'],
  ].join(', ');
}
