import type { LineOf } from './answer-lines.ts';
import type { Answers } from './answers.ts';
import { ROW_KEY_MEMBERS, type RowKey, type RowKeyMember, rowKeyText } from './row-key.ts';

export type Decision = LineOf<'decide'>;

/** Decisions with the same members, by their text in the members that they share with a row. */
type Agreeing = ReadonlyMap<string, readonly Decision[]>;

/**
 * Which decisions apply to the rows of a list. One with exactly the members of the row counts first. One with other
 * members, because a column was added or removed, applies if it agrees with rows of one content only, in the members that
 * both have, and no other such decision says something else.
 */
export class Decisions {
  readonly #answers: Pick<Answers, 'decisions' | 'revision'>;
  readonly #rows: Iterable<RowKey>;
  #contents: ReadonlyMap<string, RowKey> | undefined;
  readonly #counts = new Map<string, ReadonlyMap<string, number>>();
  #revision = -1;
  #exact: ReadonlyMap<string, Decision> = new Map();
  #byMembers: ReadonlyMap<string, readonly Decision[]> = new Map();
  #agreeing = new Map<string, Agreeing>();
  #stray: readonly Decision[] | undefined;

  /** @param rows only read if there are decisions */
  constructor(answers: Pick<Answers, 'decisions' | 'revision'>, rows: Iterable<RowKey>) {
    this.#answers = answers;
    this.#rows = rows;
  }

  /** The contents of the rows, each once. */
  #all(): Iterable<RowKey> {
    this.#contents ??= new Map(Array.from(this.#rows, (row) => [rowKeyText(row), row]));
    return this.#contents.values();
  }

  /** The decision that applies to a row. */
  of(row: RowKey): Decision | undefined {
    this.#update();
    if (this.#exact.size === 0) return undefined;
    const exact = this.#exact.get(rowKeyText(row));
    if (exact !== undefined) return exact;
    const others = this.#others(row);
    if (new Set(others.map(({ decision }) => verdictText(decision))).size > 1) return undefined;
    return others.find(({ isOnly }) => isOnly)?.decision;
  }

  /** Decisions that agree with a row in the members that both have, but do not apply to it. */
  similar(row: RowKey): Decision[] {
    return this.of(row) === undefined ? this.#others(row).map(({ decision }) => decision) : [];
  }

  /** Decisions that agree with no row of the list, as after a correction of the row. */
  stray(): readonly Decision[] {
    this.#update();
    this.#stray ??= this.#findStray();
    return this.#stray;
  }

  #findStray(): Decision[] {
    return [...this.#exact.values()].filter((decision) =>
      [...this.#shapes()].every((members) => {
        const shared = sharedMembers(members, membersOf(decision.decide));
        return !isTelling(decision.decide, shared) || this.#countOf(decision.decide, shared) === 0;
      }),
    );
  }

  /** The decisions with other members that agree with a row; `isOnly` unless they agree with rows of other content. */
  #others(row: RowKey): { decision: Decision; isOnly: boolean }[] {
    const own = membersOf(row);
    return [...this.#byMembers].flatMap(([text, decisions]) => {
      const members = text.split(' ') as RowKeyMember[];
      const shared = sharedMembers(own, members);
      if (text === own.join(' ') || !isTelling(row, shared)) return [];
      const isOnly = this.#countOf(row, shared) === 1;
      const agreeing = this.#agreeingWith(text, decisions, shared).get(rowKeyText(row, shared)) ?? [];
      return agreeing.map((decision) => ({ decision, isOnly }));
    });
  }

  #agreeingWith(text: string, decisions: readonly Decision[], shared: readonly RowKeyMember[]): Agreeing {
    const key = `${text}: ${shared.join(' ')}`;
    const known = this.#agreeing.get(key) ?? groupBy(decisions, ({ decide }) => rowKeyText(decide, shared));
    this.#agreeing.set(key, known);
    return known;
  }

  /** How many contents of the list agree with a row or decision in some members. */
  #countOf(row: RowKey, members: readonly RowKeyMember[]): number {
    const key = members.join(' ');
    const counts = this.#counts.get(key) ?? countBy(this.#all(), (each) => rowKeyText(each, members));
    this.#counts.set(key, counts);
    return counts.get(rowKeyText(row, members)) ?? 0;
  }

  /** The members of the rows: usually the same in all. */
  #shapes(): Iterable<readonly RowKeyMember[]> {
    return new Map(Array.from(this.#all(), (row) => [membersOf(row).join(' '), membersOf(row)])).values();
  }

  #update(): void {
    if (this.#revision === this.#answers.revision) return;
    this.#revision = this.#answers.revision;
    const exact = new Map<string, Decision>();
    for (const decision of this.#answers.decisions()) {
      const key = rowKeyText(decision.decide);
      if (!exact.has(key)) exact.set(key, decision);
    }
    this.#exact = exact;
    this.#byMembers = groupBy(exact.values(), ({ decide }) => membersOf(decide).join(' '));
    this.#agreeing = new Map();
    this.#stray = undefined;
  }
}

const membersOf = (row: RowKey): RowKeyMember[] =>
  ROW_KEY_MEMBERS.filter((member) => row[member] !== undefined);

const sharedMembers = (some: readonly RowKeyMember[], others: readonly RowKeyMember[]): RowKeyMember[] =>
  some.filter((member) => others.includes(member));

/** Whether the members say which restaurant it is: a city alone does not. */
const isTelling = (row: RowKey, members: readonly RowKeyMember[]): boolean =>
  (['name', 'id'] as const).some((member) => members.includes(member) && row[member] !== '');

const verdictText = ({ restaurant, never }: Decision): string => JSON.stringify([restaurant, never]);

function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function countBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, number> {
  return new Map([...groupBy(items, keyOf)].map(([key, { length }]) => [key, length]));
}
