import type { FindQuery, Level, Restaurant } from '../client/types.ts';
import type { JsonObject } from '../util/json.ts';
import { findKey, lookupKey } from './answer-lines.ts';
import type { AnswerAbout, FindAnswer, KnownAnswers, LookupAnswer } from './answers.ts';

/** More than the rows that are under way need, so that none of them asks twice. */
const MAX_ENTRIES = 4000;

/** Recent entries: when there are too many, the older half is dropped. */
class Recent<T> {
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  // Whole maps are dropped: V8 keeps single deleted entries alive (see AGENTS.md).
  set(key: string, value: T): void {
    if (this.#young.size >= MAX_ENTRIES) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}

/** The answers of a run whose rows go to stdout or a device, where no answers file can stand beside them. */
export class MemoryAnswers implements KnownAnswers {
  readonly revision = 0;
  readonly #finds = new Recent<FindAnswer>();
  readonly #lookups = new Recent<LookupAnswer>();
  readonly #about = new Recent<readonly AnswerAbout[]>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  find({ name, city }: FindQuery): FindAnswer | undefined {
    return this.#finds.get(findKey({ name, city }));
  }

  lookup(id: string, level: Level): LookupAnswer | undefined {
    return this.#lookups.get(lookupKey(id, level));
  }

  *about(id: string): Generator<AnswerAbout> {
    yield* this.#about.get(id) ?? [];
  }

  decisions(): [] {
    return [];
  }

  addFind({ name, city }: FindQuery, answer: Omit<FindAnswer, 'id' | 'at'>): string {
    const at = this.#now();
    this.#finds.set(findKey({ name, city }), { id: '', at, ...answer });
    for (const restaurant of answer.results) this.#add(restaurant.service_id, at, 'search', restaurant);
    return '';
  }

  addLookup(id: string, level: Level, output: JsonObject | null): string {
    const at = this.#now();
    this.#lookups.set(lookupKey(id, level), { id: '', at, output });
    this.#add(id, at, level, output);
    return '';
  }

  #add(id: string, at: number, level: AnswerAbout['level'], record: JsonObject | Restaurant | null): void {
    const others = (this.#about.get(id) ?? []).filter((each) => each.level !== level);
    this.#about.set(id, [{ id: '', at, level, record: record as JsonObject | null }, ...others]);
  }
}
