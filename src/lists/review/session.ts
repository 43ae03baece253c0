import type { App } from '../../app/app.ts';
import { hintOf } from '../../app/hints.ts';
import type { FindQuery } from '../../client/types.ts';
import type { Keyboard } from '../../context.ts';
import { AppError, failure } from '../../errors.ts';
import { again, restaurant } from '../../hint.ts';
import type { Palette } from '../../output/style.ts';
import { plural } from '../../util/format.ts';
import { cleanLine, pad, truncate, width, wrap } from '../../util/text.ts';
import type { FinishedList } from '../finished/finished-list.ts';
import type { Journal } from '../finished/journal.ts';
import type { PacedService } from '../run/service.ts';
import {
  type Candidate,
  candidateFacts,
  type Decision,
  findCandidates,
  type ReviewRow,
  tallyText,
  valuesOf,
} from './candidates.ts';

/** Candidates that have a key: 1 to 9. */
const MAX_KEYS = 9;

interface Session {
  readonly app: App;
  readonly journal: Journal;
  readonly list: FinishedList;
  readonly rows: readonly ReviewRow[];
  readonly service: PacedService;
  readonly keyboard: Keyboard;
  readonly decisions: Map<number, Decision>;
  readonly candidates: Map<number, Promise<readonly Candidate[]>>;
}

type Step = Decision | 'skip' | 'undo' | 'quit' | 'search' | 'unknown';

const KEYS: Readonly<Record<string, Step>> = {
  n: { kind: 'none' },
  s: 'search',
  ' ': 'skip',
  u: 'undo',
  q: 'quit',
  'ctrl-d': 'quit',
};

/** Walks through rows on a terminal, and records each decision at once. */
export async function decideRows(
  app: App,
  work: Pick<Session, 'list' | 'journal' | 'rows' | 'service'>,
): Promise<void> {
  const keyboard = app.context.prompt.keys();
  const session = { ...work, app, keyboard, decisions: new Map(), candidates: new Map() };
  const { rows, list, service, decisions } = session;
  let index: number | undefined = 0;
  while (index !== undefined && index < rows.length) index = await decideRow(session, index);
  const sent = service.requests;
  if (sent > 0) await print(app, [`${plural(sent, 'search', 'searches')} sent; the others were cached`]);
  await print(app, [tallyText(list.name, [...decisions.values()])]);
  const left = rows.length - decisions.size;
  if (left > 0) {
    const command = hintOf(app, { command: restaurant('review', list.name) });
    await print(app, [`${left} left: ${command}`]);
  }
}

/** @returns the index of the next row; undefined to quit */
async function decideRow(session: Session, index: number, words?: FindQuery): Promise<number | undefined> {
  const { app, rows } = session;
  const row = rows[index] as ReviewRow;
  const candidates = await candidatesOf(session, index, words);
  // While the user decides, the next candidates are searched for.
  if (index + 1 < rows.length) void candidatesOf(session, index + 1);
  await show(session, index, candidates);
  const step = await readStep(session, row, candidates);
  switch (step) {
    case 'skip':
      return index + 1;
    case 'undo':
      return undo(session, index);
    case 'search':
      return decideRow(session, index, await askWords(app, row));
    case 'unknown':
      return index;
    case 'quit':
      return undefined;
    default:
      session.journal.add(row.row, { set: valuesOf(session.list, row, step) });
      session.decisions.set(index, step);
      return index + 1;
  }
}

/** Takes the decision about the row before back, if there was one. */
function undo({ journal, rows, decisions }: Session, index: number): number {
  const before = Math.max(0, index - 1);
  const row = rows[before] as ReviewRow;
  if (decisions.delete(before)) journal.add(row.row, { set: null });
  return before;
}

/** Finds the candidates; if that fails, only the restaurant in the file. */
function candidatesOf(
  { app, rows, service, candidates }: Session,
  index: number,
  words?: FindQuery,
): Promise<readonly Candidate[]> {
  const earlier = words === undefined ? candidates.get(index) : undefined;
  if (earlier !== undefined) return earlier;
  const row = rows[index] as ReviewRow;
  const found = findCandidates(service, row, words).catch(async (error: unknown) => {
    if (!(error instanceof AppError) || error.kind === 'interrupted' || error.kind === 'auth') throw error;
    await app.notes.warn(`no other candidates: ${error.message}`);
    return findCandidates({ find: async () => ({ results: [], total: 0 }) }, row);
  });
  // A failure is reported when its row is shown.
  found.catch(() => {});
  candidates.set(index, found);
  return found;
}

