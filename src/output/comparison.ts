import { isObject } from '../util/json.ts';
import { isEmptyValue, isSimple } from './data.ts';
import { type Classified, inOrder, RECORD } from './fields.ts';

/** The numbers of restaurants that can be shown side by side. */
export const canCompare = (count: number): boolean => count >= 2 && count <= 4;

const MAX_ROW_LEVEL = 2;

/** A field of restaurants side by side, with one value for each; without values, a heading of the fields below it. */
export interface ComparedField {
  readonly key: string;
  readonly level: number;
  readonly values?: readonly unknown[];
}

type Records = readonly ReadonlyMap<string, unknown>[];

/**
 * Returns the fields of restaurants as groups of rows: those with a role; the summary; plain ones; each nested one; and
 * those about the record. Undefined marks a failed lookup.
 */
export function compareFields(found: readonly (Classified | undefined)[]): ComparedField[][] {
  const known = (['grade', 'cuisine', 'price', 'summary'] as const)
    .map((role) => ({ key: role, level: 0, values: found.map((one) => one?.known[role]?.[1]) }))
    .filter(({ values }) => values.some((value) => value !== undefined));
  const records: Records = found.map((one) => new Map(one?.rest));
  const valuesOf = (key: string): unknown[] => records.map((record) => record.get(key));
  const keys = new Set(records.flatMap((record) => [...record.keys()]));
  const present = [...keys].filter((key) => valuesOf(key).some((value) => !isEmptyValue(value)));
  const ordered = inOrder(present.map((key) => [key, undefined])).map(([key]) => key);
  const isNested = (key: string): boolean => !valuesOf(key).every(isSimple);
  const others = ordered.filter((key) => !RECORD.includes(key));
  const rowsOfAll = (some: readonly string[]): ComparedField[] =>
    some.flatMap((key) => rowsOf(key, records, 0));
  return [
    known.filter(({ key }) => key !== 'summary'),
    known.filter(({ key }) => key === 'summary'),
    rowsOfAll(others.filter((key) => !isNested(key))),
    ...others.filter(isNested).map((key) => rowsOf(key, records, 0)),
    rowsOfAll(ordered.filter((key) => RECORD.includes(key))),
  ];
}

function rowsOf(key: string, records: Records, level: number): ComparedField[] {
  const values = records.map((record) => record.get(key));
  const present = values.filter((value) => value !== undefined && value !== null);
  const isGroup = present.length > 0 && present.every(isObject) && !present.every(isSimple);
  if (level >= MAX_ROW_LEVEL || !isGroup) return [{ key, level, values }];
  const inner = values.map((value) => new Map(isObject(value) ? Object.entries(value) : []));
  const keys = new Set(inner.flatMap((record) => [...record.keys()]));
  return [{ key, level }, ...[...keys].flatMap((each) => rowsOf(each, inner, level + 1))];
}
