import { isLookup, isSearch, type Luck, lookupKeyOf, searchKeyOf } from './luck.ts';
import {
  type Answered,
  contentKey,
  type Decided,
  decisionOf,
  findKey,
  lookupKey,
  type RowContent,
} from './record.ts';
import { ANSWERS, LIST, type Outcome, VIEW, type World } from './world.ts';

/** A rule that the program broke. */
export class Violation extends Error {}

export function check(holds: boolean, rule: string, facts?: unknown): asserts holds {
  if (!holds) throw new Violation(facts === undefined ? rule : `${rule}: ${JSON.stringify(facts)}`);
}

const sorted = (texts: Iterable<string>): string[] => [...texts].sort();
const same = (one: Iterable<string>, other: Iterable<string>): boolean =>
  JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

/** Checks that a run lost no answer. */
export function checkNothingLost(before: Answered, after: Answered): void {
  for (const kind of ['finds', 'lookups'] as const)
    for (const key of before[kind].keys()) check(after[kind].has(key), `an answer was lost (${kind})`, key);
}

/** Checks that the decisions in the file are those that were made and not taken back. */
export function checkDecisions(made: ReadonlyMap<string, Decided>, { decisions }: Answered): void {
  const asTexts = (all: ReadonlyMap<string, Decided>) =>
    [...all].map(([key, each]) => `${key} ${each.restaurant}`);
  check(same(asTexts(made), asTexts(decisions)), 'decisions were lost or came back', {
    made: asTexts(made),
    recorded: asTexts(decisions),
  });
}

const isSearched = ({ name, city }: RowContent): boolean => name.trim() !== '' && city.trim() !== '';

/** Returns the searches that the rows still lack. */
export function dueSearches({ contents }: World, { finds, decisions }: Answered): Set<string> {
  const due = contents
    .filter(isSearched)
    .filter((row) => decisionOf(row, contents, decisions) === undefined)
    .map(findKey);
  return new Set(due.filter((key) => !finds.has(key)));
}

export const searchesOf = ({ sent }: Outcome): string[] => sent.filter(isSearch).map(searchKeyOf);
export const lookupsOf = ({ sent }: Outcome): string[] => sent.filter(isLookup).map(lookupKeyOf);

/** Checks a run without failures: it sends exactly the due requests, once. */
export function checkRequests(world: World, outcome: Outcome, before: Answered, fields?: string): void {
  const due = dueSearches(world, before);
  check(outcome.exit === 0, 'a run failed', outcome.stderr);
  check(same(searchesOf(outcome), due), 'the searches are not those that were due', {
    sent: searchesOf(outcome),
    due: [...due],
  });
  const wanted = fields === undefined ? [] : matchedIds(world).map((id) => lookupKey(id, fields));
  const lacking = new Set(wanted.filter((key) => !before.lookups.has(key)));
  check(same(lookupsOf(outcome), lacking), 'the lookups are not those that were due', {
    sent: lookupsOf(outcome),
    due: [...lacking],
  });
}

/** Checks a run of which some requests failed: a failure is not an answer, and replaces none. */
export function checkFailures(world: World, luck: Luck, outcome: Outcome, before: Answered): void {
  const failed = outcome.sent.filter((sent) => luck.fateOf(sent) === 'failed');
  check(outcome.exit === (failed.length === 0 ? 0 : 8), 'a run with failures ended badly', outcome);
  const after = world.record;
  const [searches, lookups] = [failed.filter(isSearch), failed.filter(isLookup)];
  const isReplaced =
    searches.map(searchKeyOf).some((key) => after.finds.get(key) !== before.finds.get(key)) ||
    lookups.map(lookupKeyOf).some((key) => after.lookups.get(key) !== before.lookups.get(key));
  check(!isReplaced, 'a failure was recorded as an answer', failed);
}

/** The restaurants whose details are wanted. */
const matchedIds = ({ view }: World): string[] =>
  view
    .filter(({ restaurant_status: status }) => status === 'matched' || status === 'likely')
    .map(({ restaurant_id: id = '' }) => id);

/** Checks a view: every row of the list once, in order, its own columns unchanged, with no decision on another row. */
export function checkView(world: World): void {
  const [list = '', view = ''] = [world.read(LIST), world.read(VIEW)].map((text) => text ?? '');
  const [rows, found] = [list.trimEnd().split('\n'), view.trimEnd().split('\n')];
  check(rows.length === found.length, 'the view has not every row once', {
    rows: rows.length,
    found: found.length,
  });
  for (const [index, row] of rows.entries())
    check(found[index]?.startsWith(`${row},`) === true, 'own columns were changed', {
      row,
      found: found[index],
    });
  const { contents, record } = world;
  for (const [index, row] of world.view.entries()) {
    const content = contents[index];
    if (content !== undefined) checkVerdict({ contents, record }, content, row);
  }
}

/** Checks the verdict of a row: its own decision, and none before it is answered. */
function checkVerdict(
  { contents, record }: Pick<World, 'contents' | 'record'>,
  content: RowContent,
  row: Record<string, string>,
): void {
  const { restaurant_match: match, restaurant_id: id, restaurant_status: status = '' } = row;
  const decided = decisionOf(content, contents, record.decisions);
  const expected = decided && (decided.restaurant === null ? 'rejected ' : `confirmed ${decided.restaurant}`);
  const isDecided = match === 'confirmed' || match === 'rejected';
  check(
    isDecided === (expected !== undefined) && (!isDecided || expected === `${match} ${id}`),
    'a row has not its own decision',
    { row: contentKey(content), expected, match, id },
  );
  const lacksAnswer = isSearched(content) && decided === undefined && !record.finds.has(findKey(content));
  check(lacksAnswer === ['pending', 'error'].includes(status), 'a row looks done and is not', row);
}

/** Checks that the same command again sends nothing and changes nothing. */
export async function checkAgain(world: World, words: readonly string[]): Promise<void> {
  const [view, answers] = [world.read(VIEW), world.read(ANSWERS)];
  const again = await world.enrich(words);
  check(again.exit === 0, 'a second run failed', again.stderr);
  check(again.sent.length === 0, 'a second run sent requests', again.sent);
  check(world.read(VIEW) === view, 'a second run changed the view');
  check(world.read(ANSWERS) === answers, 'a second run changed the answers');
}
