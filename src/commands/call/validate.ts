import { createContext, runInContext } from 'node:vm';
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { App } from '../../app/app.ts';
import type { Tool } from '../../client/types.ts';
import { AppError, systemCode, usage } from '../../errors.ts';
import { type Advice, restaurant } from '../../hint.ts';
import { excerpt } from '../../util/format.ts';
import { nearest, suggestion } from '../../util/nearest.ts';
import { parseUserJson } from '../../util/user-json.ts';
import {
  argumentNames,
  buildArguments,
  type Inputs,
  partsOf,
  possibleValues,
  type Schema,
  schemaOf,
  typesOf,
} from './arguments.ts';

/** Time limit for compiling a schema and validating with it. A schema comes from the service and may take forever. */
const TIME_LIMIT_MS = 1000;
/** Keywords whose errors only report that a subschema failed; the cause is a separate error. */
const COMBINING = ['if', 'allOf', '$ref', 'propertyNames'];
const MAX_LISTED = 400;
/** Dialects before 2019-09, with arrays in `items`, and `dependencies`. */
const OLD_DIALECT = /^https?:\/\/json-schema\.org\/draft-0[3-7]\//;

const OPTIONS: Options = {
  // Schemas may contain other keywords than those of JSON Schema (x-mcp-header, titles for forms).
  strict: false,
  validateSchema: false,
  // `format` is an annotation in 2020-12.
  validateFormats: false,
  allErrors: true,
  verbose: true,
  logger: false,
  addUsedSchema: false,
  // 19.99 / 0.01 is 1998.9999999999998.
  multipleOfPrecision: 9,
  // An argument may be named constructor.
  ownProperties: true,
};

type Validator = (args: unknown) => readonly ErrorObject[];

/**
 * Converts texts to values by the tool's JSON Schema, and validates all arguments. If the schema cannot be used or takes
 * too long, a warning is printed, and the arguments are sent without validation.
 * @throws {AppError} `usage` with the argument, its value, and the allowed values
 */
export async function coerceArguments(
  app: { readonly notes: Pick<App['notes'], 'warn'> },
  inputs: Inputs,
  tool: Tool,
): Promise<Record<string, unknown>> {
  // A service may send null.
  const schema = tool.inputSchema ?? {};
  const coerce = (validate?: Validator) =>
    buildArguments(inputs, (text, key) => coerceText(text, key, schema, validate));
  let args: Record<string, unknown>;
  let errors: readonly ErrorObject[];
  try {
    [args, errors] = withTimeLimit(() => {
      const validate = compile(schema);
      const coerced = coerce(validate);
      return [coerced, validate(withoutOptionalNulls(coerced, schema))];
    });
  } catch (failure) {
    if (failure instanceof AppError) throw failure;
    const why = failure instanceof Error ? failure.message : String(failure);
    await app.notes.warn(
      `sending the arguments without validation: cannot use the JSON Schema of ${tool.name}: ${excerpt(why, 200)}`,
    );
    [args, errors] = [coerce(), []];
  }
  const names = argumentNames(schema);
  if (errors.length > 0) throw argumentError(tool.name, errors, Object.keys(args), names);
  for (const name of unknownArguments(Object.keys(args), names)) {
    const [near] = nearest(name, names);
    if (near !== undefined)
      await app.notes.warn(`'${name}' is not a listed argument of ${tool.name}; did you mean ${near}?`);
  }
  return args;
}

/** Null for an optional argument is sent regardless of its type, so it is left out here; the validator knows no BigInt. */
function withoutOptionalNulls(args: Record<string, unknown>, schema: Schema): Record<string, unknown> {
  const required = partsOf(schema).flatMap((part) => part.required ?? []);
  return Object.fromEntries(
    Object.entries(args)
      .filter(([name, value]) => value !== null || required.includes(name))
      .map(([name, value]) => [name, rounded(value)]),
  );
}

function rounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rounded);
  return typeof value === 'bigint' ? Number(value) : value;
}

/**
 * Runs work that a schema can make slow. The limit also applies inside a regular expression, where neither timers nor
 * signal handlers run.
 * @throws {Error} of the work, or for too much recursion, or at the time limit
 */
function withTimeLimit<T>(work: () => T): T {
  try {
    const limits = { timeout: TIME_LIMIT_MS, breakOnSigint: true };
    return runInContext('work()', createContext({ work }), limits) as T;
  } catch (error) {
    if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') {
      throw new AppError('interrupted', 'interrupted by SIGINT', { cause: error });
    }
    if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new Error(`validating the arguments took more than ${TIME_LIMIT_MS / 1000} s`, { cause: error });
    }
    throw error;
  }
}

/**
 * Compiles a tool's schema. References are not fetched, so a schema that refers to another document cannot be used.
 * @throws {Error} from ajv for a schema that it cannot compile
 */