async function show({ app, list, rows }: Session, index: number, found: readonly Candidate[]): Promise<void> {
  const row = rows[index] as ReviewRow;
  const screen = {
    columns: app.context.stderr.columns,
    palette: app.terminal.palette('stderr'),
    position: `${index + 1} of ${rows.length}`,
    fields: list.ownFields(row.row),
  };
  await print(app, reviewLines(row, found, screen));
}

async function readStep(
  { keyboard }: Session,
  { current }: ReviewRow,
  candidates: readonly Candidate[],
): Promise<Step> {
  const key = await keyboard.next();
  if (key === 'ctrl-c')
    throw failure('interrupted', 'interrupted at the prompt', {
      text: 'your decisions are saved; to continue',
      command: again(),
    });
  if (key === undefined) return 'quit';
  const number = /^[1-9]$/.test(key) ? Number(key) : 0;
  const chosen = candidates.slice(0, MAX_KEYS)[number - 1]?.restaurant;
  if (current !== undefined && (key === 'y' || chosen?.service_id === current.service_id))
    return { kind: 'yes' };
  if (chosen !== undefined) return { kind: 'other', restaurant: chosen };
  return KEYS[key] ?? 'unknown';
}

async function askWords({ context: { prompt } }: App, row: ReviewRow): Promise<FindQuery> {
  const name = (await prompt.text(`Name [${cleanLine(row.name)}]`)).trim();
  const city = (await prompt.text(`City [${cleanLine(row.city)}]`)).trim();
  return { name: name === '' ? row.name : name, city: city === '' ? row.city : city };
}

const print = ({ context, secrets }: App, lines: readonly string[]): Promise<void> =>
  context.stderr.write(secrets.redact(`${lines.join('\n')}\n`));

interface Screen {
  readonly columns: number;
  readonly palette: Palette;
  /** Position of the row among those to review: `3 of 17`. */
  readonly position: string;
  /** Fields of the list that help to decide. */
  readonly fields: readonly (readonly [column: string, value: unknown])[];
}

function reviewLines(
  row: ReviewRow,
  candidates: readonly Candidate[],
  { columns, palette, position, fields }: Screen,
): string[] {
  const cut = (text: string): string => truncate(cleanLine(text), columns);
  const own = [row.name, row.city, ...others(row, fields)].filter((text) => text !== '');
  const shown = candidates.slice(0, MAX_KEYS);
  const more = candidates.length - shown.length;
  return [
    '',
    palette.dim(cut(`${position}, line ${row.row.line}, ${row.status.replace('_', ' ')}`)),
    palette.heading(cut(own.join(', '))),
    ...candidateLines(shown, row, columns),
    ...(candidates.length === 0 ? ['  no candidates'] : []),
    ...(more > 0 ? [`  and ${more} more: search again with other words`] : []),
    ...wrap(keysText(row, shown.length), columns).map((line) => palette.dim(line)),
  ];
}

const others = (row: ReviewRow, fields: Screen['fields']): string[] =>
  fields
    .map(([, value]) => (typeof value === 'object' ? '' : String(value).trim()))
    .filter((text) => text !== row.name && text !== row.city);

function candidateLines(candidates: readonly Candidate[], { current }: ReviewRow, columns: number): string[] {
  const names = candidates.map(({ restaurant }) => cleanLine(restaurant.name));
  const room = Math.min(Math.max(0, ...names.map(width)), Math.floor(columns / 2));
  return candidates.map((candidate, index) => {
    const mark = candidate.restaurant.service_id === current?.service_id ? '*' : ' ';
    const name = pad(truncate(names[index] ?? '', room), room);
    return truncate(`${index + 1} ${mark} ${name}  ${candidateFacts(candidate).join('  ')}`, columns);
  });
}

function keysText({ current }: ReviewRow, count: number): string {
  const isOnlyCurrent = current !== undefined && count === 1;
  const numbers = count > 1 ? `1-${count}` : '1';
  return [
    ...(current === undefined ? [] : ['y yes (1)']),
    ...(count === 0 || isOnlyCurrent ? [] : [`${numbers} this one`]),
    'n none',
    's search',
    'space skip',
    'u undo',
    'q quit',
  ].join(', ');
}
