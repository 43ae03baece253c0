import { createContext, runInContext } from 'node:vm';
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { App } from '../../app/app.ts';
import type { Tool } from '../../client/types.ts';
import { AppError, systemCode } from '../../errors.ts';
import { excerpt } from '../../util/excerpt.ts';
import { didYouMean, nearest } from '../../util/nearest.ts';
import { shellWord } from '../../util/shell.ts';
import { buildArguments, type GivenArguments } from './arguments.ts';
import { argumentNames, possibleValues, type Schema, schemaOf } from './coerce.ts';

/** Time for compiling a schema and validating by it. A schema comes from the service and may take forever. */
const TIME_LIMIT_MS = 1000;
/** Keywords that report only that a schema below failed; the reason is another error. */
const COMBINING = ['if', 'allOf', '$ref', 'propertyNames'];
const CHOOSING = ['anyOf', 'oneOf'];
const MAX_LISTED = 20;
/** Dialects before 2019-09: lists of `items`, `dependencies`. */
const OLD_DIALECT = /^https?:\/\/json-schema\.org\/draft-0[3-7]\//;

const OPTIONS: Options = {
  // Schemas hold keywords of their own (x-mcp-header, titles for forms); only those of JSON Schema count.
  strict: false,
  validateSchema: false,
  // `format` is an annotation in 2020-12.
  validateFormats: false,
  allErrors: true,
  verbose: true,
  logger: false,
  addUsedSchema: false,
};

/** Validates by a tool's JSON Schema. */
type Validator = (args: unknown) => readonly ErrorObject[];

/**
 * Turns texts into values by the tool's JSON Schema and validates all arguments. A schema that cannot be used, or takes
 * too long, causes a warning and the arguments are sent unchecked.
 * @throws {AppError} `usage` naming the argument, its value and what is allowed
 */
export async function coerceArguments(
  app: Pick<App, 'warn'>,
  given: GivenArguments,
  tool: Tool,
): Promise<Record<string, unknown>> {
  const { inputSchema: schema = {} } = tool;
  const coerce = (validate?: Validator) => {
    const args = buildArguments(given, (text, key) => coerceText(text, key, schema, validate));
    return { args, errors: validate?.(args) ?? [], names: argumentNames(schema) };
  };
  const { args, errors, names } = await withTimeLimit(() => coerce(compile(schema))).catch(
    async (failure: unknown) => {
      if (failure instanceof AppError) throw failure;
      const why = failure instanceof Error ? failure.message : String(failure);
      await app.warn(
        `the arguments are sent unchecked: the JSON Schema of ${tool.name} cannot be used: ${excerpt(why, 200)}`,
      );
      const sent = { args: buildArguments(given), errors: [], names: [] };
      return withTimeLimit(() => coerce()).catch(() => sent);
    },
  );
  if (errors.length > 0) throw argumentError(tool.name, errors, Object.keys(args), names);
  for (const name of unknownArguments(Object.keys(args), names)) {
    const [near] = nearest(name, names);
    if (near !== undefined) await app.warn(`${tool.name} lists no '${name}'; did you mean ${near}?`);
  }
  return args;
}

/**
 * Runs work that the service can make slow. The limit holds inside a regular expression too, where neither a timer nor
 * a signal handler runs.
 * @throws {Error} of the work, of too deep recursion, or of the time limit
 */
async function withTimeLimit<T>(work: () => T): Promise<T> {
  let result: { value: T } | undefined;
  const run = () => {
    result = { value: work() };
  };
  try {
    runInContext('run()', createContext({ run }), { timeout: TIME_LIMIT_MS, breakOnSigint: true });
  } catch (error) {
    if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') {
      throw new AppError('interrupted', 'interrupted by SIGINT', { cause: error });
    }
    if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new Error(`checking the arguments took more than ${TIME_LIMIT_MS / 1000} s`, { cause: error });
    }
    throw error;
  }
  if (result === undefined) throw new Error('checking the arguments ended early');
  return result.value;
}

/**
 * Compiles a tool's schema. Nothing is fetched: a schema that refers to another document cannot be used.
 * @throws {Error} of ajv for a schema that it cannot compile
 */
function compile(inputSchema: Schema): Validator {
  // An asynchronous schema would return a promise.
  const { $schema, $async: _, ...schema } = inputSchema;
  const isOld = typeof $schema === 'string' && OLD_DIALECT.test($schema);
  const ajv = isOld ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  const validate = ajv.compile<unknown>(schema);
  return (args) => (validate(args) ? [] : [...(validate.errors ?? [])]);
}

function coerceText(text: string, key: string, schema: Schema, validate: Validator | undefined): unknown {
  const possible = possibleValues(text, key, schemaOf(schema, key), schema);
  const valid = possible.find((value) => validate === undefined || isValid(validate, key, value));
  // Where nothing is valid, the error names the likeliest value.
  return valid === undefined ? (possible[0] ?? text) : valid;
}

/** Whether one argument is valid, whatever the others are. */
function isValid(validate: Validator, name: string, value: unknown): boolean {
  const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return !validate({ [name]: value }).some(
    ({ instancePath }) => instancePath === path || instancePath.startsWith(`${path}/`),
  );
}