function compile(inputSchema: Schema): Validator {
  // An asynchronous schema would return a promise.
  const { $schema, $async: _, ...schema } = inputSchema;
  const isOld = typeof $schema === 'string' && OLD_DIALECT.test($schema);
  const ajv = isOld ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  const validate = ajv.compile<unknown>(schema);
  return (args) => (validate(args) ? [] : [...(validate.errors ?? [])]);
}

/** @throws {AppError} `usage` for invalid JSON that cannot be meant as text */
function coerceText(text: string, key: string, root: Schema, validate: Validator | undefined): unknown {
  const schema = schemaOf(root, key) ?? {};
  const tried: unknown[] = [];
  for (const value of possibleValues(text, schema)) {
    if (validate === undefined || isValid(validate, key, value)) return value;
    tried.push(value);
  }
  const types = typesOf(schema);
  // The type behind a `$ref` is not known.
  const isStructure = types.length === 0 || types.includes('object') || types.includes('array');
  const isMeantAsJson = /^\s*[[{]/.test(text) && isStructure && !types.includes('string');
  // If no value is valid, the error shows the most likely one.
  return isMeantAsJson && tried[0] === text ? parseUserJson(text, key) : tried[0];
}

function isValid(validate: Validator, name: string, value: unknown): boolean {
  const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return !validate({ [name]: rounded(value) }).some(
    ({ instancePath }) => instancePath === path || instancePath.startsWith(`${path}/`),
  );
}

function argumentError(
  tool: string,
  errors: readonly ErrorObject[],
  inputs: readonly string[],
  names: readonly string[],
): AppError {
  const fail = (message: string, near: readonly Advice[] = []): AppError =>
    usage(message, [...near, { command: restaurant('tools', tool) }]);
  const certain = errors.filter(({ schemaPath }) => !/\/(?:anyOf|oneOf|if)\//.test(schemaPath));
  const missing = certain.flatMap((error) =>
    error.keyword === 'required' ? [dotted(error, error.params.missingProperty)] : [],
  );
  if (missing.length > 0) {
    const needed = [...new Set(missing)];
    const misspelt = unknownArguments(inputs, names).find((name) => nearest(name, needed).length > 0);
    const other = misspelt === undefined ? '' : `; it has no argument '${misspelt}'`;
    return fail(`${tool} needs ${needed.join(' and ')}${other}`, suggestion(misspelt ?? '', needed));
  }
  const unknown = certain.flatMap((error) => {
    const name: unknown = error.params.additionalProperty ?? error.params.unevaluatedProperty;
    return typeof name === 'string' ? [dotted(error, name)] : [];
  });
  if (unknown[0] !== undefined) {
    return fail(`${tool} has no argument '${unknown[0]}'`, suggestion(unknown[0], names));
  }
  const first = certain.find(({ keyword }) => !COMBINING.includes(keyword)) ?? errors[0];
  if (first === undefined) return fail(`invalid arguments for ${tool}`);
  const path = dotted(first);
  const value = excerpt(JSON.stringify(first.data) ?? 'nothing', 60);
  const { problem, values } = explain(first, errors);
  const near = typeof first.data === 'string' ? suggestion(first.data, values) : [];
  return fail(`${path === '' ? 'the arguments' : path} ${value}: ${problem}`, near);
}

function unknownArguments(inputs: readonly string[], names: readonly string[]): string[] {
  return names.length === 0 ? [] : inputs.filter((name) => !names.includes(name));
}

/** `filters.kind`, or the name of a member of it. */
function dotted({ instancePath }: ErrorObject, ...member: string[]): string {
  const keys = instancePath.split('/').slice(1);
  return [...keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')), ...member].join('.');
}

function explain(
  error: ErrorObject,
  all: readonly ErrorObject[],
): { problem: string; values: readonly string[] } {
  const { instancePath, schemaPath, keyword, message = `violates ${keyword}` } = error;
  const isChoice = ['anyOf', 'oneOf'].includes(keyword);
  // Each of the alternative schemas failed with its own error.
  const causes = isChoice
    ? all.filter((each) => each.instancePath === instancePath && each.schemaPath.startsWith(`${schemaPath}/`))
    : [error];
  const allowed = causes.flatMap(({ params }): unknown[] =>
    'allowedValue' in params ? [params.allowedValue] : (params.allowedValues ?? []),
  );
  const values = allowed.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  if (values.length > 0) {
    const listed = excerpt(values.join(', '), MAX_LISTED);
    return { problem: `expected ${values.length > 1 ? 'one of ' : ''}${listed}`, values };
  }
  const types = new Set(causes.flatMap((each) => (each.keyword === 'type' ? [each.params.type].flat() : [])));
  if (types.size > 0) return { problem: `expected ${[...types].join(' or ')}`, values };
  return {
    problem: isChoice ? 'matches no form in the schema' : excerpt(message, 100),
    values,
  };
}
