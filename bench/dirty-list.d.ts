export interface DirtyRow {
  readonly kind: string;
  readonly row: Readonly<Record<string, string | number>>;
  readonly named: string | undefined;
  readonly placed: string | undefined;
}
export function makeDirtyList(
  seed: number,
  count: number,
): { readonly restaurants: readonly object[]; readonly rows: readonly DirtyRow[] };
