import type { FindQuery, Level, Restaurant } from '../client/types.ts';
import { tryLock } from '../storage/lock.ts';
import { canonicalJson, type JsonObject } from '../util/json.ts';
import {
  type AnswerLine,
  aboutKey,
  type Dated,
  type DecideLine,
  decideKey,
  findKey,
  type LineKindName,
  type LineOf,
  lookupKey,
  type RunLine,
  type SaveLine,
  type WroteLine,
  wroteKey,
} from './answer-lines.ts';
import { AnswersFile, type AnswersOptions, withIoHint } from './answers-file.ts';
import { keyText, type RowKey, rowKeyOf } from './row-key.ts';

export interface FindAnswer extends Dated {
  readonly results: readonly Restaurant[];
  readonly received: number;
  readonly total: number;
}

/** `output` is null if the service no longer knew the restaurant. */
export interface LookupAnswer extends Dated {
  readonly output: JsonObject | null;
}

/** The part of an answer about one restaurant: an element of `results`, or the output of a lookup. */
export interface AnswerAbout extends Dated {
  readonly level: Level | 'search';
  /** null: the service no longer knew it. */
  readonly record: JsonObject | null;
}

/** An answer dated further ahead comes from a clock that was wrong. */
export const MAX_AHEAD_MS = 300_000;

/** @throws {AppError} `in_use`; `usage` for answers of another service, and for other files; `io_error` */
export function openAnswers(path: string, options: AnswersOptions): Answers {
  let lock: ReturnType<typeof tryLock> | undefined;
  try {
    lock = options.access === 'write' ? tryLock(path) : undefined;
    return new Answers(path, options, lock);
  } catch (error) {
    lock?.release();
    throw withIoHint(error, options);
  }
}

/** Answers of the service, and decisions of a person: of each key, the latest line counts. */
export class Answers extends AnswersFile {
  #lastDecision = '';

