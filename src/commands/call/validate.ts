import { AppError } from '../../errors.ts';
import { excerpt } from '../../util/excerpt.ts';
import { didYouMean, nearest } from '../../util/nearest.ts';
import type { Fault } from './schema-check.ts';

/** Keywords that say only that one of several schemas below failed; the reason stands in other faults. */
const COMBINING = ['if', 'allOf', '$ref', 'propertyNames'];
const CHOOSING = ['anyOf', 'oneOf'];
const MOST_LISTED = 20;

/**
 * The faults of a call's arguments as one error: what is missing, else what is unknown, else the first that does not
 * fit, with what was given and what is allowed.
 * @param given names of the arguments
 * @param names those that the tool has
 */
export function argumentError(
  tool: string,
  faults: readonly Fault[],
  given: readonly string[],
  names: readonly string[],
): AppError {
  const hint = `restaurant tools ${tool}`;
  const certain = faults.filter(({ schemaPath }) => !/\/(?:anyOf|oneOf|if)\//.test(schemaPath));
  const missing = certain.filter(({ keyword }) => keyword === 'required');
  if (missing.length > 0) {
    const needed = [...new Set(missing.map((fault) => dotted(fault, String(fault.params.missingProperty))))];
    const misspelt = needed.filter((name) => nearest(name, strangers(given, names)).length > 0);
    const near = misspelt.length > 0 ? `did you mean ${misspelt.join(' and ')}? ` : '';
    const wrong = misspelt.flatMap((name) => nearest(name, strangers(given, names)));
    const other = wrong.length > 0 ? `, and has no argument '${wrong.join("', '")}'` : '';
    return new AppError('usage', `${tool} needs ${needed.join(' and ')}${other}`, { hint: `${near}${hint}` });
  }
  const unknown = certain.find(({ params }) => unknownIn(params) !== undefined);
  if (unknown !== undefined) {
    const name = dotted(unknown, unknownIn(unknown.params) ?? '');
    return new AppError('usage', `${tool} has no argument '${name}'`, {
      hint: `${didYouMean(name, names)}${hint}`,
    });
  }
  const first = certain.find(({ keyword }) => !COMBINING.includes(keyword)) ?? faults[0];
  if (first === undefined) return new AppError('usage', `the arguments of ${tool} do not fit`, { hint });
  const allowed = allowedBy(first, faults);
  const near = typeof first.data === 'string' ? didYouMean(first.data, allowed.values) : '';
  return new AppError('usage', `${place(first)}: expected ${allowed.text}`, { hint: `${near}${hint}` });
}

/** The arguments that the tool does not list. Where it does not forbid them, it may know them all the same. */
export function strangers(given: readonly string[], names: readonly string[]): string[] {
  return names.length === 0 ? [] : given.filter((name) => !names.includes(name));
}

function unknownIn(params: Fault['params']): string | undefined {
  const name: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  return typeof name === 'string' ? name : undefined;
}

/** `filters.kind`, and the name of a member of it. */
function dotted({ instancePath }: Fault, member?: string): string {
  const keys = instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return [...keys, ...(member === undefined ? [] : [member])].join('.');
}

function place(fault: Fault): string {
  const name = dotted(fault);
  const shown = excerpt(JSON.stringify(fault.data) ?? 'nothing', 60);
  return name === '' ? `the arguments ${shown}` : `${name} ${shown}`;
}

interface Allowed {
  readonly text: string;
  /** Texts that would have been right. */
  readonly values: readonly string[];
}

/** What a fault's schema asks for, in words. */
function allowedBy(fault: Fault, all: readonly Fault[]): Allowed {
  const { keyword, params } = fault;
  if (keyword === 'enum') return oneOf(params.allowedValues);
  if (keyword === 'const') return oneOf([params.allowedValue]);
  if (keyword === 'type') return { text: [params.type].flat().join(' or '), values: [] };
  if (CHOOSING.includes(keyword)) return chosen(fault, all);
  const limit = LIMITS[keyword];
  const text = limit === undefined ? undefined : limit(params.limit ?? params.pattern ?? params.multipleOf);
  // The other words of JSON Schema, as the validator says them.
  return {
    text: text ?? `something else (it ${excerpt(fault.message ?? `breaks ${keyword}`, 100)})`,
    values: [],
  };
}

/** The values, else the types, of the schemas to choose from. */
function chosen({ instancePath, schemaPath }: Fault, all: readonly Fault[]): Allowed {
  const below = all.filter(
    (fault) => fault.instancePath === instancePath && fault.schemaPath.startsWith(`${schemaPath}/`),
  );
  const values = below.flatMap(({ keyword, params }) =>
    keyword === 'enum' ? params.allowedValues : keyword === 'const' ? [params.allowedValue] : [],
  );
  if (values.length > 0) return oneOf(values);
  const types = below.flatMap(({ keyword, params }) => (keyword === 'type' ? [params.type].flat() : []));
  const text = types.length > 0 ? [...new Set(types)].join(' or ') : 'one of the forms that the tool lists';
  return { text, values: [] };
}

function oneOf(values: unknown): Allowed {
  const texts = [values].flat().map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const shown = texts.slice(0, MOST_LISTED).map((text) => excerpt(text, 60));
  const more = texts.length > shown.length ? `, … (${texts.length} in all)` : '';
  return { text: `${texts.length > 1 ? 'one of ' : ''}${shown.join(', ')}${more}`, values: texts };
}

const LIMITS: Readonly<Record<string, (limit: unknown) => string>> = {
  minimum: (limit) => `at least ${limit}`,
  maximum: (limit) => `at most ${limit}`,
  exclusiveMinimum: (limit) => `more than ${limit}`,
  exclusiveMaximum: (limit) => `less than ${limit}`,
  multipleOf: (step) => `a multiple of ${step}`,
  minLength: (limit) => `at least ${limit} characters`,
  maxLength: (limit) => `at most ${limit} characters`,
  minItems: (limit) => `at least ${limit} in the list`,
  maxItems: (limit) => `at most ${limit} in the list`,
  pattern: (pattern) => `text that matches ${excerpt(String(pattern), 100)}`,
};
