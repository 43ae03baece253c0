import type { App } from '../app/app.ts';
import { lastSearch, serviceName } from '../app/last-results.ts';
import { writeText } from '../app/output.ts';
import { cachedDetails } from '../app/responses.ts';
import { namedBy, nameOf, namesOf, notSaved, recordOf, savedStore } from '../app/saved.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, SAVED_RESTAURANT, text } from '../cli/schemas.ts';
import type { Level } from '../client/types.ts';
import { AppError, usage } from '../errors.ts';
import { again, restaurant } from '../hint.ts';
import type { SavedRestaurant } from '../storage/saved-store.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { cleanLine } from '../util/text.ts';

interface SaveOptions {
  readonly note?: string;
}

export function registerSave(command: CliCommand, app: App): void {
  command
    .about('Save restaurants, to list and watch them')
    .argument('<id...>', 'ID, row number, range (1-3), or name, as for lookup')
    .completeWith('id', 'row')
    .valueOption('--note <text>', 'Note to keep (empty removes it)')
    .usesOptions('service', 'request', 'json')
    .outputSchema(object({ saved: list(SAVED_RESTAURANT) }))
    .examples('restaurant save 1 --note "for the anniversary" --demo')
    .notes(
      'A row of your last search is saved as it was found, without a request. Any other restaurant is looked up once. ' +
        'To change a note, save the restaurant again.',
    )
    .action((words: string[], options: SaveOptions) => save(app, words, options));
}

async function save(app: App, words: readonly string[], { note }: SaveOptions): Promise<void> {
  if (note !== undefined && app.secrets.redact(note) !== note) {
    throw usage('the note contains an API key', { command: again({}, { without: ['--note'] }) });
  }
  const { selectRestaurants } = await import('./lookup/ids.ts');
  const { ids } = await selectRestaurants(app, words);
  const store = savedStore(app);
  const service = serviceName(app);
  const earlier = store.read().filter((one) => one.service === service);
  const known = ids.flatMap(
    (id) => earlier.find((one) => one.id === id) ?? knownRestaurant(app, service, id) ?? [],
  );
  const { received, failed } = await lookUp(
    app,
    ids.filter((id) => known.every((one) => one.id !== id)),
  );
  const chosen = [...known, ...received].map((one) => withNote(one, note));
  if (chosen.length > 0)
    await store.update((restaurants) => ({ restaurants: merged(restaurants, chosen, note) }));
  await writeText(app, { saved: chosen.map(recordOf) }, () =>
    chosen.map((one) => `${cleanLine(nameOf(one))} is saved\n`).join(''),
  );
  if (failed === undefined) return;
  if (ids.length === 1) throw failed;
  const message = `${ids.length - chosen.length} of ${ids.length} restaurants were not saved: ${failed.message}`;
  throw new AppError('partial', message, { hint: failed.details.hint, retryable: failed.retryable });
}

/** A restaurant of the last search, or one with details in the cache that are not older. */
function knownRestaurant(app: App, service: string, id: string): SavedRestaurant | undefined {
  const last = lastSearch(app);
  const rows = last?.endpoint === service ? last.rows.filter(isObject) : [];
  const summary = rows.find(({ service_id }) => service_id === id);
  const cached = cachedDetails(app, id);
  const isCurrent = cached !== undefined && cached.at >= (summary === undefined ? 0 : (last?.at ?? 0));
  if (summary === undefined && !isCurrent) return undefined;
  return {
    ...{ id, service, saved_at: isoTime(app.context.now()) },
    ...(summary === undefined ? {} : { summary }),
    ...(isCurrent ? detailsAt(cached.details, cached.level, cached.at) : {}),
  };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();

const detailsAt = (details: JsonObject, fields: Level, at: number) => ({
  details,
  fields,
  checked_at: isoTime(at),
});

async function lookUp(
  app: App,
  ids: readonly string[],
): Promise<{ received: SavedRestaurant[]; failed?: AppError | undefined }> {
  if (ids.length === 0) return { received: [] };
  const { openService } = await import('../app/service.ts');
  const { lookupAll } = await import('../app/lookup-many.ts');
  const service = await openService(app, { paced: ids.length > 1, bounded: true, fresh: true });
  const outcomes = await lookupAll(app, service, ids, 'basic');
  const now = app.context.now();
  const received = outcomes.flatMap(({ restaurantId: id, output, cachedAt = now }) =>
    output === undefined
      ? []
      : {
          ...{ id, service: serviceName(app), saved_at: isoTime(now) },
          ...detailsAt(output, 'basic', cachedAt),
        },
  );
  return { received, failed: outcomes.find(({ error }) => error !== undefined)?.error };
}

function withNote(saved: SavedRestaurant, note: string | undefined): SavedRestaurant {
  if (note === undefined) return saved;
  const { note: _, ...rest } = saved;
  return note.trim() === '' ? rest : { ...rest, note: note.trim() };
}

/** Those that are saved already keep what is known about them, and their notes. */
function merged(
  restaurants: readonly SavedRestaurant[],
  chosen: readonly SavedRestaurant[],
  note: string | undefined,
): SavedRestaurant[] {
  const choices = new Map(chosen.map((one) => [one.id, one]));
  const kept = restaurants.map((one) => {
    const choice = choices.get(one.id);
    choices.delete(one.id);
    if (choice === undefined) return one;
    return choice.service === one.service ? withNote(one, note) : withNote(choice, note ?? one.note);
  });
  return [...kept, ...choices.values()];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

export function registerUnsave(command: CliCommand, app: App): void {
  command
    .about('Remove saved restaurants', 'Their recorded changes stay.')
    .argument('<id...>', 'ID or its beginning, or name')
    .completeWith('id', 'saved')
    .usesOptions('json')
    .outputSchema(object({ removed: list(object({ id: text, name: text })) }))
    .examples('restaurant unsave Nopa')
    .action((words: string[]) => unsave(app, words));
}

async function unsave(app: App, words: readonly string[]): Promise<void> {
  const store = savedStore(app);
  const all = namesOf(store.read());
  const removed = [...new Set(words.map((word) => findNamed(word, all)))];
  const ids = removed.map(({ id }) => id);
  await store.update((restaurants) => ({ restaurants: restaurants.filter(({ id }) => !ids.includes(id)) }));
  await writeText(app, { removed }, () =>
    removed.map(({ name }) => `${cleanLine(name)} is no longer saved\n`).join(''),
  );
}

function findNamed(word: string, all: readonly Named[]): Named {
  const [found, other, ...more] = namedBy(word, all);
  if (found === undefined) throw notSaved(word);
  if (other === undefined) return found;
  const named = [found, other].map(({ id, name }) => `${cleanLine(name)} (${id})`).join(', ');
  const rest = more.length === 0 ? '' : ` and ${more.length} more`;
  throw usage(`'${word}' matches several saved restaurants: ${named}${rest}`, {
    command: restaurant('unsave', found.id),
  });
}
