import { type AppError, attempt, failure } from '../errors.ts';
import { restaurant } from '../hint.ts';
import { fieldsOf } from '../output/fields.ts';
import { type SavedRestaurant, SavedStore } from '../storage/saved-store.ts';
import { foldLetters } from '../util/fold.ts';
import type { JsonObject } from '../util/json.ts';
import type { App } from './app.ts';
import { DEMO } from './target.ts';

/** @throws {AppError} `io_error` if there is no home folder */
export function savedStore({ paths }: App): SavedStore {
  if (paths.dataDir !== undefined) return new SavedStore(paths.dataDir);
  throw failure('io_error', 'no folder for saved restaurants: the home folder is unknown', {
    text: 'set HOME or RESTAURANT_DATA_DIR',
  });
}

/** None if the file is damaged: it must not prevent a lookup. */
export const savedIfReadable = (app: App): readonly SavedRestaurant[] =>
  attempt(() => savedStore(app).read()) ?? [];

/** With --demo, those of the embedded sandbox; otherwise, all others. */
export const shownHere = ({ globals }: App, restaurants: readonly SavedRestaurant[]): SavedRestaurant[] =>
  restaurants.filter(({ service }) => (service === DEMO) === (globals.demo === true));

/** The fields as last seen, and those that this program adds. The names of the fields of details are not documented. */
export function recordOf({ id, summary, details, note, saved_at, checked_at }: SavedRestaurant): JsonObject {
  const { name = ['', summary?.name ?? null], grade = ['', summary?.grade ?? null] } =
    details === undefined ? {} : fieldsOf(details, undefined).known;
  return {
    ...summary,
    ...details,
    ...{ service_id: id, name: name[1], grade: grade[1] },
    ...{ note: note ?? null, saved_at, checked_at: checked_at ?? null },
  };
}

export function nameOf(saved: SavedRestaurant): string {
  const { name } = recordOf(saved);
  return typeof name === 'string' && name.trim() !== '' ? name : saved.id;
}

export const namesOf = (restaurants: readonly SavedRestaurant[]): { id: string; name: string }[] =>
  restaurants.map((saved) => ({ id: saved.id, name: nameOf(saved) }));

export const MIN_BEGINNING = 6;

export function namedBy<T extends { readonly id: string; readonly name: string }>(
  word: string,
  all: readonly T[],
): T[] {
  const wanted = foldLetters(word).trim();
  const ways: ((one: T) => boolean)[] = [
    ({ id }) => id === word,
    ({ id }) => word.length >= MIN_BEGINNING && id.startsWith(word),
    ({ name }) => foldLetters(name).trim() === wanted,
    ({ name }) => wanted.length > 1 && foldLetters(name).includes(wanted),
  ];
  return ways.map((way) => all.filter(way)).find((found) => found.length > 0) ?? [];
}

export const notSaved = (word: string): AppError =>
  failure('not_found', `'${word}' is not saved`, { text: 'to list them', command: restaurant('saved') });
