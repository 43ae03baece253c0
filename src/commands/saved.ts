import type { App } from '../app/app.ts';
import { hintLine } from '../app/hint-line.ts';
import { numberSaved } from '../app/last-results.ts';
import { checkOutput, showsNumbers, writeResult } from '../app/output.ts';
import type { Service } from '../app/service.ts';
import { type CliCommand, CliOption } from '../cli/command.ts';
import { anyOf, CHANGE, list, object, SAVED_RESTAURANT } from '../cli/schemas.ts';
import { LEVELS } from '../client/tools.ts';
import type { Level, Lookup } from '../client/types.ts';
import { EXIT_CODES, usage } from '../errors.ts';
import { again, restaurant } from '../hint.ts';
import type { Answers } from '../lists/answers.ts';
import { changesAbout } from '../lists/changes.ts';
import {
  openSaved,
  recordOf,
  type SavedRestaurant,
  savedRestaurants,
  stayWithSavedDemo,
} from '../lists/saved.ts';
import { CHANGE_COLUMNS, type Change, changesPresentation } from '../output/render/changes.ts';
import { SAVED_COLUMNS, savedPresentation } from '../output/render/find.ts';
import { plural } from '../util/format.ts';
import type { JsonObject } from '../util/json.ts';
import { parseMinGrade, refine } from './find/refine.ts';

interface SavedOptions {
  readonly minGrade?: string;
  readonly sort?: 'grade' | 'name';
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
    .about('List saved restaurants, or check them for changes', 'Sends no request without --refresh.')
    .valueOption('--min-grade <grade>', 'Filter by minimum grade', {
      read: parseMinGrade,
      example: 'B',
    })
    .valueOption('--sort <key>', 'Sort the restaurants (default: as saved)', { choices: ['grade', 'name'] })
    .addOption(
      new CliOption('--refresh', 'Look up every restaurant again and print what changed').conflicts([
        'minGrade',
        'sort',
      ]),
    )
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
      'The row numbers work as for a search: restaurant lookup 1, restaurant unsave 1. ' +
        '--refresh sends one request per restaurant within the quota, least recently checked first; restaurant ' +
        'changes prints the changes again. In a pipe, --refresh prints nothing if nothing changed.',
    )
    .action(async (options: SavedOptions) => {
      await stayWithSavedDemo(app);
      await (options.refresh ? refreshSaved(app, options) : listSaved(app, options));
    });
}

async function listSaved(app: App, { exitCode, fields, minGrade, sort }: SavedOptions): Promise<void> {
  if (exitCode !== undefined || fields !== undefined) {
    const option = exitCode === undefined ? '--fields' : '--exit-code';
    throw usage(`${option} needs --refresh`, { command: again({ '--refresh': true }) });
  }
  await checkOutput(app, 'restaurants', SAVED_COLUMNS);
  const all = savedRestaurants(openSaved(app, 'read')).map(recordOf);
  const records = refine(all, { ...(minGrade && { minGrade }), ...(sort && { sort }) }) as JsonObject[];
  await writeResult(app, { results: records }, async () => savedPresentation(records, app.context.now()));
  if (showsNumbers(app) && records.length > 0) numberSaved(app, records.map(withoutNote));
  await app.notes.note(footer(app, records.length, all.length));
}

/** The rows behind the numbers do not need the user's notes. */
const withoutNote = ({ note: _, ...record }: JsonObject): JsonObject => record;

function footer(app: App, count: number, all: number): string {
  const save = hintLine(app, { command: restaurant('save', '1') });
  if (all === 0) return `nothing is saved: after a search, ${save} saves its first result`;
  const shown = count === all ? plural(all, 'restaurant') : `${count} of ${plural(all, 'restaurant')}`;
  const refresh = hintLine(app, { command: restaurant('saved', '--refresh') });
  return showsNumbers(app) && count > 0 ? `${shown}; ${refresh} checks what changed` : shown;
}

