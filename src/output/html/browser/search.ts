import type { Detail, PageRow } from '../document.ts';
import { fold } from './order.ts';

/** Finds the rows that hold every word of a query, anywhere. What is searched is gathered once, when first needed. */
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
  return 'list' in value ? value.list.flatMap(within) : value.pairs.flatMap(([, inner]) => within(inner));
}
