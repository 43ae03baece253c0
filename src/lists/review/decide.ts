import type { App } from '../../app/app.ts';
import { plural } from '../../util/format.ts';
import { cleanLine } from '../../util/text.ts';
import type { Decision } from '../decisions.ts';
import { printJson } from '../progress/summary.ts';
import type { EqualRows, Review } from './rows.ts';

/** A decision about rows: the restaurant that they have, another one, none, or not to ask again. */
export interface RowChoice {
  readonly kind: 'yes' | 'other' | 'none' | 'never';
  /** The restaurant of `yes` and `other`. */
  readonly id?: string | undefined;
}

export interface Decided {
  readonly kind: RowChoice['kind'];
  /** Number of rows. */
  readonly rows: number;
  readonly line: string;
}

export function decide({ answers }: Review, rows: EqualRows, { kind, id }: RowChoice): Decided {
  const line = answers.decide(rows.key, kind === 'never' ? { never: true } : { restaurant: id ?? null });
  return { kind, rows: rows.indexes.length, line };
}

/** Takes back the last decision that applies to a row of the list. @returns undefined if there is none */
export function undoLast({
  answers,
  state,
  contents,
}: Review): { decision: Decision; rows: EqualRows } | undefined {
  const idOf = ({ key }: EqualRows): string | undefined => state.decisions.of(key)?.id;
  const applied = new Map([...contents.values()].map((rows) => [idOf(rows), rows]));
  for (const decision of answers.decisions()) {
    const rows = applied.get(decision.id);
    if (rows === undefined) continue;
    answers.undo(decision.id);
    return { decision, rows };
  }
  return undefined;
}

function tallyOf(decided: readonly Decided[]) {
  const count = (...kinds: RowChoice['kind'][]) =>
    decided.reduce((sum, each) => (kinds.includes(each.kind) ? sum + each.rows : sum), 0);
  return {
    ...{ rows: count('yes', 'other', 'none', 'never'), confirmed: count('yes'), other: count('other') },
    ...{ rejected: count('none'), never: count('never') },
  };
}

/** The files that follow the decisions; the one that the person named if there are none. */
export function filesText({ name, views }: Review): string {
  const files = views.length === 0 ? [name] : views.map((view) => view.name);
  return cleanLine(files.join(', '));
}

export function tallyText(review: Review, decided: readonly Decided[]): string {
  const { rows, confirmed, other, rejected, never } = tallyOf(decided);
  const left = never === 0 ? '' : `, ${never} not to be shown again`;
  return `${plural(rows, 'row')} decided in ${filesText(review)}: ${confirmed} confirmed, ${other} with another restaurant, ${rejected} rejected${left}`;
}

export async function printTally(app: App, review: Review, decided: readonly Decided[]): Promise<void> {
  const files = review.views.map(({ name }) => name);
  if (app.terminal.wantsJson) await printJson(app, { ...tallyOf(decided), files });
  else if (app.globals.quiet !== true) await app.context.stderr.write(`${tallyText(review, decided)}\n`);
}