async function refreshSaved(app: App, options: SavedOptions): Promise<void> {
  const { exitCode, fields: level = 'basic' } = options;
  await checkOutput(app, 'changes', CHANGE_COLUMNS);
  const answers = openSaved(app, 'share');
  const restaurants = leastRecentFirst(savedRestaurants(answers));
  const { openService } = await import('../app/service.ts');
  const service = await openService(app, { patience: 'minute', fresh: true });
  const { changes, failed, checked, stopped } = await lookAgain(app, service, answers, {
    restaurants,
    level,
  });
  await writeResult(app, { changes }, async () => changesPresentation(changes, app.context.now()));
  await noteChanges(app, changes, checked);
  if (stopped !== undefined) throw stopped;
  const { lookupsFailed } = await import('../app/lookup-many.ts');
  const count = checked + failed.length;
  if (count === 1 && failed[0] !== undefined) throw failed[0].error;
  if (failed.length > 0) throw lookupsFailed(app, failed, count, () => again());
  if (exitCode === true && changes.length > 0) app.exitCode = EXIT_CODES.changed;
}

/** So that each has its turn if the quota ends the run. */
function leastRecentFirst(restaurants: readonly SavedRestaurant[]): SavedRestaurant[] {
  const lastLook = ({ checkedAt, savedAt }: SavedRestaurant) => checkedAt ?? savedAt;
  return [...restaurants].sort((a, b) => lastLook(a) - lastLook(b));
}

async function noteChanges(app: App, changes: readonly Change[], checked: number): Promise<void> {
  const gone = changes.filter(({ field, after }) => field === 'gone' && after === true);
  for (const { id, name } of gone)
    await app.notes.note({
      text: `the service no longer knows ${name}; to remove it`,
      command: restaurant('unsave', name === id ? id : name),
    });
  if (changes.length === 0 && checked > 0)
    await app.notes.note(`nothing changed in ${plural(checked, 'restaurant')}`);
}

interface Refreshed {
  readonly changes: readonly Change[];
  readonly failed: readonly Lookup[];
  /** How many were looked up, or are gone. */
  readonly checked: number;
  /** Why the run stopped before every restaurant was looked up. */
  readonly stopped?: unknown;
}

async function lookAgain(
  app: App,
  service: Service,
  answers: Answers,
  { restaurants, level }: { restaurants: readonly SavedRestaurant[]; level: Level },
): Promise<Refreshed> {
  const ids = restaurants.map(({ id }) => id);
  if (ids.length === 0) return { changes: [], failed: [], checked: 0 };
  const { lookupMany } = await import('../app/lookup-many.ts');
  const { now } = app.context;
  const timed: Pick<Service, 'call'> = {
    call: async (tool, query) => ({ ...(await service.call(tool, query)), cachedAt: now() }),
  };
  const changes: Change[] = [];
  const failed: Lookup[] = [];
  let checked = 0;
  const lookUp = async (): Promise<void> => {
    for await (const outcome of lookupMany(app, timed, ids, level)) {
      const isGone = outcome.error?.code === 'not_found';
      if (outcome.error !== undefined && !isGone) {
        failed.push(outcome);
        continue;
      }
      checked += 1;
      changes.push(...(await answers.locked(() => record(answers, outcome, level, now()))));
    }
  };
  try {
    await app.notes.withSpinner(`checking ${plural(ids.length, 'restaurant')}`, lookUp());
  } catch (error) {
    return { changes, failed, checked, stopped: error };
  }
  return { changes, failed, checked };
}

/** Compares with what is stored by now, so that two runs at once do not find the same change. */
function record(
  answers: Answers,
  { restaurantId: id, output, cachedAt: at }: Lookup,
  level: Level,
  now: number,
): Change[] {
  const last = answers.lookup(id, level)?.at;
  // Another run has looked since. A time ahead comes from a clock that was wrong.
  if (at !== undefined && last !== undefined && last > at && last <= now) return [];
  const added = answers.addLookup(id, level, output ?? null);
  return changesAbout(answers, id)
    .filter(({ answer }) => answer === added)
    .map(({ answer: _, ...change }) => change);
}
