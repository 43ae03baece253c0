import type { App } from '../../app/app.ts';
import { readAllText, readArgumentFile } from '../../app/input.ts';
import { type AppError, failure } from '../../errors.ts';
import { restaurant } from '../../hint.ts';
import { guardFormula } from '../../output/csv.ts';
import { CsvReader } from '../../util/csv.ts';
import { foldLetters } from '../../util/fold.ts';
import { isFilled, type JsonObject } from '../../util/json.ts';
import { isId } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import { fieldsOf, keptResults } from '../resolve.ts';
import { rowKeyText } from '../row-key.ts';
import type { RestaurantService } from '../run.ts';
import { candidatesFor, currentId, type DoubtfulRows, rowsByContent, rowsWith } from './candidates.ts';
import type { Review } from './open.ts';
import type { Decided, DecisionKind } from './tally.ts';

/** Words for a decision, without case and accents. */
const WORDS: Readonly<Record<DecisionKind, readonly string[]>> = {
  yes: ['yes', 'y', 'ja', 'j', 'oui', 'si', 'true'],
  other: ['other', 'andere', 'anderes', 'autre', 'otro', 'otra'],
  none: ['none', 'no', 'n', 'nein', 'keine', 'keines', 'non', 'aucun', 'ninguno', 'false'],
  never: ['never', 'nie', 'jamais', 'nunca'],
};
const KINDS = Object.keys(WORDS) as DecisionKind[];
const EXAMPLE = 'row,name,decision,restaurant_id';
const MAX_PROBLEMS = 10;

interface WrittenDecision {
  readonly line: number;
  /** Number of the row in the list, from 1. */
  readonly row: number;
  /** Name in the list, to check that the row is the same; empty if it is not in the file. */
  readonly name: string;
  readonly kind: DecisionKind;
  readonly id: string;
}

type Problems = { readonly line: number; readonly what: string }[];

/** Applies decisions made elsewhere, such as on the page: all or none. @throws {AppError} `bad_input` with the bad lines */
export async function applyFile(
  app: App,
  review: Review,
  file: string,
  openSearch: () => Promise<RestaurantService>,
): Promise<readonly Decided[]> {
  const text = file === '-' ? await readAllText(app, 'decisions') : await readArgumentFile(app, file);
  const where = file === '-' ? 'stdin' : file;
  const problems: Problems = [];
  const written = readDecisions(text, review.state.rows.length, problems);
  const decided = checkAll(review, written, problems);
  if (problems.length > 0) throw cannotApply(where, problems, review);
  await lookUpOthers(review, decided, openSearch);
  for (const { rows, kind, id } of decided)
    review.answers.decide(
      rows.key,
      kind === 'never' ? { never: true } : { restaurant: kind === 'none' ? null : id },
    );
  return decided.map(({ rows, kind }) => ({ kind, rows: rows.indexes.length }));
}

function cannotApply(where: string, problems: Problems, { name }: Review): AppError {
  const inOrder = [...problems].sort((one, other) => one.line - other.line);
  const shown = inOrder.slice(0, MAX_PROBLEMS).map(({ line, what }) => `line ${line} ${what}`);
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : '';
  return failure('bad_input', `${where}: ${shown.join('; ')}${more}`, [
    { text: `nothing was changed; the columns are ${EXAMPLE}, and a decision is ${KINDS.join(', ')}` },
    { text: 'for the rows', command: restaurant('review', name, '--json') },
  ]);
}

/** @param max as many rows as the list has */
function readDecisions(text: string, max: number, problems: Problems): WrittenDecision[] {
  const start = text.replace(/^\ufeff/, '');
  const reader = new CsvReader(/^[^\r\n]*;/.test(start.slice(0, 1000)) ? ';' : ',');
  const written: WrittenDecision[] = [];
  let columns: string[] | undefined;
  function* records() {
    yield* reader.push(start);
    yield* reader.end();
  }
  for (const { cells, line } of records()) {
    if (columns === undefined) {
      columns = cells.map((cell) => cell.trim());
      if (columns.includes('row') && columns.includes('decision')) continue;
      problems.push({ line: 1, what: 'has no columns row and decision' });
      return [];
    }
    if (written.length + problems.length >= max) {
      problems.push({ line, what: `is one more than the list has rows (${max})` });
      return [];
    }
    const names = columns;
    const decision = readDecision((name) => cells[names.indexOf(name)]?.trim() ?? '', line);
    if (typeof decision === 'string') problems.push({ line, what: decision });
    else written.push(decision);
  }
  return written;
}

