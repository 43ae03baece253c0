import { cleanCell } from '../util/text.ts';
import type { Presentation } from './presentation.ts';
import { type Scalar, tabulate } from './records.ts';

/** `mixed`: cells of several kinds. A `date` is a day; one with a time of day is a `time`. */
export type TableCellKind = 'text' | 'number' | 'boolean' | 'date' | 'time' | 'mixed';

export type TableCell = Scalar | Date;

export interface TableColumn {
  readonly name: string;
  readonly kind: TableCellKind;
}

/** Rows for a file with typed columns. The cells have the kind of their column, or are null. */
export interface TableFile {
  readonly columns: readonly TableColumn[];
  readonly rows: AsyncIterable<readonly TableCell[]> | Iterable<readonly TableCell[]>;
}

/** A number that is not an identifier or a code: without leading zeros, and with no more digits than a number keeps. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/;
const MAX_DIGITS = 15;
const isNumber = (text: string): boolean =>
  NUMBER.test(text) && text.replace(/[-.]/g, '').length <= MAX_DIGITS;

const DAY_MS = 86_400_000;
const DAY_LENGTH = 'yyyy-mm-dd'.length;
const isDay = (kind: TableCellKind): boolean => kind === 'date' || kind === 'time';

export class ColumnKinds {
  readonly #readsText: boolean;
  readonly #kinds: (TableCellKind | undefined)[] = [];

  /** @param readsText whether text can be a number, as in CSV */
  constructor(readsText: boolean) {
    this.#readsText = readsText;
  }

  add(cells: readonly TableCell[]): void {
    for (const [index, cell] of cells.entries()) {
      const kind = this.#kindOf(cell);
      if (kind !== undefined) this.#kinds[index] = this.#common(this.#kinds[index] ?? kind, kind);
    }
  }

  #common(one: TableCellKind, other: TableCellKind): TableCellKind {
    if (one === other) return one;
    if (isDay(one) && isDay(other)) return 'time';
    return this.#readsText ? 'text' : 'mixed';
  }

  /** @param numbers columns of numbers, also if all of their cells are empty */
  columns(names: readonly string[], numbers: readonly string[]): TableColumn[] {
    return names.map((name, index) => {
      const kind = numbers.includes(name) ? 'number' : this.#kinds[index];
      return { name, kind: kind ?? 'text' };
    });
  }

  #kindOf(cell: TableCell): TableCellKind | undefined {
    if (cell === null || cell === '') return undefined;
    if (cell instanceof Date) return cell.getTime() % DAY_MS === 0 ? 'date' : 'time';
    if (typeof cell === 'boolean') return 'boolean';
    if (typeof cell === 'string' && !(this.#readsText && isNumber(cell))) return 'text';
    return 'number';
  }
}

export function typedCells<Cell extends TableCell>(
  cells: readonly Cell[],
  columns: readonly TableColumn[],
): (Cell | Scalar)[] {
  return columns.map(({ kind }, index) => {
    const cell = cells[index] ?? null;
    if (cell === null || cell === '') return null;
    if (kind === 'text') return textOf(cell);
    if (kind !== 'number') return cell;
    const number = Number(cell);
    return Number.isFinite(number) ? number : null;
  });
}

/** The text of a cell: of a day `2026-01-31`, else with its time. */
export function textOf(cell: TableCell): string {
  if (!(cell instanceof Date)) return String(cell);
  return cell.toISOString().slice(0, cell.getTime() % DAY_MS === 0 ? DAY_LENGTH : -'.000Z'.length);
}

/** So that the types of a file do not depend on the results. */
const NUMBERS = ['lat', 'lng', 'distance_km'];

/** Returns the records as a table. @param mask hides secrets in text */
export function tableOf(
  data: Presentation,
  selected: readonly string[] | undefined,
  mask: (text: string) => string,
): TableFile {
  const { keys, rows } = tabulate(data.rows ?? data.records, selected ?? data.columns);
  const kinds = new ColumnKinds(false);
  for (const cells of rows) kinds.add(cells);
  const columns = kinds.columns(keys, NUMBERS);
  const clean = (cell: Scalar): Scalar => (typeof cell === 'string' ? mask(cleanCell(cell)) : cell);
  return { columns, rows: rows.map((cells) => typedCells(cells.map(clean), columns)) };
}
