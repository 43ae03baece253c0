import type { App } from '../app/app.ts';
import { lastSearch, serviceName } from '../app/last-results.ts';
import { writeText } from '../app/output.ts';
import { cachedDetails } from '../app/responses.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, SAVED_RESTAURANT, text } from '../cli/schemas.ts';
import type { Lookup } from '../client/types.ts';
import { AppError, usage } from '../errors.ts';
import { again } from '../hint.ts';
import type { Answers } from '../lists/answers.ts';
import { namedBy, notSaved, openSaved, recordOf, savedRestaurants, severalNamed } from '../lists/saved.ts';
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
  const answers = openSaved(app, 'share');
  const outcomes = await lookUpUnknown(app, answers, ids);
  const failed = outcomes.flatMap(({ restaurantId, error }) => (error ? [{ restaurantId, error }] : []));
  const chosen = ids.filter((id) => failed.every(({ restaurantId }) => restaurantId !== id));
  if (chosen.length > 0)
    await answers.locked(() => {
      for (const { restaurantId, output } of outcomes)
        if (output !== undefined) answers.addLookup(restaurantId, 'basic', output);
      for (const id of chosen) saveOne(app, answers, id, note);
    });
  const saved = savedRestaurants(answers).filter(({ id }) => chosen.includes(id));
  await writeText(app, { saved: saved.map(recordOf) }, () =>
    saved.map(({ name }) => `${cleanLine(name)} is saved\n`).join(''),
  );
  const [first] = failed;
  if (first === undefined) return;
  const { error } = first;
  if (ids.length === 1) throw error;
  const message = `${failed.length} of ${ids.length} restaurants were not saved: ${error.message}`;
  throw new AppError('partial', message, { hint: error.details.hint, retryable: error.retryable });
}

/** Looks up those about which nothing is known yet. */
async function lookUpUnknown(app: App, answers: Answers, ids: readonly string[]): Promise<Lookup[]> {
  const unknown = ids.filter(
    (id) =>
      lastAnswer(answers, id) === undefined &&
      foundRow(app, id) === undefined &&
      cachedDetails(app, id) === undefined,
  );
  if (unknown.length === 0) return [];
  const { openService } = await import('../app/service.ts');
  const { lookupAll } = await import('../app/lookup-many.ts');
  const service = await openService(app, { paced: unknown.length > 1, bounded: true, fresh: true });
  return lookupAll(app, service, unknown, 'basic');
}

/** With what the last search and the cache know about it, if that is newer than what is stored. */
function saveOne(app: App, answers: Answers, id: string, note: string | undefined): void {
  const stored = lastAnswer(answers, id)?.at ?? 0;
  const earlier = answers.saves().find(({ save }) => save.id === id);
  const found = foundRow(app, id);
  const isNewer = found !== undefined && found.at > stored;
  const kept = note === undefined ? earlier?.note : note.trim() || undefined;
  if (earlier === undefined || isNewer || kept !== earlier.note)
    answers.save(id, {
      ...(kept === undefined ? {} : { note: kept }),
      ...(isNewer ? { restaurant: found.row } : {}),
    });
  const cached = cachedDetails(app, id);
  if (cached !== undefined && cached.at > stored && cached.at >= (found?.at ?? 0))
    answers.addLookup(id, cached.level, cached.details);
}

function lastAnswer(answers: Answers, id: string) {
  const [last] = answers.about(id);
  return last;
}

/** The row of the last search. */
function foundRow(app: App, id: string): { at: number; row: JsonObject } | undefined {
  const last = lastSearch(app);
  const rows = last?.endpoint === serviceName(app) ? last.rows.filter(isObject) : [];
  const row = rows.find(({ service_id }) => service_id === id);
  return row && { at: last?.at ?? 0, row };
}

export function registerUnsave(command: CliCommand, app: App): void {
  command
    .about('Remove saved restaurants', 'Their changes stay.')
    .argument('<id...>', 'ID or its beginning, name, or row number')
    .completeWith('id', 'saved')
    .usesOptions('service', 'json')
    .outputSchema(object({ removed: list(object({ id: text, name: text })) }))
    .examples('restaurant unsave Nopa --demo')
    .notes('Row numbers are those of the last table in this terminal, usually of restaurant saved.')
    .action((words: string[]) => unsave(app, words));
}

async function unsave(app: App, words: readonly string[]): Promise<void> {
  const { idsOfRows } = await import('./lookup/ids.ts');
  const answers = openSaved(app, 'share');
  const all = savedRestaurants(answers);
  const named = words.flatMap((word) => {
    const isName = all.some(({ id, name }) => id === word || name === word);
    const rows = isName ? undefined : idsOfRows(app, word);
    return (rows ?? [word]).map((one) => {
      const [found, ...others] = namedBy(one, all);
      if (found === undefined) throw notSaved(word);
      if (others.length > 0) throw severalNamed(word, [found, ...others]);
      return { id: found.id, name: found.name };
    });
  });
  const removed = [...new Map(named.map((one) => [one.id, one])).values()];
  await answers.locked(() => {
    const saves = answers.saves().filter(({ save }) => removed.some(({ id }) => id === save.id));
    for (const { id } of saves) answers.undo(id);
  });
  await writeText(app, { removed }, () =>
    removed.map(({ name }) => `${cleanLine(name)} is no longer saved\n`).join(''),
  );
}
