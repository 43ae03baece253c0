import type { App } from '../app/app.ts';
import { hintOf } from '../app/hints.ts';
import { serviceName } from '../app/last-results.ts';
import { checkOutput, writeResult } from '../app/output.ts';
import { writesToTerminal } from '../app/output-file.ts';
import { outputFormat } from '../app/output-format.ts';
import { runServiceCommand } from '../app/request.ts';
import { namedBy, nameOf, namesOf, notSaved, recordOf, savedStore, shownHere } from '../app/saved.ts';
import type { Service } from '../app/service.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyOf, CHANGE, list, object, SAVED_RESTAURANT } from '../cli/schemas.ts';
import { LEVELS, plannedCall, TOOLS } from '../client/tools.ts';
import type { Level, Lookup } from '../client/types.ts';
import { EXIT_CODES, usage } from '../errors.ts';
import { again, restaurant } from '../hint.ts';
import { CHANGE_COLUMNS, changesPresentation } from '../output/render/changes.ts';
import { SAVED_COLUMNS, savedPresentation } from '../output/render/find.ts';
import { parseSince, type Since } from '../settings/values.ts';
import type { Revision, SavedRestaurant, SavedStore } from '../storage/saved-store.ts';
import { type Change, fieldChanges } from '../util/changes.ts';
import { plural } from '../util/format.ts';
import type { JsonObject } from '../util/json.ts';

interface SavedOptions {
  readonly refresh?: true;
  readonly exitCode?: true;
  readonly fields?: Level;
}

const SAVED_OUTPUT = anyOf(object({ results: list(SAVED_RESTAURANT) }), {
  ...object({ changes: list(CHANGE) }),
  description: 'with --refresh',
});

export function registerSaved(command: CliCommand, app: App): void {
  command
    .about('List saved restaurants, or check what changed', 'Sends no request without --refresh.')
    .option('--refresh', 'Look up every restaurant again and print what changed')
    .option('--exit-code', 'With --refresh: exit with 10 on changes')
    .valueOption('--fields <level>', 'With --refresh: level of detail', {
      choices: LEVELS,
      defaultText: 'basic',
    })
    .usesOptions('service', 'request', 'json', 'records', 'file', 'page')
    .outputSchema(SAVED_OUTPUT)
    .examples(
      'restaurant saved',
      'restaurant saved --refresh',
      'restaurant saved --refresh --exit-code --quiet',
    )
    .notes(
      '--refresh sends one request per restaurant within the quota, least recently checked first, and ' +
        'records the changes; restaurant changes prints them again. In a pipe, it prints nothing if nothing changed. ' +
        'With another level than last time, only the fields that both levels have are compared.',
    )
    .action((options: SavedOptions) =>
      options.refresh ? refreshSaved(app, options) : listSaved(app, options),
    );
}

async function listSaved(app: App, { exitCode, fields }: SavedOptions): Promise<void> {
  if (exitCode !== undefined || fields !== undefined) {
    const option = exitCode === undefined ? '--fields' : '--exit-code';
    throw usage(`${option} needs --refresh`, { command: again({ '--refresh': true }) });
  }
  await checkOutput(app, 'restaurants', SAVED_COLUMNS);
  const records = shownHere(app, savedStore(app).read()).map(recordOf);
  await writeResult(app, { results: records }, async () => savedPresentation(records, app.context.now()));
  await app.notes.note(footer(app, records.length));
}

function footer(app: App, count: number): string {
  const find = hintOf(app, { command: restaurant('save', '1') });
  if (count === 0) return `nothing is saved: after a search, ${find} saves its first result`;
  const check = `${plural(count, 'restaurant')}; ${hintOf(app, { command: restaurant('saved', '--refresh') })} checks what changed`;
  return writesToTerminal(app) && outputFormat(app) === 'table' ? check : plural(count, 'restaurant');
}

async function refreshSaved(app: App, { exitCode, fields: level = 'basic' }: SavedOptions): Promise<void> {
  const store = savedStore(app);
  await runServiceCommand(app, {
    columns: CHANGE_COLUMNS,
    output: 'changes',
    service: { paced: true, fresh: true },
    plan: () => restaurantsToCheck(app, store),
    preview: (restaurants) => restaurants.map(({ id }) => plannedCall(TOOLS.lookup, { id, level })),
    send: (service, restaurants) => lookAgain(app, service, store, { restaurants, level }),
    async write({ changes, outcomes, stopped }, restaurants) {
      await writeResult(app, { changes }, async () => changesPresentation(changes, app.context.now()));
      const checked = plural(restaurants.length, 'restaurant');
      if (changes.length === 0) await app.notes.note(`nothing changed in ${checked}`);
      if (stopped !== undefined) throw stopped;
      await reportFailures(outcomes);
      if (exitCode === true && changes.length > 0) app.exitCode = EXIT_CODES.changed;
    },
  });
}

