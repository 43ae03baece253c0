import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Tool } from '../../client/types.ts';

export type Fault = ErrorObject;

/** A tool's JSON Schema, ready to judge arguments. */
export interface ArgumentCheck {
  /** What is wrong with a call's arguments; empty where they fit. */
  faults(args: Readonly<Record<string, unknown>>): readonly Fault[];
  /** Whether one argument fits, whatever the others are. */
  fits(name: string, value: unknown): boolean;
}

const OPTIONS: Options = {
  // Schemas hold words of their own (x-mcp-header, titles for forms); only what JSON Schema knows is judged.
  strict: false,
  validateSchema: false,
  // `format` is an annotation in 2020-12.
  validateFormats: false,
  allErrors: true,
  verbose: true,
  logger: false,
  addUsedSchema: false,
};

/** Dialects before 2019-09: lists of `items`, `dependencies`. */
const OLD_DIALECT = /^https?:\/\/json-schema\.org\/draft-0[3-7]\//;

/**
 * Prepares a tool's schema. Nothing is fetched: a schema that refers to another document cannot be used.
 * @throws what ajv throws for a schema that it cannot compile
 */
export function openArgumentCheck({ inputSchema = {} }: Tool): ArgumentCheck {
  // An asynchronous schema would answer with a promise.
  const { $schema, $async: _, ...schema } = inputSchema;
  const isOld = typeof $schema === 'string' && OLD_DIALECT.test($schema);
  const ajv = isOld ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  const validate = ajv.compile<unknown>(schema);
  const faults = (args: unknown): readonly Fault[] => (validate(args) ? [] : [...(validate.errors ?? [])]);
  return {
    faults,
    fits(name, value) {
      const place = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      return !faults({ [name]: value }).some(
        ({ instancePath: path }) => path === place || path.startsWith(`${place}/`),
      );
    },
  };
}