  find(query: FindQuery): FindAnswer | undefined {
    const { name, city } = queryOf(query);
    return first(this.#lines('find', findKey({ name, city }), (line) => isQuery(line, name, city)));
  }

  lookup(restaurantId: string, level: Level): LookupAnswer | undefined {
    for (const line of this.#lines('lookup', lookupKey(restaurantId, level))) {
      const { id, at, lookup } = line;
      if (lookup.id !== restaurantId || lookup.fields !== level) continue;
      const output = this.#outputOf(line);
      if (output !== undefined) return { id, at, output };
    }
    return undefined;
  }

  /** All that was said about a restaurant, the newest first. */
  *history(restaurantId: string): Generator<AnswerAbout> {
    for (const line of this.all(aboutKey(restaurantId))) {
      const answer = this.#answerAbout(line, restaurantId);
      if (answer !== undefined) yield answer;
    }
  }

  /** The same without answers that newer ones with the same members replace. */
  about(restaurantId: string): Iterable<AnswerAbout> {
    return this.newestOfEach(aboutKey(restaurantId), (line) => this.#answerAbout(line, restaurantId));
  }

  #answerAbout(line: AnswerLine, restaurantId: string): AnswerAbout | undefined {
    const { id, at } = line;
    const answer = (level: AnswerAbout['level'], record: JsonObject | null | undefined) =>
      record === undefined ? undefined : { id, at, level, record };
    if ('find' in line)
      return answer(
        'search',
        line.results.find(({ service_id }) => service_id === restaurantId),
      );
    if ('save' in line) return answer('search', line.save.id === restaurantId ? line.restaurant : undefined);
    if (!('lookup' in line) || line.lookup.id !== restaurantId) return undefined;
    return answer(line.lookup.fields, this.#outputOf(line));
  }

  /** The decisions that count, the newest first; of several about the same rows, the first applies. */
  decisions(): LineOf<'decide'>[] {
    return [...this.#lines('decide', 'decide')].map((line) => ({ ...line, decide: rowKeyOf(line.decide) }));
  }

  /** Lines that save a restaurant, the newest first. */
  saves(): LineOf<'save'>[] {
    return [...this.#lines('save', 'save')];
  }

  /** How lists are brought up to date, the newest first. */
  runs(): LineOf<'run'>[] {
    return [...this.#lines('run', 'run')];
  }

  /** Checksums of a view as it was written, the newest first. */
  wrote(file: string): string[] {
    const lines = [...this.#lines('wrote', wroteKey(file))];
    return lines.filter(({ wrote }) => wrote.file === file).map(({ wrote }) => wrote.sha256);
  }

  /** @param answer `results` without those that need not be kept */
  addFind(query: FindQuery, answer: Pick<FindAnswer, 'results' | 'received' | 'total'>): string {
    const find = queryOf(query);
    const before = this.#notAhead(() => this.find(find));
    return this.append({ find, ...answer }, 'soon', before);
  }

  /** @param output null: the service does not know the restaurant */
  addLookup(restaurantId: string, level: Level, output: JsonObject | null): string {
    const before = this.#notAhead(() => this.lookup(restaurantId, level));
    const lookup = { id: restaurantId, fields: level };
    const isSame = before !== undefined && output !== null && isEqual(before.output, output);
    const content = isSame ? { lookup, same: this.#rootOf(before.id) } : { lookup, output };
    return this.append(content, 'soon', before, this.#lastAbout(restaurantId));
  }

  decide(rows: RowKey, decision: Pick<DecideLine, 'restaurant'> | { readonly never: true }): string {
    const decide = rowKeyOf(rows);
    const key = decideKey(decide);
    const before = first(this.#lines('decide', key, (line) => decideKey(line.decide) === key));
    // Those that are applied together keep their order, in which they are taken back.
    const last = this.#notFarAhead(this.withId(this.#lastDecision));
    this.#lastDecision = this.append({ decide, ...decision }, 'now', before, last);
    return this.#lastDecision;
  }

  save(id: string, more: Pick<SaveLine, 'note' | 'restaurant'>): string {
    const before = first(this.#lines('save', aboutKey(id), ({ save }) => save.id === id));
    // Those that are saved together keep their order.
    const last = this.#notFarAhead(this.saves()[0]);
    return this.append({ save: { id }, ...more }, 'now', before, last, this.#lastAbout(id));
  }

  /** Unless it equals the last one of the list. */
  addRun(run: RunLine['run']): void {
    const runs = this.runs();
    const before = runs.find((line) => line.run.list === run.list);
    if (!isEqual(before?.run, run)) this.append({ run }, 'soon', runs[0]);
  }

  /** Unless it equals the last one of the view. */
  addWrote({ file, sha256 }: WroteLine['wrote']): void {
    const before = first(this.#lines('wrote', wroteKey(file), ({ wrote }) => wrote.file === file));
    if (before?.wrote.sha256 !== sha256) this.append({ wrote: { file, sha256 } }, 'now', before);
  }

  *#lines<K extends LineKindName>(
    kind: K,
    key: string,
    isWanted: (line: LineOf<K>) => boolean = () => true,
  ): Generator<LineOf<K>> {
    for (const line of this.all(key))
      if (Object.hasOwn(line, kind) && isWanted(line as LineOf<K>)) yield line as LineOf<K>;
  }

  /** @returns undefined if the line that it equals is missing */
  #outputOf({ lookup, output, same }: LineOf<'lookup'>): JsonObject | null | undefined {
    if (same === undefined) return output;
    const root = this.withId(same);
    return root !== undefined && 'lookup' in root && root.lookup.id === lookup.id ? root.output : undefined;
  }

  #rootOf(id: string): string {
    const line = this.withId(id);
    return line !== undefined && 'same' in line && line.same !== undefined ? line.same : id;
  }

  /** The newest answer about a restaurant, so that the next one is later, unless its clock was ahead. */
  #lastAbout(id: string): Dated | undefined {
    return this.#notFarAhead(first(this.about(id)));
  }

  #notFarAhead(line: Dated | undefined): Dated | undefined {
    return line !== undefined && line.at <= this.now() + MAX_AHEAD_MS ? line : undefined;
  }

  /** Takes back answers of a clock that was ahead, so that a new answer gets the time of today. */
  #notAhead<T extends Dated>(latest: () => T | undefined): T | undefined {
    for (;;) {
      const answer = latest();
      if (answer === undefined || this.#notFarAhead(answer) !== undefined) return answer;
      this.undo(answer.id);
    }
  }
}

export type KnownAnswers = Pick<
  Answers,
  'find' | 'lookup' | 'about' | 'decisions' | 'revision' | 'addFind' | 'addLookup'
>;

const queryOf = ({ name, city }: FindQuery): FindQuery => ({ name: keyText(name), city: keyText(city) });

const isQuery = ({ find }: LineOf<'find'>, name: string, city: string): boolean =>
  find.name === name && find.city === city;

const isEqual = (one: unknown, other: unknown): boolean => canonicalJson(one) === canonicalJson(other);

function first<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item;
  return undefined;
}
