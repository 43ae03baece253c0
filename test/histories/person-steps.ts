// Steps of a person who decides, undoes, edits, and copies.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, checkView, lookupsOf, searchesOf } from './checks.ts';
import type { History } from './history.ts';
import {
  contentKey,
  type Decided,
  decisionsIn,
  lastDecision,
  type RowContent,
  readRecord,
  undoOf,
} from './record.ts';
import { bringUpToDate } from './run-steps.ts';
import { ANSWERS, VIEW } from './world.ts';

interface ReviewRow {
  readonly row: number;
  /** The cells of the list. */
  readonly list: RowContent;
  readonly candidates: readonly { readonly service_id: string }[];
}

/** Rows that are decided at a time. */
const MAX_DECIDED = 2;

async function haveView(history: History): Promise<void> {
  if (history.world.read(VIEW) === undefined) await bringUpToDate(history);
}

/** Decides some doubtful rows, as the JSON of `review` lists them. */
export async function decide(history: History, cwd = history.world.folder): Promise<string> {
  const { world, random } = history;
  await haveView(history);
  const listed = await world.run(['review', VIEW, '--json', '--not-found'], undefined, cwd);
  check(listed.exit === 0, 'a review failed', listed.stderr);
  check(listed.sent.length === 0, 'the list of a review sent requests', listed.sent);
  const rows = JSON.parse(listed.stdout) as ReviewRow[];
  const found = rows.filter(({ candidates }) => candidates.length > 0);
  const offered = found.length > 0 && random.chance(0.7) ? found : rows;
  const chosen = random.shuffled(offered).slice(0, 1 + random.below(MAX_DECIDED));
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
    history.made = [...history.made, { content, restaurant }];
  return lines.join('; ');
}

/** Undoes the last decision that applies to a row of the list, be it of an earlier command. */
export async function undoDecision(history: History): Promise<string> {
  if (!history.made.some(({ undo }) => undo === undefined)) await decide(history);
  const { world, made } = history;
  const before = world.record.decisions;
  const last = lastDecision(world.listed, before);
  const outcome = await world.run(['review', VIEW, '--undo']);
  check(outcome.exit === (last === undefined ? 2 : 0), 'an undo ended badly', { last, outcome });
  const { decisions } = world.record;
  const changed = [...before.keys()].filter((key) => decisions.get(key)?.id !== before.get(key)?.id);
  const expected = last === undefined ? [] : [contentKey(last.content)];
  check(changed.join() === expected.join(), 'another decision was undone', { changed, expected });
  if (last === undefined) return 'nothing to undo';
  const undone = made.findLast(
    ({ content, undo }) => undo === undefined && expected.includes(contentKey(content)),
  );
  const undo = undoOf(world.read(ANSWERS) ?? '', last.id);
  history.made = made.map((each) => (each === undone ? { ...each, undo } : each));
  return expected.join();
}

/** Takes an undo back with a line of another program: there is no command for that. */
export async function undoTheUndo(history: History): Promise<string> {
  if (!history.made.some(({ undo }) => undo !== undefined)) await undoDecision(history);
  const { world, random, made } = history;
  const undone = made.filter(({ undo }) => undo !== undefined);
  const answers = world.read(ANSWERS) ?? '';
  if (undone.length === 0 || !answers.endsWith('\n')) return 'nothing to undo';
  const chosen = random.pick(undone);
  world.now += 1000;
  const line = { id: `redo-${world.now}`, at: new Date(world.now).toISOString(), undo: chosen.undo };
  world.write(ANSWERS, `${answers}${JSON.stringify(line)}\n`);
  history.made = made.map((each) => (each === chosen ? { ...each, undo: undefined } : each));
  return contentKey(chosen.content);
}

/** Another machine decides with a copy; its answers come back in either order, some lines twice. */
export async function mergeMachine(history: History): Promise<string> {
  const { world, random, words } = history;
  await bringUpToDate(history);
  const other = join(world.folder, '..', `other-${history.log.length}`);
  mkdirSync(other);
  cpSync(world.folder, other, { recursive: true });
  if (random.chance(0.5)) await refreshBoth(history, other);
  const { now } = world;
  const { length } = history.made;
  const earlier = new Set(decisionsIn(world.read(ANSWERS) ?? '').map(({ id }) => id));
  await decide(history);
  const last = world.now;
  // Both may decide in the same millisecond.
  const isTied = random.chance(0.5);
  if (isTied) world.now = now;
  const detail = await decide(history, other);
  world.now = Math.max(world.now, last);

  const [own, theirs] = [world.read(ANSWERS) ?? '', readFileSync(join(other, ANSWERS), 'utf8')];
  const [before, made] = [history.made.slice(0, length), history.made.slice(length)];
  if (isTied) {
    // Their ids say which counts; two that are equal may be one line, or two that are undone one by one.
    const lines = decisionsIn(own + theirs).filter(({ id }) => !earlier.has(id));
    const textsOf = (all: readonly Decided[]) =>
      [...new Set(all.map(({ content, restaurant }) => `${contentKey(content)} ${restaurant}`))]
        .sort()
        .join();
    check(textsOf(lines) === textsOf(made), 'decisions were lost', { lines, made });
    history.made = [...before, ...lines];
  }
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

/** Each machine asks again after the service has changed: the answers of the second are the newer ones. */
async function refreshBoth({ world, random, words }: History, other: string): Promise<void> {
  for (const cwd of random.shuffled([world.folder, other])) {
    for (const restaurant of world.data) Object.assign(restaurant, { grade: random.pick(['A', 'B', 'C']) });
    const outcome = await world.enrich([...words, '--older', '0s'], undefined, cwd);
    check(outcome.exit === 0, 'a refresh of one of two machines failed', outcome.stderr);
  }
}

/** A cell that a person edits in the view is kept, and nothing is sent, until they say otherwise. */
export async function editView(history: History): Promise<string> {
  const { world, random, words } = history;
  await haveView(history);
  const view = world.read(VIEW) ?? '';
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
