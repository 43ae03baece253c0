// One random history of a list: steps of a person, of the service, and of bad luck, with checks after each.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  check,
  checkAgain,
  checkDecisions,
  checkNothingLost,
  checkRequests,
  checkView,
  dueSearches,
  lookupsOf,
  searchesOf,
} from './checks.ts';
import { Random } from './random.ts';
import {
  type Answered,
  contentKey,
  type Decided,
  findKey,
  lookupKey,
  type RowContent,
  readRecord,
} from './record.ts';
import { ANSWERS, type ListRow, type Outcome, VIEW, World } from './world.ts';

const NAMES = [
  'Nopa',
  ' Nopa',
  'Golden Crane',
  'Café Müßiggang',
  'Tide',
  'Anker GmbH',
  '香',
  'Nobody, "here"',
  '',
];
const CITIES = ['Testville', 'Testville', 'Øst', 'Nowhere', ''];
const ADDRESSES = ['', '1 Main St', '2 Main St', '9 Elsewhere Rd'];
const MAX_ROWS = 8;

type Step = (history: History) => Promise<string | undefined> | string | undefined;

interface ReviewRow {
  readonly row: number;
  /** The cells of the list. */
  readonly list: RowContent;
  readonly candidates: readonly { readonly service_id: string }[];
}

interface Decision extends Decided {
  /** Decisions of one command have the same time. */
  readonly time: number;
}

/** The decisions that were made, the latest last. Those of a row replace each other. */
type Made = readonly Decision[];

export class History {
  readonly random: Random;
  readonly world: World;
  readonly #steps: readonly NamedStep[];
  readonly log: string[] = [];
  made: Made = [];
  /** Options of the list that stay the same from run to run. */
  words: readonly string[] = [];
  fields: string | undefined;

  /** @param steps the steps to choose from. @param start the time at which it begins */
  constructor(seed: number, steps: readonly NamedStep[] = STEPS, start?: number) {
    this.random = new Random(seed);
    this.world = new World(this.random, start);
    this.#steps = steps;
  }

  get decisions(): Answered['decisions'] {
    return new Map(this.made.map((each) => [contentKey(each.content), each]));
  }

