import type { Palette } from '../../output/style.ts';
import { cleanLine, pad, truncate, width, wrap } from '../../util/text.ts';
import { type Candidate, candidateFacts, type ReviewRow } from './candidates.ts';

/** Candidates that have a key: 1 to 9. */
export const MAX_KEYS = 9;

interface Screen {
  readonly columns: number;
  readonly palette: Palette;
  /** Position of the row among those to review: `3 of 17`. */
  readonly position: string;
  /** Fields of the list that help to decide. */
  readonly fields: readonly (readonly [column: string, value: unknown])[];
}

export function reviewLines(
  row: ReviewRow,
  candidates: readonly Candidate[],
  { columns, palette, position, fields }: Screen,
): string[] {
  const cut = (text: string): string => truncate(cleanLine(text), columns);
  const own = [row.name, row.city, ...others(row, fields)].filter((text) => text !== '');
  const shown = candidates.slice(0, MAX_KEYS);
  const more = candidates.length - shown.length;
  return [
    '',
    palette.dim(cut(`${position}, line ${row.row.line}, ${row.status.replace('_', ' ')}`)),
    palette.heading(cut(own.join(', '))),
    ...candidateLines(shown, row, columns),
    ...(candidates.length === 0 ? ['  no candidates'] : []),
    ...(more > 0 ? [`  and ${more} more: search again with other words`] : []),
    ...wrap(keysText(row, shown.length), columns).map((line) => palette.dim(line)),
  ];
}

const others = (row: ReviewRow, fields: Screen['fields']): string[] =>
  fields
    .map(([, value]) => (typeof value === 'object' ? '' : String(value).trim()))
    .filter((text) => text !== row.name && text !== row.city);

function candidateLines(candidates: readonly Candidate[], { current }: ReviewRow, columns: number): string[] {
  const names = candidates.map(({ restaurant }) => cleanLine(restaurant.name));
  const room = Math.min(Math.max(0, ...names.map(width)), Math.floor(columns / 2));
  return candidates.map((candidate, index) => {
    const mark = candidate.restaurant.service_id === current?.service_id ? '*' : ' ';
    const name = pad(truncate(names[index] ?? '', room), room);
    return truncate(`${index + 1} ${mark} ${name}  ${candidateFacts(candidate).join('  ')}`, columns);
  });
}

function keysText({ current }: ReviewRow, count: number): string {
  const isOnlyCurrent = current !== undefined && count === 1;
  const numbers = count > 1 ? `1-${count}` : '1';
  return [
    ...(current === undefined ? [] : ['y yes (1)']),
    ...(count === 0 || isOnlyCurrent ? [] : [`${numbers} this one`]),
    'n none',
    's search',
    'space skip',
    'u undo',
    'q quit',
  ].join(', ');
}
