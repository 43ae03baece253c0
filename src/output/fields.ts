import { isObject, type JsonObject } from '../util/json.ts';
import type { DataField } from './data.ts';
import { pick } from './records.ts';

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

/**
 * Returns the fields of an output. If its only object is a restaurant, next to a status for example, returns the fields
 * of the restaurant.
 */
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
