import type { Lookup } from '../client/types.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { errorFields } from './problem.ts';
import { pick } from './records.ts';
import { type DataField, isEmptyValue, isSimple } from './values.ts';

/** Likely keys of each role, without case and punctuation: the actual keys are not documented. */
const SYNONYMS = {
  name: ['name', 'restaurantname', 'displayname', 'title'],
  grade: ['grade', 'lettergrade', 'overallgrade', 'ratinggrade', 'restaurantgrade'],
  cuisine: ['cuisine', 'cuisines', 'cuisinetags', 'cuisinetype', 'cuisinetypes'],
  price: ['pricelevel', 'price', 'pricerange', 'pricetier', 'pricecategory'],
  summary: [
    'tldr',
    'summary',
    'shortsummary',
    'briefsummary',
    'shortdescription',
    'description',
    'overview',
    'blurb',
  ],
};

type FieldRole = keyof typeof SYNONYMS;
const ROLES = Object.keys(SYNONYMS) as FieldRole[];

export interface Classified {
  readonly known: Readonly<Partial<Record<FieldRole, DataField>>>;
  readonly rest: readonly DataField[];
}

function classifyFields(output: JsonObject): Classified {
  const fields = unwrap(output);
  const known: Partial<Record<FieldRole, DataField>> = {};
  for (const role of ROLES) {
    const field = fieldWith(role, fields);
    if (field !== undefined) known[role] = field;
  }
  return { known, rest: fields.filter((field) => !Object.values(known).includes(field)) };
}

/** If the only object of an output, next to a status for example, is a restaurant, returns its fields with the others. */
function unwrap(output: JsonObject): readonly DataField[] {
  const fields = Object.entries(output);
  const hasRole = (some: readonly DataField[]): boolean =>
    ROLES.some((role) => fieldWith(role, some) !== undefined);
  const [inner, other] = fields.filter(([, value]) => typeof value === 'object' && value !== null);
  if (inner === undefined || other !== undefined || !isObject(inner[1]) || hasRole(fields)) return fields;
  const nested = Object.entries(inner[1]);
  return hasRole(nested) ? [...fields.filter((field) => field !== inner), ...nested] : fields;
}

function fieldWith(role: FieldRole, fields: readonly DataField[]): DataField | undefined {
  const plain = fields.filter(([, value]) => isPlain(value));
  return SYNONYMS[role]
    .map((synonym) => plain.find(([key]) => key.toLowerCase().replace(/[^a-z0-9]/g, '') === synonym))
    .find((field) => field !== undefined);
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => typeof item === 'string');
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number';
}

/** Fields of a search result, which lookups have under the same names. */
export const PLACE: readonly string[] = ['address', 'neighborhood', 'city', 'coordinates'];
/** Fields that describe the record and not the restaurant. */
export const RECORD: readonly string[] = ['coverage_level', 'status', 'service_id', 'restaurant_id'];

export function factsOf(restaurantId: string, rest: readonly DataField[]): DataField[] {
  const hasId = rest.some(([, value]) => value === restaurantId);
  return inOrder(hasId ? rest : [...rest, ['restaurant_id', restaurantId]]);
}

export function fieldsOf(output: JsonObject, columns: readonly string[] | undefined): Classified {
  if (columns !== undefined) return classifyFields(pick(output, columns));
  const { known, rest } = classifyFields(output);
  return { known, rest: rest.filter(([key, value]) => key !== 'status' || value !== 'ok') };
}

export function placeOf(output: JsonObject): unknown {
  const inner = Object.values(output).filter(isObject);
  return output.coordinates ?? (inner.length === 1 ? inner[0]?.coordinates : undefined);
}

export function inOrder(entries: readonly DataField[]): DataField[] {
  const of = (names: readonly string[]): DataField[] =>
    names.flatMap((name) => entries.filter(([key]) => key === name));
  const middle = entries.filter(([key]) => !PLACE.includes(key) && !RECORD.includes(key));
  return [...of(PLACE), ...middle, ...of(RECORD)];
}

const MAX_ROW_LEVEL = 2;

/** A field of restaurants side by side, with one value for each; without values, a heading of the fields below it. */
export interface ComparedField {
  readonly key: string;
  readonly level: number;
  readonly values?: readonly unknown[];
}

type Records = readonly ReadonlyMap<string, unknown>[];

export interface Comparison {
  /** The fields of each restaurant; undefined for a failed lookup. */
  readonly found: readonly (Classified | undefined)[];
  /** Groups of rows: fields with a role; the summary; plain fields; each nested one; those about the record. */
  readonly groups: readonly (readonly ComparedField[])[];
}

/** Compares two to four restaurants. @returns undefined for other numbers, and if all lookups failed */
export function compare(outcomes: readonly Lookup[], columns?: readonly string[]): Comparison | undefined {
  const found = outcomes.map(({ output }) => output && fieldsOf(output, columns));
  const canCompare = found.length >= 2 && found.length <= 4 && found.some((one) => one !== undefined);
  return canCompare ? { found, groups: groupsOf(found) } : undefined;
}

function groupsOf(found: Comparison['found']): ComparedField[][] {
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

export function lookupEntry(
  { restaurantId, output, error }: Lookup,
  columns?: readonly string[],
): JsonObject {
  if (error !== undefined) return { restaurant_id: restaurantId, error: errorFields(error) };
  return { restaurant_id: restaurantId, output: columns === undefined ? output : pick(output, columns) };
}

export const lookupEntries = (outcomes: readonly Lookup[], columns?: readonly string[]): JsonObject[] =>
  outcomes.map((outcome) => lookupEntry(outcome, columns));
