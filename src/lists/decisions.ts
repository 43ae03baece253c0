import type { LineOf } from './answer-lines.ts';
import type { Answers } from './answers.ts';
import { ROW_KEY_MEMBERS, type RowKey, type RowKeyMember, rowKeyText } from './row-key.ts';

export type Decision = LineOf<'decide'>;

interface Known {
  readonly exact: ReadonlyMap<string, Decision>;
  /** Those with other members than the rows, by what they say in the members that both have. */
  readonly others: ReadonlyMap<string, readonly Decision[]>;
  /** The members that such decisions share with the rows. */
  readonly shared: readonly (readonly RowKeyMember[])[];
}

/**
 * Which decisions apply to the rows of a list, which all have the same members. One with exactly these counts first. One
 * with other members, because a column was added or removed, applies if it agrees with rows of one content only, in the
 * members that both have, and no other such decision says something else.
 */
export class Decisions {
  readonly #answers: Pick<Answers, 'decisions' | 'revision'>;
  readonly #rows: Iterable<RowKey>;
  /** The number of contents of the list that say the same in some members. */
  readonly #counts = new Map<string, ReadonlyMap<string, number>>();
  #contents: readonly RowKey[] | undefined;
  #known: Known | undefined;
  #revision = -1;

  /** @param rows only read if there are decisions with other members */
  constructor(answers: Pick<Answers, 'decisions' | 'revision'>, rows: Iterable<RowKey>) {
    this.#answers = answers;
    this.#rows = rows;
  }

  of(row: RowKey): Decision | undefined {
    const { exact } = this.#update(row);
    if (exact.size === 0) return undefined;
    const own = exact.get(rowKeyText(row));
    if (own !== undefined) return own;
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
    const [row = {}] = this.#all();
    const own = membersOf(row);
    return [...this.#update(row).exact.values()].filter(({ decide }) => {
      const shared = own.filter((member) => decide[member] !== undefined);
      return !isTelling(decide, shared) || this.#countOf(decide, shared) === 0;
    });
  }

  /** The decisions with other members that agree with a row; `isOnly` unless they agree with rows of other content. */
  #others(row: RowKey): { decision: Decision; isOnly: boolean }[] {
    const { others, shared } = this.#update(row);
    return shared.flatMap((members) => {
      const agreeing = others.get(rowKeyText(row, members)) ?? [];
      const isOnly = agreeing.length > 0 && this.#countOf(row, members) === 1;
      return agreeing.map((decision) => ({ decision, isOnly }));
    });
  }

  #all(): readonly RowKey[] {
    this.#contents ??= [...new Map(Array.from(this.#rows, (row) => [rowKeyText(row), row])).values()];
    return this.#contents;
  }

  /** How many contents of the list agree with a row or decision in some members. */
  #countOf(row: RowKey, members: readonly RowKeyMember[]): number {
    const known = this.#counts.get(members.join(' '));
    const counts = known ?? countBy(this.#all(), (each) => rowKeyText(each, members));
    this.#counts.set(members.join(' '), counts);
    return counts.get(rowKeyText(row, members)) ?? 0;
  }

  /** @param row any of the list */
  #update(row: RowKey): Known {
    if (this.#known !== undefined && this.#revision === this.#answers.revision) return this.#known;
    const own = membersOf(row);
    const exact = new Map<string, Decision>();
    const others = new Map<string, Decision[]>();
    const shared = new Map<string, readonly RowKeyMember[]>();
    for (const decision of this.#answers.decisions()) {
      const { decide } = decision;
      if (exact.has(rowKeyText(decide))) continue;
      exact.set(rowKeyText(decide), decision);
      const members = own.filter((member) => decide[member] !== undefined);
      const isOfAll = members.length === own.length && own.length === membersOf(decide).length;
      if (isOfAll || !isTelling(decide, members)) continue;
      shared.set(members.join(' '), members);
      const text = rowKeyText(decide, members);
      const agreeing = others.get(text);
      if (agreeing === undefined) others.set(text, [decision]);
      else agreeing.push(decision);
    }
    this.#revision = this.#answers.revision;
    this.#known = { exact, others, shared: [...shared.values()] };
    return this.#known;
  }
}

const membersOf = (row: RowKey): RowKeyMember[] =>
  ROW_KEY_MEMBERS.filter((member) => row[member] !== undefined);

/** Whether the members say which restaurant it is: a city alone does not. */
const isTelling = (row: RowKey, members: readonly RowKeyMember[]): boolean =>
  (['name', 'id'] as const).some((member) => members.includes(member) && row[member] !== '');

const verdictText = ({ restaurant, never }: Decision): string => JSON.stringify([restaurant, never]);

function countBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
