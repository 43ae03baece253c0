import type { Decision } from '../decisions.ts';
import type { RowKey } from '../row-key.ts';
import type { Review } from './open.ts';

/**
 * Takes back the last decision that applies to a row of the list.
 * @returns the decision, and the content of a row that it applied to; undefined if there is none
 */
export function undoLast({
  answers,
  decisions,
  state,
}: Review): { decision: Decision; key: RowKey } | undefined {
  const applied = new Map<string, RowKey>();
  for (const { key } of state.questions()) {
    const decision = decisions.of(key);
    if (decision !== undefined) applied.set(decision.id, key);
  }
  for (const decision of answers.decisions()) {
    const key = applied.get(decision.id);
    if (key === undefined) continue;
    answers.undo(decision.id);
    return { decision, key };
  }
  return undefined;
}
