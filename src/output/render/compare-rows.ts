import { label } from '../label.ts';
import { isRecord } from '../records.ts';
import { inOrder, isEmptyValue, NO_DATA, RECORD } from './card.ts';
import { isSimple } from './inline.ts';
import type { Classified, FieldRole } from './kinds.ts';

const MAX_ROW_LEVEL = 2;

/** What stands above all other rows, in this order. */
const LEADING_ROLES: readonly (readonly [kind: FieldRole, title: string])[] = [
  ['grade', 'Grade'],
  ['cuisine', 'Cuisine'],
  ['price', 'Price'],
  ['summary', 'Summary'],
];

/** A field of all restaurants; `values` holds undefined where one has no such field. */
export interface Row {
  readonly title: string;
  readonly level: number;
  /** A heading has no values of its own. */
  readonly values?: readonly unknown[];
  /** Said of all together. */
  readonly text?: string;
  readonly kind?: FieldRole;
  /** A blank line stands before it. */
  readonly apart?: boolean;
}

/** The fields of restaurants as rows; undefined stands for one that could not be had. */
export function rowsFor(found: readonly (Classified | undefined)[]): Row[] {
  return [...firstRows(found), ...restRows(found)];
}

function firstRows(found: readonly (Classified | undefined)[]): Row[] {
  return LEADING_ROLES.flatMap(([kind, title]) => {
    const values = found.map((one) => one?.known[kind]?.value);
    return values.every((value) => value === undefined) ? [] : [{ title, level: 0, values, kind }];
  });
}

/** All other fields: the plain ones, then those that hold others, each under its own heading. */
function restRows(found: readonly (Classified | undefined)[]): Row[] {
  const records = found.map((one) => (one === undefined ? undefined : Object.fromEntries(one.rest)));
  const keys = [...new Set(found.flatMap((one) => one?.rest.map(([key]) => key) ?? []))];
  const told = keys.filter((key) => !valuesOf(records, key).every((value) => isEmptyValue(value ?? null)));
  const order = inOrder(told.map((key) => [key, undefined])).map(([key]) => key);
  const room = (key: string): number => (isGroup(records, key) ? 1 : isPlain(records, key) ? 0 : 2);
  const about = order.filter((key) => RECORD.includes(key));
  const others = order.filter((key) => !RECORD.includes(key)).sort((a, b) => room(a) - room(b));
  const rows = (list: readonly string[]): Row[] =>
    list.flatMap((key) => {
      const [row, ...inner] = rowsOf(key, records, 0);
      return row === undefined ? [] : [{ ...row, apart: room(key) > 0 }, ...inner];
    });
  // Another one may have it as what stands above.
  const heads = found.flatMap((one) => Object.values(one?.known ?? {}).map(({ key }) => key));
  const none = keys.filter((key) => !told.includes(key) && !heads.includes(key)).map(label);
  const last: Row[] = [
    ...(none.length === 0 ? [] : [{ title: NO_DATA, level: 0, text: none.join(', ') }]),
    ...rows(about),
  ];
  return [...rows(others), ...last.map((row, index) => ({ ...row, apart: index === 0 }))];
}

type Records = readonly (Record<string, unknown> | undefined)[];

const valuesOf = (records: Records, key: string): unknown[] =>
  records.map((record) => (record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined));

const isPlain = (records: Records, key: string): boolean =>
  valuesOf(records, key).every((value) => isSimple(value ?? null));

/** Whether a field holds objects alone, of which at least one is too big for a line. */
function isGroup(records: Records, key: string): boolean {
  const values = valuesOf(records, key).filter((value) => value !== undefined && value !== null);
  return values.length > 0 && values.every(isRecord) && !values.every(isSimple);
}

function rowsOf(key: string, records: Records, level: number): Row[] {
  const values = valuesOf(records, key);
  if (level >= MAX_ROW_LEVEL || !isGroup(records, key)) return [{ title: label(key), level, values }];
  const inner = values.map((value) => (isRecord(value) ? value : undefined));
  const keys = new Set(inner.flatMap((record) => Object.keys(record ?? {})));
  return [{ title: label(key), level }, ...[...keys].flatMap((each) => rowsOf(each, inner, level + 1))];
}