/** @returns the problem of a bad line */
function readDecision(cell: (name: string) => string, line: number): WrittenDecision | string {
  const word = foldLetters(cell('decision'));
  const kind = KINDS.find((each) => WORDS[each].includes(word));
  if (kind === undefined) return `has the decision '${cleanLine(cell('decision'))}'`;
  if (!/^[1-9]\d{0,8}$/.test(cell('row'))) return `has the row '${cleanLine(cell('row'))}'`;
  const id = cell('restaurant_id');
  if (kind === 'other' && id === '') return 'has no restaurant_id';
  if (id !== '' && !isId(id)) return `has the restaurant_id '${cleanLine(id)}'`;
  return { line, row: Number(cell('row')), name: cell('name'), kind, id };
}

interface CheckedDecision {
  readonly rows: DoubtfulRows;
  readonly row: number;
  readonly kind: DecisionKind;
  /** The restaurant of `yes` and `other`. */
  readonly id: string;
}

function checkAll(
  review: Review,
  written: readonly WrittenDecision[],
  problems: Problems,
): CheckedDecision[] {
  const contents = rowsByContent(review);
  const decided = new Map<string, CheckedDecision>();
  for (const each of written) {
    const row = review.state.rows[each.row - 1];
    const rows = row && rowsWith(review, review.state.plan.question(row).key, contents);
    const checked =
      rows === undefined ? `names row ${each.row}, which the list does not have` : check(rows, each);
    const text = rows === undefined ? '' : rowKeyText(rows.key);
    const problem = typeof checked === 'string' ? checked : conflict(checked, decided.get(text));
    if (problem !== undefined) problems.push({ line: each.line, what: problem });
    else if (typeof checked !== 'string' && !decided.has(text)) decided.set(text, checked);
  }
  return [...decided.values()];
}

/** @returns the problem of a decision that does not fit its row */
function check(rows: DoubtfulRows, each: WrittenDecision): CheckedDecision | string {
  const current = currentId(rows);
  const id = each.kind === 'yes' ? (current ?? '') : each.id;
  const kind = each.kind === 'other' && id === current ? 'yes' : each.kind;
  return problemOf(rows, each) ?? { rows, kind, id, row: each.row };
}

/** Equal rows have one decision. */
function conflict(
  { row, kind, id }: CheckedDecision,
  before: CheckedDecision | undefined,
): string | undefined {
  if (before === undefined) return undefined;
  if (before.row === row) return `decides row ${row} once more`;
  const isEqual = before.kind === kind && before.id === id;
  return isEqual ? undefined : `decides row ${row} unlike row ${before.row}, which is equal`;
}

function problemOf(rows: DoubtfulRows, { name, kind, id, row }: WrittenDecision): string | undefined {
  const listed = cleanLine(rows.query.name).trim();
  if (name !== '' && ![listed, guardFormula(listed)].includes(cleanLine(name).trim()))
    return `names '${cleanLine(name)}', but row ${row} is '${listed}'`;
  if (kind !== 'yes') return undefined;
  const current = currentId(rows);
  if (current === undefined) return `confirms row ${row}, which has no restaurant`;
  return id === '' || id === current ? undefined : `confirms ${id}, but row ${row} has ${current}`;
}

/** Looks up restaurants of which nothing is known, and searches by their names, which finds their addresses. */
async function lookUpOthers(
  review: Review,
  decided: readonly CheckedDecision[],
  openSearch: () => Promise<RestaurantService>,
): Promise<void> {
  const { answers } = review;
  const isKnown = (id: string): boolean => ![...answers.about(id)].every(({ record }) => record === null);
  const unknown = decided.filter(
    ({ kind, id, rows }) =>
      kind === 'other' &&
      !isKnown(id) &&
      candidatesFor(review, rows).every(({ restaurant: { service_id } }) => service_id !== id),
  );
  if (unknown.length === 0) return;
  const service = await openSearch();
  for (const { id, rows } of unknown) {
    if (isKnown(id)) continue;
    answers.addLookup(id, 'basic', await service.lookup(id, 'basic'));
    const fields: JsonObject = fieldsOf([...answers.about(id)]);
    const words = { name: String(fields.name), city: rows.query.city };
    if (isFilled(fields.address) || !isFilled(fields.name) || words.city === '') continue;
    if (answers.find(words) !== undefined) continue;
    const { results, total } = await service.find(words);
    const { kept, received } = keptResults(words, results);
    answers.addFind(words, { results: kept, received, total: Math.max(total, received) });
  }
}
