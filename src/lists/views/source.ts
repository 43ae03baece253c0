import { setImmediate } from 'node:timers/promises';
import type { RowResult } from '../match/match.ts';
import type { Plan } from '../plan.ts';
import type { Counts } from '../progress/summary.ts';
import type { Knowledge, Question } from '../resolve.ts';
import { type InputRow, valuesOf } from '../row.ts';

/** The rows of the list in their order, with their results, and what holds for all of them. */
export interface ViewSource {
  readonly plan: Plan;
  readonly rows: readonly InputRow[];
  resultOf(row: InputRow): RowResult;
  readonly counts: Counts;
  readonly at: number | undefined;
  readonly answers: Knowledge;
  isDoubtful(question: Question, result: RowResult, withMissing: boolean): boolean;
  /** Whether to neutralize formulas in tables of text. */
  readonly guard: boolean;
}

const PART = 256;

/** The rows in parts, between which signals are heard. */
export async function* rowParts({ rows }: Pick<ViewSource, 'rows'>): AsyncGenerator<readonly InputRow[]> {
  for (let start = 0; start < rows.length; start += PART) {
    await setImmediate();
    yield rows.slice(start, start + PART);
  }
}

type NamedValue = readonly [column: string, value: unknown];

/** The columns of the list with their values; of a workbook, numbers are numbers. */
export function ownEntries({ list }: Plan, row: InputRow): NamedValue[] {
  if (row.kind === 'object') return Object.entries(row.value);
  return valuesOf(row).map((value, index) => [
    list.header[index] ?? '',
    value instanceof Date ? row.cells[index] : value,
  ]);
}

export function resultEntries({ result }: Plan, found: RowResult): NamedValue[] {
  const values = result.values(found);
  return result.names.map((name, index) => [name, values[index]] as const);
}