/**
 * Reports validation errors as one: what is missing, else what is unknown, else the first invalid value with what is
 * allowed.
 * @param given names of the arguments
 * @param names those that the tool has
 */
function argumentError(
  tool: string,
  errors: readonly ErrorObject[],
  given: readonly string[],
  names: readonly string[],
): AppError {
  const hint = `restaurant tools ${shellWord(tool)}`;
  const certain = errors.filter(({ schemaPath }) => !/\/(?:anyOf|oneOf|if)\//.test(schemaPath));
  const missing = certain.filter(({ keyword }) => keyword === 'required');
  if (missing.length > 0) {
    const needed = [...new Set(missing.map((error) => dotted(error, String(error.params.missingProperty))))];
    const unknown = unknownArguments(given, names);
    const misspelt = needed.filter((name) => nearest(name, unknown).length > 0);
    const near = misspelt.length > 0 ? `did you mean ${misspelt.join(' and ')}? ` : '';
    const wrong = misspelt.flatMap((name) => nearest(name, unknown));
    const other = wrong.length > 0 ? `, and has no argument '${wrong.join("', '")}'` : '';
    return new AppError('usage', `${tool} needs ${needed.join(' and ')}${other}`, { hint: `${near}${hint}` });
  }
  const unknown = certain.find(({ params }) => unknownProperty(params) !== undefined);
  if (unknown !== undefined) {
    const name = dotted(unknown, unknownProperty(unknown.params));
    return new AppError('usage', `${tool} has no argument '${name}'`, {
      hint: `${didYouMean(name, names)}${hint}`,
    });
  }
  const first = certain.find(({ keyword }) => !COMBINING.includes(keyword)) ?? errors[0];
  if (first === undefined) return new AppError('usage', `the arguments of ${tool} are invalid`, { hint });
  const allowed = allowedBy(first, errors);
  const near = typeof first.data === 'string' ? didYouMean(first.data, allowed.values) : '';
  return new AppError('usage', `${describe(first)}: expected ${allowed.text}`, { hint: `${near}${hint}` });
}

/** Returns the arguments that the tool does not list. It may accept them unless its schema forbids it. */
function unknownArguments(given: readonly string[], names: readonly string[]): string[] {
  return names.length === 0 ? [] : given.filter((name) => !names.includes(name));
}

function unknownProperty(params: ErrorObject['params']): string | undefined {
  const name: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  return typeof name === 'string' ? name : undefined;
}

/** `filters.kind`, or the name of a member of it. */
function dotted({ instancePath }: ErrorObject, member?: string): string {
  const keys = instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return [...keys, ...(member === undefined ? [] : [member])].join('.');
}

function describe(error: ErrorObject): string {
  const name = dotted(error);
  const value = excerpt(JSON.stringify(error.data) ?? 'nothing', 60);
  return name === '' ? `the arguments ${value}` : `${name} ${value}`;
}

interface Allowed {
  readonly text: string;
  /** Texts that are valid. */
  readonly values: readonly string[];
}

/** Describes the values that a failed schema allows. */
function allowedBy(error: ErrorObject, all: readonly ErrorObject[]): Allowed {
  const { keyword, params } = error;
  if (keyword === 'enum') return oneOf(params.allowedValues);
  if (keyword === 'const') return oneOf([params.allowedValue]);
  if (keyword === 'type') return { text: [params.type].flat().join(' or '), values: [] };
  if (CHOOSING.includes(keyword)) return allowedByAny(error, all);
  const limit = LIMITS[keyword];
  const text = limit?.(params.limit ?? params.pattern ?? params.multipleOf);
  // Other keywords of JSON Schema, in the validator's own words.
  const other = `something else (it ${excerpt(error.message ?? `breaks ${keyword}`, 100)})`;
  return { text: text ?? other, values: [] };
}

/** Lists the values, else the types, of the schemas to choose from. */
function allowedByAny({ instancePath, schemaPath }: ErrorObject, all: readonly ErrorObject[]): Allowed {
  const below = all.filter(
    (error) => error.instancePath === instancePath && error.schemaPath.startsWith(`${schemaPath}/`),
  );
  const values = below.flatMap(({ keyword, params }) =>
    keyword === 'enum' ? params.allowedValues : keyword === 'const' ? [params.allowedValue] : [],
  );
  if (values.length > 0) return oneOf(values);
  const types = below.flatMap(({ keyword, params }) => (keyword === 'type' ? [params.type].flat() : []));
  const text = types.length > 0 ? [...new Set(types)].join(' or ') : 'one of the shapes that the tool lists';
  return { text, values: [] };
}

function oneOf(values: unknown): Allowed {
  const texts = [values].flat().map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const shown = texts.slice(0, MAX_LISTED).map((text) => excerpt(text, 60));
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
  minItems: (limit) => `at least ${limit} items`,
  maxItems: (limit) => `at most ${limit} items`,
  pattern: (pattern) => `text that matches ${excerpt(String(pattern), 100)}`,
};