/** Those of this run's service, the one last checked longest ago first: so each has its turn if the quota ends the run. */
async function restaurantsToCheck(app: App, store: SavedStore): Promise<SavedRestaurant[]> {
  const all = shownHere(app, store.read());
  const service = all.length === 0 ? '' : serviceName(app);
  const here = all.filter((one) => one.service === service);
  const others = all.length - here.length;
  if (others > 0) {
    await app.notes.warn(`${plural(others, 'restaurant')} of another service: save again to check here`);
  }
  const lastLook = ({ checked_at, saved_at }: SavedRestaurant) => checked_at ?? saved_at;
  return here.sort((a, b) => (lastLook(a) < lastLook(b) ? -1 : 1));
}

async function lookAgain(
  app: App,
  service: Service,
  store: SavedStore,
  { restaurants, level }: { restaurants: readonly SavedRestaurant[]; level: Level },
) {
  const ids = restaurants.map(({ id }) => id);
  if (ids.length === 0) return { changes: [], outcomes: [] };
  const { lookupMany } = await import('../app/lookup-many.ts');
  const { now } = app.context;
  const timed: Pick<Service, 'call'> = {
    call: async (tool, query) => ({ ...(await service.call(tool, query)), cachedAt: now() }),
  };
  const outcomes: Lookup[] = [];
  /** Why the run stopped before every restaurant was looked up. */
  let stopped: unknown;
  try {
    await app.notes.withSpinner(`checking ${plural(ids.length, 'restaurant')}`, async () => {
      for await (const outcome of lookupMany(app, timed, ids, level)) outcomes.push(outcome);
    });
  } catch (error) {
    stopped = error;
  }
  const { changes = [] } = await store.update((saved) => withLooks(saved, outcomes, level, now()));
  return { changes, outcomes, stopped };
}

/** Compares under the lock with what is stored by then, so that two runs at once do not find the same change. */
function withLooks(
  saved: readonly SavedRestaurant[],
  outcomes: readonly Lookup[],
  level: Level,
  now: number,
): Revision {
  const byId = new Map(outcomes.map((outcome) => [outcome.restaurantId, outcome]));
  const changes: Change[] = [];
  const restaurants = saved.map((one) => {
    const { output, cachedAt: at = now } = byId.get(one.id) ?? {};
    const last = Date.parse(one.checked_at ?? one.saved_at);
    // Another run has looked since. A time ahead comes from a clock that was wrong.
    const isOld = last > at && last <= now;
    if (output === undefined || isOld) return one;
    const when = new Date(at).toISOString();
    const { id } = one;
    changes.push(
      ...differences(one, output, level).map((each) => ({ when, id, name: nameOf(one), ...each })),
    );
    return { ...one, details: output, fields: level, checked_at: when };
  });
  return { restaurants, changes };
}

/** The responses of another level, or of a search, have other fields. */
function differences({ details, fields, summary = {} }: SavedRestaurant, output: JsonObject, level: Level) {
  if (fields === level) return fieldChanges(details, output);
  const before = details ?? summary;
  const shared = Object.keys(output).filter((key) => Object.hasOwn(before, key));
  const some = (record: JsonObject) => Object.fromEntries(shared.map((key) => [key, record[key]]));
  return fieldChanges(some(before), some(output));
}

async function reportFailures(outcomes: readonly Lookup[]): Promise<void> {
  const [first, ...more] = outcomes.flatMap(({ error }) => error ?? []);
  if (first === undefined) return;
  const { lookupsFailed } = await import('../app/lookup-many.ts');
  throw outcomes.length === 1 ? first : lookupsFailed([first, ...more], outcomes.length);
}

export function registerChanges(command: CliCommand, app: App): void {
  command
    .about('Print the recorded changes of saved restaurants', 'Sends no request.')
    .argument('[id...]', 'ID or its beginning, or name')
    .completeWith('id', 'saved')
    .valueOption('--since <t>', 'Only changes since 7d ago, or 2026-11-01', {
      read: parseSince,
      example: '7d',
    })
    .usesOptions('json', 'records', 'file')
    .outputSchema(object({ changes: list(CHANGE) }))
    .examples('restaurant changes --since 7d', 'restaurant changes --since 2026-11-01 --json')
    .notes('restaurant saved --refresh records changes. restaurant status shows where they are kept.')
    .action((words: string[], { since }: { since?: Since }) => printChanges(app, words, since));
}

async function printChanges(app: App, words: readonly string[], since: Since | undefined): Promise<void> {
  await checkOutput(app, 'changes', CHANGE_COLUMNS);
  const now = app.context.now();
  const start = since === undefined ? 0 : (since.at ?? now - since.ago);
  const store = savedStore(app);
  const all = store.changes();
  const unrecorded = words.filter((word) => namedBy(word, all).length === 0);
  const saved = unrecorded.length === 0 ? [] : namesOf(store.read());
  const stray = unrecorded.find((word) => namedBy(word, saved).length === 0);
  if (stray !== undefined) throw notSaved(stray);
  const named = new Set(words.flatMap((word) => namedBy(word, all)));
  const changes = all.filter(
    (change) => Date.parse(change.when) >= start && (words.length === 0 || named.has(change)),
  );
  await writeResult(app, { changes }, async () => changesPresentation(changes, now));
  if (changes.length === 0) await app.notes.note('no recorded changes');
}
