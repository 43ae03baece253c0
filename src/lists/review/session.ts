import type { App } from '../../app/app.ts';
import { hintOf } from '../../app/hints.ts';
import type { FindQuery } from '../../client/types.ts';
import type { Keyboard } from '../../context.ts';
import { AppError, failure } from '../../errors.ts';
import { again } from '../../hint.ts';
import type { Palette } from '../../output/style.ts';
import { plural } from '../../util/format.ts';
import { cleanLine, pad, truncate, width, wrap } from '../../util/text.ts';
import { keptResults } from '../resolve.ts';
import type { ListService } from '../service.ts';
import { ownEntries } from '../views/source.ts';
import {
  type Candidate,
  candidateFacts,
  candidatesFor,
  currentId,
  type DoubtfulRows,
  lineOf,
  rowsWith,
} from './candidates.ts';
import { type Review, writeReviewed } from './open.ts';
import { type Decided, type DecisionKind, tallyText } from './tally.ts';
import { undoLast } from './undo.ts';

/** Candidates that have a key: 1 to 9. */
const MAX_KEYS = 9;

interface Decision extends Decided {
  /** Id of the line in the answers. */
  readonly line: string;
}

interface Step {
  readonly index: number;
  /** Undefined if the row was skipped. */
  readonly decided?: Decision;
}

interface Session {
  readonly app: App;
  readonly review: Review;
  readonly rows: DoubtfulRows[];
  readonly keyboard: Keyboard;
  readonly search: () => Promise<ListService>;
  readonly steps: Step[];
  /** Opened by the first search with other words. */
  service?: ListService;
}

type Choice = { readonly kind: DecisionKind; readonly id?: string };
type Action = Choice | 'skip' | 'undo' | 'quit' | 'search' | 'unknown';

const KEYS: Readonly<Record<string, Action>> = {
  n: { kind: 'none' },
  x: { kind: 'never' },
  s: 'search',
  ' ': 'skip',
  u: 'undo',
  q: 'quit',
  'ctrl-d': 'quit',
};

/** Walks through rows on a terminal. Each decision is in the answers at once; the views are written at the end. */
export async function decideRows(app: App, work: Pick<Session, 'review' | 'rows' | 'search'>): Promise<void> {
  const session: Session = { ...work, app, keyboard: app.context.prompt.keys(), steps: [] };
  const { rows, review } = session;
  let index: number | undefined = 0;
  try {
    while (index !== undefined && index < rows.length) index = await decideRow(session, index);
  } finally {
    await writeReviewed(app, review);
  }
  await printEnd(session);
}

async function printEnd({ app, review, rows, steps, service }: Session): Promise<void> {
  const sent = service?.requests ?? 0;
  const decided = steps.flatMap((step) => step.decided ?? []);
  const left = rows.length - decided.length;
  const lines = [
    ...(sent > 0 ? [`${plural(sent, 'request')} sent`] : []),
    tallyText(review.name, decided),
    ...(left > 0 ? [`${left} left: ${hintOf(app, { command: again() })}`] : []),
    ...(left === 0 && decided.length > 0
      ? [
          `to take the last decision back: ${hintOf(app, { command: again({ '--undo': true }, { without: ['--not-found'] }) })}`,
        ]
      : []),
  ];
  await print(
    app,
    lines.flatMap((line) => wrap(line, app.context.stderr.columns)),
  );
}

/** @returns the index of the next row; undefined to quit */
async function decideRow(session: Session, index: number, words?: FindQuery): Promise<number | undefined> {
  const { rows, review, steps } = session;
  const row = rows[index] as DoubtfulRows;
  const candidates = candidatesFor(review, row, words);
  await show(session, index, candidates);
  const action = await readAction(session, row, candidates);
  switch (action) {
    case 'skip':
      steps.push({ index });
      return index + 1;
    case 'undo':
      return undo(session, index);
    case 'search':
      return decideRow(session, index, await searchAgain(session, row));
    case 'unknown':
      return decideRow(session, index, words);
    case 'quit':
      return undefined;
    default:
      steps.push({ index, decided: decide(review, row, action) });
      return index + 1;
  }
}

function decide({ answers }: Review, row: DoubtfulRows, { kind, id = currentId(row) }: Choice): Decision {
  const restaurant = kind === 'none' ? null : (id ?? null);
  const line = answers.decide(row.key, kind === 'never' ? { never: true } : { restaurant });
  return { kind, rows: row.indexes.length, line };
}

/** Takes the last step back; before the first, the last decision of an earlier session. */
function undo({ review, rows, steps }: Session, index: number): number {
  const step = steps.pop();
  if (step !== undefined) {
    if (step.decided !== undefined) review.answers.undo(step.decided.line);
    return step.index;
  }
  const undone = undoLast(review);
  if (undone !== undefined) rows.splice(index, 0, rowsWith(review, undone.key));
  return index;
}

async function show(
  { app, review, rows }: Session,
  index: number,
  found: readonly Candidate[],
): Promise<void> {
  const row = rows[index] as DoubtfulRows;
  const first = review.state.rows[row.indexes[0] ?? 0];
  const screen = {
    columns: app.context.stderr.columns,
    palette: app.terminal.palette('stderr'),
    position: `${index + 1} of ${rows.length}, line ${first === undefined ? 1 : lineOf(first)}`,
    fields: first === undefined ? [] : ownEntries(review.state.plan, first),
  };
  await print(app, reviewLines(row, found, screen));
}

