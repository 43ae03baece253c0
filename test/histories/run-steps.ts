// Steps that bring the list up to date, with good and bad luck.
import { rmSync } from 'node:fs';
import {
  check,
  checkAgain,
  checkFailures,
  checkNothingLost,
  checkRequests,
  checkView,
  dueSearches,
  lookupsOf,
  searchesOf,
} from './checks.ts';
import type { History } from './history.ts';
import { correct, insert } from './list-steps.ts';
import { badLuck, GOOD, type Luck, stoppingLuck } from './luck.ts';
import { sizesAtPlacing } from './placing.ts';
import { type Answered, findKey, lookupKey } from './record.ts';
import { ANSWERS, type Outcome, sizeOf, VIEW, type World } from './world.ts';

export async function bringUpToDate(history: History): Promise<string> {
  const { world, words, fields } = history;
  const before = world.record;
  const outcome = await world.enrich(words);
  checkRequests(world, outcome, before, fields);
  checkNothingLost(before, world.record);
  checkView(world);
  await checkAgain(world, words);
  return `${outcome.sent.length} requests`;
}

/** Of a run that fails here and there, every answer is kept, and nothing is sent that was not due. */
export async function runWithFailures(history: History): Promise<string> {
  haveDue(history);
  const { world, words, random } = history;
  const before = world.record;
  const luck = badLuck(random);
  const outcome = await world.enrich(words, luck);
  checkSubset(history, outcome, before);
  checkFailures(world, luck, outcome, before);
  checkView(world);
  return `exit ${outcome.exit}, ${outcome.sent.length} requests`;
}

function checkSubset({ world }: History, outcome: Outcome, before: Answered): void {
  const due = dueSearches(world, before);
  const searches = searchesOf(outcome);
  check(new Set(searches).size === searches.length, 'a search was sent twice', searches);
  check(
    searches.every((key) => due.has(key)),
    'a search was sent that was not due',
    { searches, due: [...due] },
  );
  check(
    lookupsOf(outcome).every((key) => !before.lookups.has(key)),
    'a lookup was sent again',
    outcome.sent,
  );
  checkNothingLost(before, world.record);
}

const MAX_TRIES = 5;

/** Changes the list until a search is due. */
function haveDue(history: History): void {
  const { world, random } = history;
  for (let tries = 0; tries < MAX_TRIES && dueSearches(world, world.record).size === 0; tries += 1)
    random.pick([insert, correct])(history);
}

const stopping = ({ world, random }: History): Luck =>
  stoppingLuck(random, [...dueSearches(world, world.record)]);

export async function stopInBetween(history: History): Promise<string> {
  haveDue(history);
  const { world, words } = history;
  const before = world.record;
  const outcome = await world.enrich(words, stopping(history));
  checkSubset(history, outcome, before);
  check([0, 130].includes(outcome.exit), 'a stopped run ended badly', outcome.stderr);
  checkView(world);
  return `exit ${outcome.exit}`;
}

/** As a kill leaves it: a part of what the run appended to the answers, and the view that was there at that moment. */
export async function killAtByte(history: History): Promise<string> {
  haveDue(history);
  const { world, words, random } = history;
  const [view, before] = [world.read(VIEW), Buffer.from(world.read(ANSWERS) ?? '')];
  const known = world.record;
  const luck = random.chance(0.5) ? stopping(history) : GOOD;
  const sizes = await sizesAtPlacing(
    VIEW,
    () => sizeOf(world.at(ANSWERS)),
    () => world.enrich(words, luck),
  );
  const after = Buffer.from(world.read(ANSWERS) ?? '');
  const anyByte = before.length + random.below(after.length - before.length + 1);
  const size = random.chance(0.3) ? (sizes[0] ?? anyByte) : anyByte;
  world.write(ANSWERS, after.subarray(0, size));
  const isPlaced = sizes.some((at) => at < size) || (sizes.includes(size) && random.chance(0.5));
  if (!isPlaced && view === undefined) rmSync(world.at(VIEW), { force: true });
  else if (!isPlaced) world.write(VIEW, view ?? '');
  checkNothingLost(known, world.record);
  return `${size - before.length} of ${after.length - before.length} bytes, ${isPlaced ? 'new' : 'old'} view`;
}

/** A run that is killed from outside keeps what it knew, and its lock holds up nobody. */
export async function killProcess(history: History): Promise<string> {
  const { world, words, random } = history;
  const known = world.record;
  const signal = await world.enrichAndKill(words, 1 + random.below(4));
  checkNothingLost(known, world.record);
  return signal ?? 'ended before';
}

/** A row whose refresh fails keeps its verdict, and no failure replaces an answer. */
async function refreshWithFailures({ world, words, random }: History): Promise<void> {
  const [before, verdicts] = [world.record, verdictsOf(world)];
  const luck = badLuck(random);
  const outcome = await world.enrich([...words, '--older', '0s'], luck);
  checkFailures(world, luck, outcome, before);
  check(verdictsOf(world) === verdicts, 'a failed refresh changed a verdict', {
    before: verdicts,
    after: verdictsOf(world),
  });
  checkView(world);
}

const verdictsOf = ({ view }: World): string =>
  JSON.stringify(view.map((row) => [row.restaurant_status, row.restaurant_match, row.restaurant_id]));

/** Asks again after the service has changed: what is matched by id, what is rejected never, the others by name. */
export async function refresh(history: History): Promise<string> {
  const { world, words, random } = history;
  await bringUpToDate(history);
  const before = world.view;
  const { grade } = random.pick(world.data);
  Object.assign(random.pick(world.data), { grade: grade === 'A' ? 'C' : 'A' });
  if (random.chance(0.5)) await refreshWithFailures(history);
  const outcome = await world.enrich([...words, '--older', '0s']);
  check(outcome.exit === 0, 'a refresh failed', outcome.stderr);
  const { finds } = world.record;
  const rejected = before.filter(({ restaurant_match: match }) => match === 'rejected');
  const matched = before.filter(({ restaurant_status: status }) => status === 'matched');
  const level = history.fields ?? 'basic';
  const wanted = new Set(matched.map(({ restaurant_id: id = '' }) => lookupKey(id, level)));
  const lookups = lookupsOf(outcome);
  check(
    [...wanted].every((key) => lookups.includes(key)),
    'a matched row was not looked up',
    { lookups, wanted: [...wanted] },
  );
  check(new Set(lookups).size === lookups.length, 'a restaurant was looked up twice', lookups);
  const own = new Set(
    before
      .filter((row) => !matched.includes(row) && !rejected.includes(row))
      .map(({ name = '', city = '' }) => findKey({ name, city })),
  );
  check(
    searchesOf(outcome).every((key) => own.has(key)),
    'a search was sent for a decided row',
    outcome.sent,
  );
  check(
    [...own].filter((key) => finds.has(key)).every((key) => searchesOf(outcome).includes(key)),
    'a row was not searched again',
    {
      sent: outcome.sent,
      own: [...own],
    },
  );
  checkView(world);
  await checkAgain(world, words);
  return `${outcome.sent.length} requests`;
}
