import type { ColumnKind, Detail, PageRow } from '../document.ts';

/** Finds the rows that contain every word of a query. The text of a row is gathered when it is first searched. */
export function searcher(rows: readonly PageRow[]): (query: string) => number[] {
  const texts: string[] = [];
  const textOf = (number: number): string => {
    texts[number] ??= fold(textsOf(rows[number]).join('\n'));
    return texts[number];
  };
  return (query) => {
    const words = fold(query).split(/\s+/).filter(Boolean);
    const all = [...rows.keys()];
    return words.length === 0
      ? all
      : all.filter((number) => words.every((word) => textOf(number).includes(word)));
  };
}

function textsOf(row: PageRow | undefined): string[] {
  if (row === undefined) return [];
  return [
    row.t ?? '',
    ...row.c.map((cell) => String(cell ?? '')),
    ...row.d.flatMap(([, value]) => within(value)),
  ];
}

function within(value: Detail): string[] {
  if (typeof value === 'string') return [value];
  if ('href' in value) return [value.text];
  if ('cells' in value) return value.cells.flat();
  return 'list' in value ? value.list.flatMap(within) : value.pairs.flatMap(([, inner]) => within(inner));
}

export interface Order {
  readonly column: number;
  readonly descending: boolean;
}

const words = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

/** Returns the rank of a letter grade: A+ before A, A before A-. Undefined for other text. */
function gradeRank(text: string): number | undefined {
  const [, letter = '', sign = ''] = /^([A-F])([+\u2212-]?)$/.exec(text) ?? [];
  return letter === '' ? undefined : letter.charCodeAt(0) * 3 + (sign === '+' ? 0 : sign === '' ? 1 : 2);
}

type Value = PageRow['c'][number] | undefined;

function compare(a: Value, b: Value, kind: ColumnKind): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [one, other] = [String(a), String(b)];
  if (kind === 'grade') {
    const [first, second] = [gradeRank(one), gradeRank(other)];
    if (first !== undefined && second !== undefined) return first - second;
    if (first !== second) return first === undefined ? 1 : -1;
  }
  return words.compare(one, other);
}

/** Sorts rows by a column. Missing values are last in both directions; the sort is stable. */
export function sortRows(
  numbers: readonly number[],
  rows: readonly PageRow[],
  { column, descending }: Order,
  kind: ColumnKind,
): number[] {
  const sign = descending ? -1 : 1;
  return [...numbers].sort((a, b) => {
    const [one, other] = [rows[a]?.c[column], rows[b]?.c[column]];
    const none = Number(one === null || one === undefined) - Number(other === null || other === undefined);
    if (none !== 0) return none;
    return one === null || one === undefined ? 0 : sign * compare(one, other, kind);
  });
}

/** Folds text for comparison: without case and accents. */
export const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
