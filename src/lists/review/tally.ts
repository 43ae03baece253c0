import type { App } from '../../app/app.ts';
import { plural } from '../../util/format.ts';
import { cleanLine } from '../../util/text.ts';
import { printJson } from '../progress/summary.ts';

/** A decision about rows of one content: the restaurant that they have, another one, none, or not to ask again. */
export type DecisionKind = 'yes' | 'other' | 'none' | 'never';

export interface Decided {
  readonly kind: DecisionKind;
  readonly rows: number;
}

export function tallyOf(decided: readonly Decided[]) {
  const count = (kind?: DecisionKind) =>
    decided.reduce((sum, each) => (kind === undefined || each.kind === kind ? sum + each.rows : sum), 0);
  return {
    ...{ rows: count(), confirmed: count('yes'), other: count('other') },
    ...{ rejected: count('none'), never: count('never') },
  };
}

export function tallyText(file: string, decided: readonly Decided[]): string {
  const { rows, confirmed, other, rejected, never } = tallyOf(decided);
  const left = never === 0 ? '' : `, ${never} not to be shown again`;
  return `${plural(rows, 'row')} decided in ${cleanLine(file)}: ${confirmed} confirmed, ${other} with another restaurant, ${rejected} rejected${left}`;
}

export async function printTally(app: App, file: string, decided: readonly Decided[]): Promise<void> {
  if (app.terminal.wantsJson) await printJson(app, tallyOf(decided));
  else if (app.globals.quiet !== true) await app.context.stderr.write(`${tallyText(file, decided)}\n`);
}
