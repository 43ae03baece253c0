import { isRecord } from '../records.ts';

/** The role of a field that every lookup has, and of the name. */
export type FieldRole = 'name' | 'grade' | 'cuisine' | 'price' | 'summary';

/** Likely keys of each role, without case and punctuation: the actual keys are not documented. */
const SYNONYMS: Readonly<Record<FieldRole, readonly string[]>> = {
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
const ROLES: readonly FieldRole[] = ['name', 'grade', 'cuisine', 'price', 'summary'];

export interface Field {
  readonly key: string;
  readonly value: unknown;
}

/** The fields of an output, divided into those with a role and the rest. */
export interface Classified {
  readonly known: Readonly<Partial<Record<FieldRole, Field>>>;
  readonly rest: readonly (readonly [key: string, value: unknown])[];
}

/** Divides the fields of a lookup's output into those with a role and the rest. */
export function classifyFields(output: Record<string, unknown>): Classified {
  const body = unwrap(output);
  const fields = body === undefined ? output : body.inner;
  const known: Partial<Record<FieldRole, Field>> = {};
  for (const kind of ROLES) {
    const key = keyOf(kind, fields);
    if (key !== undefined) known[kind] = { key, value: fields[key] };
  }
  const used = new Set(Object.values(known).map(({ key }) => key));
  const rest = Object.entries(fields).filter(([key]) => !used.has(key));
  return { known, rest: [...(body?.around ?? []), ...rest] };
}

/** Finds a restaurant that is nested in the output as its only object, next to a status for example. */
function unwrap(
  output: Record<string, unknown>,
): { inner: Record<string, unknown>; around: Classified['rest'] } | undefined {
  if (ROLES.some((kind) => keyOf(kind, output) !== undefined)) return undefined;
  const objects = Object.values(output).filter((value) => typeof value === 'object' && value !== null);
  const [inner] = objects;
  if (objects.length !== 1 || !isRecord(inner) || !ROLES.some((kind) => keyOf(kind, inner) !== undefined))
    return undefined;
  return { inner, around: Object.entries(output).filter(([, value]) => value !== inner) };
}

function keyOf(kind: FieldRole, fields: Record<string, unknown>): string | undefined {
  const keys = Object.keys(fields).filter((key) => isPlain(fields[key]));
  for (const synonym of SYNONYMS[kind]) {
    const key = keys.find((candidate) => candidate.toLowerCase().replace(/[^a-z0-9]/g, '') === synonym);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** Returns whether a value can be part of a heading: text, a number, or a list of texts. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => typeof item === 'string');
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number';
}
