import { foldLetters } from '../../util/fold.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import { isId } from '../../util/restaurant.ts';

/** A restaurant to choose: a result of a search, or a saved one. */
export interface Choice {
  readonly id: string;
  readonly record: JsonObject;
  /** The text that a typed filter is matched with. */
  readonly text: string;
}

const SEARCHED = ['name', 'neighborhood', 'city', 'cuisine_tags', 'grade'];
/** Enough of a field to find it by. */
const MAX_TEXT = 200;

const textOf = (value: unknown): string =>
  [value]
    .flat()
    .filter((each) => typeof each === 'string')
    .join(' ')
    .slice(0, MAX_TEXT);

/** Returns each restaurant once. A record without a usable ID is left out. */
export function choicesOf(records: readonly unknown[]): Choice[] {
  const choices = new Map<string, Choice>();
  for (const record of records) {
    const { service_id: id } = isObject(record) ? record : {};
    if (!isObject(record) || typeof id !== 'string' || !isId(id) || choices.has(id)) continue;
    const text = SEARCHED.map((key) => foldLetters(textOf(record[key]))).join('\n');
    choices.set(id, { id, record, text });
  }
  return [...choices.values()];
}

/** Returns the restaurants that have all the words. */
export function choicesWith(choices: readonly Choice[], typed: string): readonly Choice[] {
  const words = foldLetters(typed).split(/\s+/);
  return choices.filter(({ text }) => words.every((word) => text.includes(word)));
}
