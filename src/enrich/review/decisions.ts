import type { App } from '../../app/app.ts';
import { readAllText, readArgumentFile } from '../../app/input.ts';
import { AppError } from '../../errors.ts';
import { CsvReader } from '../../util/csv.ts';
import { checkId } from '../../util/restaurant.ts';

export const DECISIONS = ['yes', 'other', 'none'] as const;

export interface WrittenDecision {
  readonly line: number;
  /** Number of the row in the list, from 1. */
  readonly row: number;
  /** Name in the list, to check that the row is the same; empty if it is not in the file. */
  readonly name: string;
  readonly decision: (typeof DECISIONS)[number];
  readonly id: string;
}

const EXAMPLE = 'row,name,decision,restaurant_id';

/** Reads decisions made elsewhere, such as on the report page. @throws {AppError} `bad_input` */
export async function readDecisions(app: App, file: string): Promise<WrittenDecision[]> {
  const text = file === '-' ? await readAllText(app, 'decisions') : await readArgumentFile(app, file);
  const where = file === '-' ? 'stdin' : file;
  const start = text.replace(/^\ufeff/, '');
  const reader = new CsvReader(/^[^\r\n]*;/.test(start) ? ';' : ',');
  const [header, ...records] = [...reader.push(start), ...reader.end()];
  const columns = header?.cells.map((cell) => cell.trim()) ?? [];
  const bad = (line: number, what: string): AppError =>
    new AppError('bad_input', `${where}: line ${line} ${what}`, {
      hint: {
        text: `nothing was changed; the columns are ${EXAMPLE}, and a decision is ${DECISIONS.join(', ')}`,
      },
    });
  if (!columns.includes('row') || !columns.includes('decision'))
    throw bad(1, 'has no columns row and decision');
  const decided = new Set<string>();
  return records.map(({ cells, line }) => {
    const cell = (name: string): string => cells[columns.indexOf(name)]?.trim() ?? '';
    const decision = DECISIONS.find((each) => each === cell('decision'));
    if (decision === undefined) throw bad(line, `has the decision '${cell('decision')}'`);
    if (!/^[1-9]\d{0,8}$/.test(cell('row'))) throw bad(line, `has the row '${cell('row')}'`);
    if (decided.has(cell('row'))) throw bad(line, `decides row ${cell('row')} once more`);
    decided.add(cell('row'));
    const id = cell('restaurant_id');
    if (decision === 'other' && id === '') throw bad(line, 'has no restaurant_id');
    return {
      line,
      row: Number(cell('row')),
      name: cell('name'),
      decision,
      id: id === '' ? '' : checkId(id, `${where}: line ${line}`),
    };
  });
}
