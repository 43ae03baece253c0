import type { Outcome } from '../client/types.ts';
import { isObject, type JsonObject } from '../util/object.ts';
import { cleanLine, label, width, wrap } from '../util/text.ts';
import { entryLines, type Field, inline, isSimple, separate } from './data.ts';
import { mapUrl } from './geo.ts';
import { EMPTY, glyphs, type View } from './presentation.ts';
import { pick } from './records.ts';
import { link } from './style.ts';

type Found = Extract<Outcome, { readonly output: unknown }>;
type Failed = Extract<Outcome, { readonly error: unknown }>;

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
  readonly known: Readonly<Partial<Record<FieldRole, Field>>>;
  readonly rest: readonly Field[];
}

function classifyFields(output: JsonObject): Classified {
  const fields = unwrap(output);
  const known: Partial<Record<FieldRole, Field>> = {};
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
function unwrap(output: JsonObject): readonly Field[] {
  const fields = Object.entries(output);
  const hasRole = (some: readonly Field[]): boolean =>
    ROLES.some((role) => fieldWith(role, some) !== undefined);
  const [inner, other] = fields.filter(([, value]) => typeof value === 'object' && value !== null);
  if (inner === undefined || other !== undefined || !isObject(inner[1]) || hasRole(fields)) return fields;
  const nested = Object.entries(inner[1]);
  return hasRole(nested) ? [...fields.filter((field) => field !== inner), ...nested] : fields;
}

function fieldWith(role: FieldRole, fields: readonly Field[]): Field | undefined {
  const plain = fields.filter(([, value]) => isPlain(value));
  return SYNONYMS[role]
    .map((synonym) => plain.find(([key]) => key.toLowerCase().replace(/[^a-z0-9]/g, '') === synonym))
    .find((field) => field !== undefined);
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => typeof item === 'string');
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number';
}

export const READING_WIDTH = 88;

/** Fields of a search result, which lookups have under the same names. */
export const PLACE: readonly string[] = ['address', 'neighborhood', 'city', 'coordinates'];
/** Fields that describe the record and not the restaurant. */
export const RECORD: readonly string[] = ['coverage_level', 'status', 'service_id', 'restaurant_id'];

/**
 * Renders a restaurant: grade and name, cuisine and price, and the summary; then the place, all other fields in their
 * order, and finally the fields about the record. A status of `ok` is left out; fields without a value share a line.
 */
export function cardLines(outcome: Outcome, columns: readonly string[] | undefined, view: View): string[] {
  if (outcome.error !== undefined) return failureLines(outcome, view.width, view);
  const { restaurantId, output } = outcome;
  const { known, rest } = fieldsOf(output, columns);
  const facts = known.name === undefined ? inOrder(rest) : factsOf(restaurantId, rest);
  const summary =
    known.summary === undefined ? [] : wrap(inline(known.summary[1]), Math.min(view.width, READING_WIDTH));
  return separate([
    [...heading(outcome, known, view), ...subheading(known, view)],
    summary,
    ...factLines(facts, view),
  ]);
}

export function factsOf(restaurantId: string, rest: readonly Field[]): Field[] {
  const hasId = rest.some(([, value]) => value === restaurantId);
  return inOrder(hasId ? rest : [...rest, ['restaurant_id', restaurantId]]);
}

export function failureLines(
  { restaurantId, error: { code, message } }: Failed,
  columns: number,
  { palette }: View,
): string[] {
  const reason = wrap(`${code}: ${cleanLine(message)}`, Math.min(columns, READING_WIDTH));
  return [...wrap(cleanLine(restaurantId), columns).map(palette.name), ...reason.map(palette.bad)];
}

export function nameLines(
  { restaurantId, output }: Found,
  name: Field | undefined,
  columns: number,
  view: View,
): string[] {
  const text = name === undefined ? restaurantId : inline(name[1]);
  const url = mapUrl(placeOf(output));
  return wrap(cleanLine(text), columns).map((line) => link(view.palette.name(line), url, view));
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

export function inOrder(entries: readonly Field[]): Field[] {
  const of = (names: readonly string[]): Field[] =>
    names.flatMap((name) => entries.filter(([key]) => key === name));
  const middle = entries.filter(([key]) => !PLACE.includes(key) && !RECORD.includes(key));
  return [...of(PLACE), ...middle, ...of(RECORD)];
}

function factLines(facts: readonly Field[], view: View): string[][] {
  const about = facts.filter(([key]) => RECORD.includes(key));
  const others = facts.filter(([key]) => !RECORD.includes(key));
  const present = others.filter(([, value]) => !isEmptyValue(value));
  const none = others.filter(([, value]) => isEmptyValue(value)).map(([key]) => label(key));
  const last: readonly Field[] = none.length === 0 ? about : [['No data', none.join(', ')], ...about];
  // Without sections in between, all fields share one alignment.
  const groups = present.every(([, value]) => isSimple(value)) ? [[...present, ...last]] : [present, last];
  return groups.map((group) => entryLines(group, view.width, view));
}

export const isEmptyValue = (value: unknown): boolean => isSimple(value) && inline(value) === EMPTY;

function heading(found: Found, { grade, name }: Classified['known'], view: View): string[] {
  const { palette, width: columns } = view;
  const letter = grade === undefined ? '' : cleanLine(inline(grade[1])).trim();
  const isShort = letter !== '' && width(letter) <= columns >> 2;
  const indent = isShort ? width(letter) + 2 : 0;
  const [first = '', ...more] = nameLines(found, name, columns - indent, view);
  if (isShort)
    return [`${palette.grade(letter)}  ${first}`, ...more.map((line) => ' '.repeat(indent) + line)];
  return [first, ...more, ...(letter === '' ? [] : wrap(`Grade ${letter}`, columns))];
}

function subheading({ cuisine, price }: Classified['known'], view: View): string[] {
  const facts = [cuisine && cleanLine(inline(cuisine[1])), price && priceText(price)].filter(
    (fact) => fact !== undefined,
  );
  return facts.length === 0 ? [] : wrap(facts.join(` ${glyphs(view).dot} `), view.width);
}

/** Formats a price. `$$$` needs no label, but `2` or `moderate` does. */
function priceText([key, value]: Field): string {
  const text = cleanLine(inline(value));
  return /\p{Sc}/u.test(text) ? text : `${label(key)} ${text}`;
}
