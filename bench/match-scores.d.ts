import type { DirtyRow } from './dirty-list.js';

export type Mode = 'name' | 'loose' | 'place';
interface Result {
  readonly status: string;
  readonly id: string | undefined;
}
export const MODES: Readonly<Record<Mode, { readonly options: string[]; readonly columns: string[] }>>;
export const GOALS: readonly {
  readonly service: 'parts' | 'likeness';
  readonly mode: Mode;
  readonly what: 'precision' | 'recall' | 'first';
  readonly least: number;
}[];
export function scoreOf(
  rows: readonly DirtyRow[],
  results: readonly Result[],
  mode: Mode,
): {
  readonly precision: number;
  readonly recall: number;
  readonly first: number;
  readonly wrong: readonly unknown[];
};
