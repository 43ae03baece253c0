import type { App } from '../../app/app.ts';
import { readAllText, readArgumentFile } from '../../app/input.ts';
import { type AppError, failure } from '../../errors.ts';
import { restaurant } from '../../hint.ts';
import { guardFormula } from '../../output/csv.ts';
import { CsvReader } from '../../util/csv.ts';
import { foldLetters } from '../../util/fold.ts';
import { isFilled } from '../../util/json.ts';
import { isId } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import { addSearch } from '../asker.ts';
import type { PacedService } from '../paced-service.ts';
import { newestFields } from '../resolve.ts';
import { rowKeyText } from '../row-key.ts';
import { type Decided, decide, type RowChoice } from './decide.ts';
import { candidatesFor, currentId, type EqualRows, type Review } from './rows.ts';

/** Words for a decision, without case and accents. */
const WORDS: Readonly<Record<RowChoice['kind'], readonly string[]>> = {
  yes: ['yes', 'y', 'ja', 'j', 'oui', 'si', 'true'],
  other: ['other', 'andere', 'anderes', 'autre', 'otro', 'otra'],
  none: ['none', 'no', 'n', 'nein', 'keine', 'keines', 'non', 'aucun', 'ninguno', 'false'],
  never: ['never', 'nie', 'jamais', 'nunca'],
};
const KINDS = Object.keys(WORDS) as RowChoice['kind'][];
const EXAMPLE = 'row,name,decision,restaurant_id';
const MAX_PROBLEMS = 10;

interface RowDecision {
  /** Number of the row in the list, from 1. */
  readonly row: number;
  readonly rows: EqualRows;
  readonly choice: RowChoice;
}

/** The problem of a line: the end of a sentence that begins with its number. */
class BadLine extends Error {}

const refuse = (what: string): never => {
  throw new BadLine(what);
};

/** Applies decisions made elsewhere, such as on the page: all or none. @throws {AppError} `bad_input` with the bad lines */
export async function applyFile(
  app: App,
  review: Review,
  file: string,
  openSearch: () => Promise<PacedService>,
): Promise<readonly Decided[]> {
  const text = file === '-' ? await readAllText(app, 'decisions') : await readArgumentFile(app, file);
  const problems: string[] = [];
  const decisions = readDecisions(review, text, problems);
  if (problems.length > 0) throw cannotApply(file === '-' ? 'stdin' : file, problems, review);
  await lookUpUnknown(review, decisions, openSearch);
  return decisions.map(({ rows, choice }) => decide(review, rows, choice));
}

function cannotApply(where: string, problems: readonly string[], { name }: Review): AppError {
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : '';
  return failure('bad_input', `${where}: ${shown}${more}`, [
    { text: `nothing was changed; the columns are ${EXAMPLE}, and a decision is ${KINDS.join(', ')}` },
    { text: 'for the rows', command: restaurant('review', name, '--json') },
  ]);
}

/** Equal rows have one decision. */
function readDecisions(review: Review, text: string, problems: string[]): readonly RowDecision[] {
  const decisions = new Map<EqualRows, RowDecision>();
  const max = review.state.rows.length;
  let columns: readonly string[] | undefined;
  let count = 0;
  for (const { cells, line } of recordsOf(text.replace(/^\ufeff/, ''))) {
    if (columns === undefined) {
      columns = cells.map((cell) => cell.trim());
      if (columns.includes('row') && columns.includes('decision')) continue;
      problems.push('line 1 has no columns row and decision');
      break;
    }
    count += 1;
    if (count > max) {
      problems.push(`line ${line} is one more than the list has rows (${max})`);
      break;
    }
    try {
      const names = columns;
      const decision = readDecision(review, (name) => cells[names.indexOf(name)]?.trim() ?? '');
      const before = decisions.get(decision.rows);
      if (before !== undefined) assertEqual(decision, before);
      else decisions.set(decision.rows, decision);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      problems.push(`line ${line} ${error.message}`);
    }
  }
  return [...decisions.values()];
}

function* recordsOf(text: string) {
  const reader = new CsvReader(/^[^\r\n]*;/.test(text.slice(0, 1000)) ? ';' : ',');
  yield* reader.push(text);
  yield* reader.end();
}

function assertEqual({ row, choice }: RowDecision, before: RowDecision): void {
  if (before.row === row) refuse(`decides row ${row} once more`);
  if (before.choice.kind !== choice.kind || before.choice.id !== choice.id)
    refuse(`decides row ${row} unlike row ${before.row}, which is equal`);
}

/** @throws {BadLine} for a line that cannot be read, or does not fit its row */
function readDecision(review: Review, cell: (name: string) => string): RowDecision {
  const word = foldLetters(cell('decision'));
  const kind = KINDS.find((each) => WORDS[each].includes(word));
  if (kind === undefined) return refuse(`has the decision '${cleanLine(cell('decision'))}'`);
  if (!/^[1-9]\d{0,8}$/.test(cell('row'))) refuse(`has the row '${cleanLine(cell('row'))}'`);
  const [row, name, id] = [Number(cell('row')), cell('name'), cell('restaurant_id')];
  if (kind === 'other' && id === '') refuse('has no restaurant_id');
  if (id !== '' && !isId(id)) refuse(`has the restaurant_id '${cleanLine(id)}'`);
  const { rows, plan } = review.state;
  const listed = rows[row - 1];
  const equal = listed && review.contents.get(rowKeyText(plan.question(listed).key));
  if (equal === undefined) return refuse(`names row ${row}, which the list does not have`);
  const known = cleanLine(equal.key.name ?? '').trim();
  if (name !== '' && ![known, guardFormula(known)].includes(cleanLine(name).trim()))
    refuse(`names '${cleanLine(name)}', but row ${row} is '${known}'`);
  return { row, rows: equal, choice: choiceOf(kind, id, row, currentId(review, equal)) };
}

function choiceOf(kind: RowChoice['kind'], id: string, row: number, current: string | undefined): RowChoice {
  if (kind === 'other') return { kind: id === current ? 'yes' : 'other', id };
  if (kind !== 'yes') return { kind };
  if (current === undefined) refuse(`confirms row ${row}, which has no restaurant`);
  if (id !== '' && id !== current) refuse(`confirms ${id}, but row ${row} has ${current}`);
  return { kind, id: current };
}

/** Looks up restaurants of which nothing is known, and searches by their names, which finds their addresses. */
async function lookUpUnknown(
  review: Review,
  decisions: readonly RowDecision[],
  openSearch: () => Promise<PacedService>,
): Promise<void> {
  const { answers } = review;
  const isKnown = (id: string): boolean => [...answers.about(id)].some(({ record }) => record !== null);
  const isCandidate = (rows: EqualRows, id: string): boolean =>
    candidatesFor(review, rows).some(({ restaurant: { service_id } }) => service_id === id);
  let service: PacedService | undefined;
  for (const { rows, choice } of decisions) {
    const { kind, id = '' } = choice;
    if (kind !== 'other' || isKnown(id) || isCandidate(rows, id)) continue;
    service ??= await openSearch();
    answers.addLookup(id, 'basic', await service.lookup(id, 'basic'));
    const { name, address } = newestFields([...answers.about(id)]);
    const { city = '' } = rows.key;
    if (isFilled(address) || !isFilled(name) || city === '') continue;
    if (answers.find({ name, city }) === undefined) await addSearch({ name, city }, answers, service);
  }
}