  /** @throws {Violation} */
  async play(count: number): Promise<void> {
    await this.world.open();
    try {
      for (let step = 0; step < 3; step += 1) insert(this);
      for (let step = 0; step < count; step += 1) {
        const [name, act] = this.random.pick(this.#steps);
        const detail = await act(this);
        this.log.push(detail === undefined ? name : `${name} (${detail})`);
        checkDecisions(this.decisions, this.world.record);
      }
      await bringUpToDate(this);
    } finally {
      await this.world.close();
      rmSync(this.world.folder, { recursive: true, force: true });
    }
  }
}

function newRow({ random }: History): ListRow {
  return {
    name: random.pick(NAMES),
    city: random.pick(CITIES),
    address: random.pick(ADDRESSES),
    note: `note ${random.below(1000)}`,
  };
}

function insert(history: History): string {
  const { world, random } = history;
  if (world.rows.length >= MAX_ROWS) return 'full';
  const row = newRow(history);
  world.rows.splice(random.below(world.rows.length + 1), 0, row);
  return findKey(row);
}

function remove({ world, random }: History): undefined {
  if (world.rows.length > 1) world.rows.splice(random.below(world.rows.length), 1);
}

function reorder({ world, random }: History): undefined {
  world.rows = random.shuffled(world.rows);
}

function duplicate({ world, random }: History): undefined {
  if (world.rows.length < MAX_ROWS) world.rows.push({ ...random.pick(world.rows), note: 'again' });
}

function correct(history: History): string {
  const { world, random } = history;
  const index = random.below(world.rows.length);
  const row = world.rows[index] ?? newRow(history);
  const { name, city, address } = newRow(history);
  const corrected = { ...row, ...random.pick([{ name }, { city }, { address }]) };
  world.rows[index] = corrected;
  return findKey(corrected);
}

function toggleColumn({ world }: History): string {
  world.hasAddress = !world.hasAddress;
  return world.hasAddress ? 'added' : 'removed';
}

async function bringUpToDate(history: History): Promise<string> {
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
async function runWithFailures(history: History): Promise<string> {
  const { world, words } = history;
  const before = world.record;
  const known = world.read(VIEW);
  world.failures = 0.5;
  const outcome = await world.enrich(words);
  world.failures = 0;
  checkSubset(history, outcome, before);
  check([0, 8].includes(outcome.exit), 'a run with failures ended badly', outcome.stderr);
  if (known === undefined || outcome.exit === 8) checkView(world);
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

async function stopAtRequest(history: History): Promise<string> {
  const { world, words, random } = history;
  const before = world.record;
  const outcome = await world.enrich(words, 1 + random.below(4));
  checkSubset(history, outcome, before);
  check([0, 130].includes(outcome.exit), 'a stopped run ended badly', outcome.stderr);
  return `exit ${outcome.exit}`;
}

/** As a kill leaves it: a part of what the run appended to the answers, and the old view. */
async function killAtByte(history: History): Promise<string> {
  const { world, words, random } = history;
  const [view, before] = [world.read(VIEW), Buffer.from(world.read(ANSWERS) ?? '')];
  const known = world.record;
  await world.enrich(words, random.chance(0.5) ? 1 + random.below(4) : undefined);
  const after = Buffer.from(world.read(ANSWERS) ?? '');
  const size = before.length + random.below(after.length - before.length + 1);
  world.write(ANSWERS, after.subarray(0, size));
  if (view === undefined) rmSync(world.at(VIEW), { force: true });
  else world.write(VIEW, view);
  checkNothingLost(known, world.record);
  return `${size - before.length} of ${after.length - before.length} bytes`;
}

/** A run that is killed from outside keeps what it knew, and its lock holds up nobody. */
async function killProcess(history: History): Promise<string> {
  const { world, words, random } = history;
  const known = world.record;
  const signal = await world.enrichAndKill(words, 1 + random.below(4));
  checkNothingLost(known, world.record);
  return signal ?? 'ended before';
}

/** Steps of histories in which processes are killed. */
export const STEPS_WITH_KILLS: readonly NamedStep[] = [
  ['insert', insert],
  ['insert', insert],
  ['correct', correct],
  ['run', bringUpToDate],
  ['decide', (history) => decide(history)],
  ['kill -9', killProcess],
  ['kill -9', killProcess],
];

/** Decides some doubtful rows, as the JSON of `review` lists them. */
async function decide(history: History, cwd = history.world.folder): Promise<string> {
  const { world, random } = history;
  const listed = await world.run(['review', VIEW, '--json', '--not-found'], undefined, cwd);
  if (listed.exit !== 0) return `exit ${listed.exit}`;
  check(listed.sent.length === 0, 'the list of a review sent requests', listed.sent);
  const rows = JSON.parse(listed.stdout) as ReviewRow[];
  const chosen = random.shuffled(rows).slice(0, 1 + random.below(2));
  const contents = new Map<number, Decided>();
  for (const { row, list, candidates } of chosen) {
    const id = candidates.length > 0 && random.chance(0.7) ? random.pick(candidates).service_id : null;
    const { name, city, address } = list;
    contents.set(row, {
      content: { name, city, ...(address === undefined ? {} : { address }) },
      restaurant: id,
    });
  }
  // Equal rows share a decision: the file of decisions names one of them.
  const own = new Map([...contents].map(([row, each]) => [contentKey(each.content), { row, ...each }]));
  if (own.size === 0) return 'nothing to decide';
  const lines = [...own.values()].map(({ row, restaurant }) =>
    restaurant === null ? `${row},none,` : `${row},other,${restaurant}`,
  );
  writeFileSync(join(cwd, 'decisions.csv'), `row,decision,restaurant_id\n${lines.join('\n')}\n`);
  const outcome = await world.run(['review', VIEW, '--apply', 'decisions.csv'], undefined, cwd);
  check(outcome.exit === 0, 'decisions could not be applied', outcome.stderr);
  for (const { content, restaurant } of own.values())
    history.made = [...history.made, { content, restaurant, time: world.now }];
  return lines.join('; ');
}

async function undoDecision(history: History): Promise<string> {
  const { world } = history;
  if (world.read(VIEW) === undefined || history.made.length === 0) return 'nothing to undo';
  const before = world.record.decisions;
  const outcome = await world.run(['review', VIEW, '--undo']);
  if (outcome.exit !== 0) return `exit ${outcome.exit}: ${outcome.stderr}`;
  const changed = [...before.keys()].filter(
    (key) => world.record.decisions.get(key)?.restaurant !== before.get(key)?.restaurant,
  );
  const last = history.made.at(-1);
  const latest = history.made.filter(({ time }) => time === last?.time);
  const undone = latest.find(({ content }) => changed.includes(contentKey(content))) ?? last;
  check(
    undone !== undefined && changed.every((key) => key === contentKey(undone.content)),
    'another decision was undone',
    { changed, last },
  );
  history.made = history.made.filter((each) => each !== undone);
  return changed.join();
}

/** Asks again after the service has changed: what is matched by id, what is rejected never, the others by name. */
async function refresh(history: History): Promise<string> {
  const { world, words, random } = history;
  await bringUpToDate(history);
  const before = world.view;
  const { grade } = random.pick(world.data);
  Object.assign(random.pick(world.data), { grade: grade === 'A' ? 'C' : 'A' });
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

/** Another machine decides with a copy; its answers come back in either order, some lines twice. */
async function mergeMachine(history: History): Promise<string> {
  const { world, random, words } = history;
  if (world.read(VIEW) === undefined || world.read(ANSWERS) === undefined) return 'nothing to copy';
  await bringUpToDate(history);
  const other = join(world.folder, '..', `other-${history.log.length}`);
  mkdirSync(other);
  cpSync(world.folder, other, { recursive: true });
  await decide(history);
  const detail = await decide(history, other);

  const [own, theirs] = [world.read(ANSWERS) ?? '', readFileSync(join(other, ANSWERS), 'utf8')];
  const views: (string | undefined)[] = [];
  const view = world.read(VIEW) ?? '';
  for (const text of random.shuffled([own + theirs, theirs + own])) {
    world.write(ANSWERS, text);
    world.write(VIEW, view);
    const outcome = await world.enrich(words);
    check(outcome.exit === 0, 'a run with merged answers failed', outcome.stderr);
    const merged = readRecord(text);
    const isNew = lookupsOf(outcome).every((key) => !merged.lookups.has(key));
    check(searchesOf(outcome).length === 0 && isNew, 'merged answers were asked again', outcome.sent);
    views.push(world.read(VIEW));
  }
  check(views[0] === views[1], 'the order of merging changes the view');
  checkView(world);
  return detail;
}

/** A cell that a person edits in the view is kept, and nothing is sent, until they say otherwise. */
async function editView(history: History): Promise<string> {
  const { world, random, words } = history;
  const view = world.read(VIEW);
  if (view === undefined) return 'no view';
  const edited = view.replace(/note \d+/, 'edited by hand');
  if (edited === view) return 'nothing to edit';
  world.write(VIEW, edited);
  const outcome = await world.enrich(words);
  check(outcome.exit === 2, 'an edited view was not refused', outcome);
  check(world.read(VIEW) === edited, 'a hand edit was lost');
  check(outcome.sent.length === 0, 'a refused run sent requests', outcome.sent);
  if (random.chance(0.5)) world.write(VIEW, view);
  else {
    const forced = await world.enrich([...words, '--force']);
    check(forced.exit === 0, '--force failed', forced.stderr);
    checkView(world);
  }
  return 'refused';
}

function changeOptions(history: History): string {
  history.fields = history.fields === undefined ? 'standard' : undefined;
  history.words = history.fields === undefined ? [] : ['--fields', history.fields];
  return history.words.join(' ');
}

export type NamedStep = readonly [string, Step];

export const STEPS: readonly NamedStep[] = [
  ['insert', insert],
  ['delete', remove],
  ['sort', reorder],
  ['duplicate', duplicate],
  ['correct', correct],
  ['column', toggleColumn],
  ['run', bringUpToDate],
  ['run', bringUpToDate],
  ['failures', runWithFailures],
  ['stop', stopAtRequest],
  ['kill', killAtByte],
  ['decide', (history) => decide(history)],
  ['decide', (history) => decide(history)],
  ['undo', undoDecision],
  ['refresh', refresh],
  ['merge', mergeMachine],
  ['edit', editView],
  ['options', changeOptions],
];
