import type { App } from '../app/app.ts';
import { lastSearch, serviceName } from '../app/last-results.ts';
import { cachedDetails } from '../app/responses.ts';
import type { Lookup } from '../client/types.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import type { Answers } from './answers.ts';
import { openSaved, savedRestaurants } from './saved.ts';

/** Saves restaurants, and looks up those about which nothing is known. */
export async function saveIds(app: App, ids: readonly string[], note: string | undefined) {
  const answers = openSaved(app, 'share');
  const outcomes = await lookUpUnknown(app, answers, ids);
  const failed = outcomes.filter(({ error }) => error !== undefined);
  const chosen = ids.filter((id) => failed.every(({ restaurantId }) => restaurantId !== id));
  if (chosen.length > 0)
    await answers.locked(() => {
      for (const { restaurantId, output } of outcomes)
        if (output !== undefined) answers.addLookup(restaurantId, 'basic', output);
      for (const id of chosen) saveOne(app, answers, id, note);
    });
  return { saved: savedRestaurants(answers).filter(({ id }) => chosen.includes(id)), failed };
}

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
  const service = await openService(app, {
    patience: unknown.length > 1 ? 'max-wait' : undefined,
    fresh: true,
  });
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

function foundRow(app: App, id: string): { at: number; row: JsonObject } | undefined {
  const last = lastSearch(app);
  const rows = last?.endpoint === serviceName(app) ? last.rows.filter(isObject) : [];
  const row = rows.find(({ service_id }) => service_id === id);
  return row && { at: last?.at ?? 0, row };
}

export const removeSaved = (answers: Answers, ids: readonly string[]): Promise<void> =>
  answers.locked(() => {
    const saves = answers.saves().filter(({ save }) => ids.includes(save.id));
    for (const { id } of saves) answers.undo(id);
  });
