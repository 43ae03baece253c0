import { fieldsOf } from '../output/fields.ts';
import type { Change } from '../output/render/changes.ts';
import { canonicalJson, isObject, type JsonObject } from '../util/json.ts';
import type { AnswerAbout, Answers } from './answers.ts';

interface AnswerChange extends Change {
  readonly answer: string;
}

/** The changes of a restaurant, the oldest first. */
export function changesAbout(answers: Answers, id: string): AnswerChange[] {
  const changes: AnswerChange[] = [];
  let known: JsonObject | undefined;
  let isGone = false;
  for (const { id: answer, at, record } of [...answers.history(id)].reverse()) {
    const add = (field: string, before: unknown, after: unknown) =>
      changes.push({
        ...{ when: new Date(at).toISOString(), id, name: nameIn(known ?? {}) ?? id },
        ...{ field, before, after, answer },
      });
    if (known !== undefined && isGone !== (record === null)) add('gone', isGone, !isGone);
    isGone = record === null;
    if (record === null) continue;
    for (const [field, before, after] of differences(known ?? {}, record, '')) add(field, before, after);
    known = merged(record, known) as JsonObject;
  }
  return changes;
}

/** Merges answers about a restaurant: each field from the newest answer that has it. @param answers the newest first */
export function knownRecord(answers: Iterable<AnswerAbout>): JsonObject {
  let known: unknown;
  for (const { record } of answers) if (record !== null) known = merged(known, record);
  return isObject(known) ? known : {};
}

/** The name in a record, whose fields are not documented. */
export function nameIn(record: JsonObject): string | undefined {
  const [, name] = fieldsOf(record, undefined).known.name ?? [];
  return typeof name === 'string' && name.trim() !== '' ? name : undefined;
}

/** Objects are merged member by member. Keys are in the order of the older value. */
function merged(newer: unknown, older: unknown): unknown {
  if (newer === undefined) return older;
  if (!isObject(newer) || !isObject(older)) return newer;
  const kept = Object.entries(older).map(([key, value]) => [key, merged(memberOf(newer, key), value)]);
  return Object.fromEntries([
    ...kept,
    ...Object.entries(newer).filter(([key]) => !Object.hasOwn(older, key)),
  ]);
}

/** Own members only: an answer may have a key `__proto__`. */
const memberOf = (holder: JsonObject, key: string): unknown =>
  Object.hasOwn(holder, key) ? holder[key] : undefined;

/** The fields that both have, with different values. Arrays are values; text in place of an object does not count. */
function* differences(
  before: JsonObject,
  after: JsonObject,
  path: string,
): Generator<[field: string, before: unknown, after: unknown]> {
  for (const [key, value] of Object.entries(after)) {
    const earlier = memberOf(before, key);
    const field = path === '' ? key : `${path}.${key}`;
    if (earlier === undefined || (isBlank(earlier) && isBlank(value))) continue;
    if (isObject(earlier) && isObject(value)) yield* differences(earlier, value, field);
    else if (isComparable(earlier, value) && canonicalJson(earlier) !== canonicalJson(value))
      yield [field, earlier, value];
  }
}

/** A search has an empty text where a lookup has null. */
const isBlank = (value: unknown): boolean => value === null || value === '';

const isComparable = (one: unknown, other: unknown): boolean =>
  isObject(one) === isObject(other) || one === null || other === null;

/** The changes of all restaurants, or of some, since a time: the oldest first. */
export function changesIn(
  answers: Answers,
  { start = 0, ids }: { start?: number; ids?: readonly string[] },
): Change[] {
  const all = new Set(ids ?? restaurantsIn(answers, start));
  return [...all]
    .flatMap((id) => changesAbout(answers, id))
    .filter(({ when }) => Date.parse(when) >= start)
    .sort((a, b) => Date.parse(a.when) - Date.parse(b.when))
    .map(({ answer: _, ...change }) => change);
}

export const knownNames = (answers: Answers): { id: string; name: string }[] =>
  [...new Set(restaurantsIn(answers))].map((id) => ({
    id,
    name: nameIn(knownRecord(answers.history(id))) ?? id,
  }));

function* restaurantsIn(answers: Answers, start = 0): Generator<string> {
  for (const line of answers.lines()) {
    if (line.at < start) continue;
    if ('find' in line) yield* line.results.map(({ service_id }) => service_id);
    if ('lookup' in line) yield line.lookup.id;
    if ('save' in line) yield line.save.id;
  }
}