async function readAction(
  { keyboard }: Session,
  row: DoubtfulRows,
  candidates: readonly Candidate[],
): Promise<Action> {
  const key = await keyboard.next().finally(() => keyboard.release());
  if (key === 'ctrl-c')
    throw failure('interrupted', 'interrupted at the prompt', {
      text: 'your decisions are saved; to continue',
      command: again(),
    });
  if (key === undefined) return 'quit';
  const number = /^[1-9]$/.test(key) ? Number(key) : 0;
  const chosen = candidates.slice(0, MAX_KEYS)[number - 1]?.restaurant.service_id;
  const current = shownCurrent(row, candidates);
  if (current !== undefined && (key === 'y' || chosen === current)) return { kind: 'yes' };
  if (chosen !== undefined) return { kind: 'other', id: chosen };
  return KEYS[key] ?? 'unknown';
}

/** Asks for other words, and searches with them. @returns undefined if that fails */
async function searchAgain(session: Session, { query }: DoubtfulRows): Promise<FindQuery | undefined> {
  const { app, review } = session;
  const { prompt } = app.context;
  const name = (await prompt.text(`Name [${cleanLine(query.name)}]`)).trim();
  const city = (await prompt.text(`City [${cleanLine(query.city)}]`)).trim();
  const words = { name: name === '' ? query.name : name, city: city === '' ? query.city : city };
  if (review.answers.find(words) !== undefined) return words;
  try {
    session.service ??= await session.search();
    const { results, total } = await session.service.find(words);
    const { kept, received } = keptResults(words, results);
    review.answers.addFind(words, { results: kept, received, total: Math.max(total, received) });
    return words;
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted' || error.kind === 'auth') throw error;
    await app.notes.warn(`no other candidates: ${error.message}`);
    return undefined;
  }
}

const print = ({ context, secrets }: App, lines: readonly string[]): Promise<void> =>
  context.stderr.write(secrets.redact(`${lines.join('\n')}\n`));

interface Screen {
  readonly columns: number;
  readonly palette: Palette;
  /** Position of the row among those to review, and in the list: `3 of 17, line 20`. */
  readonly position: string;
  /** Fields of the list that help to decide. */
  readonly fields: readonly (readonly [column: string, value: unknown])[];
}

function reviewLines(
  row: DoubtfulRows,
  candidates: readonly Candidate[],
  { columns, palette, position, fields }: Screen,
): string[] {
  const cut = (text: string): string => truncate(cleanLine(text), columns);
  const { name, city } = row.query;
  const own = [name, city, ...others(row, fields)].filter((text) => text !== '');
  const shown = candidates.slice(0, MAX_KEYS);
  const more = candidates.length - shown.length;
  const same = row.indexes.length - 1;
  const about = [
    position,
    row.result.status.replace('_', ' '),
    ...(same > 0 ? [`applies to ${plural(same + 1, 'row')}`] : []),
  ];
  return [
    '',
    palette.dim(cut(about.join(', '))),
    palette.heading(cut(own.join(', '))),
    ...candidateLines(shown, row, columns),
    ...(candidates.length === 0 ? ['  no candidates'] : []),
    ...(more > 0 ? [`  and ${more} more: search again with other words`] : []),
    ...wrap(keysText(row, shown), columns).map((line) => palette.dim(line)),
  ];
}

const others = ({ query: { name, city } }: DoubtfulRows, fields: Screen['fields']): string[] =>
  fields
    .map(([, value]) => (typeof value === 'object' ? '' : String(value).trim()))
    .filter((text) => text !== name && text !== city);

function candidateLines(candidates: readonly Candidate[], row: DoubtfulRows, columns: number): string[] {
  const names = candidates.map(({ restaurant }) => cleanLine(restaurant.name));
  const room = Math.min(Math.max(0, ...names.map(width)), Math.floor(columns / 2));
  return candidates.map((candidate, index) => {
    const mark = candidate.restaurant.service_id === currentId(row) ? '*' : ' ';
    const name = pad(truncate(names[index] ?? '', room), room);
    return truncate(
      `${index + 1} ${mark} ${name}  ${candidateFacts(candidate, row.query).join('  ')}`,
      columns,
    );
  });
}

/** The restaurant that the row has now, unless other words did not find it. */
const shownCurrent = (row: DoubtfulRows, candidates: readonly Candidate[]): string | undefined =>
  candidates.slice(0, MAX_KEYS).find(({ restaurant }) => restaurant.service_id === currentId(row))?.restaurant
    .service_id;

function keysText(row: DoubtfulRows, candidates: readonly Candidate[]): string {
  const current = shownCurrent(row, candidates);
  const count = candidates.length;
  const isOnlyCurrent = current !== undefined && count === 1;
  const numbers = count > 1 ? `1-${count}` : '1';
  return [
    ...(current === undefined ? [] : ['y yes (*)']),
    ...(count === 0 || isOnlyCurrent ? [] : [`${numbers} this one`]),
    'n none',
    's search',
    'space skip',
    'x never',
    'u undo',
    'q quit',
  ].join(', ');
}
