import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

export type Schema = Readonly<Record<string, unknown>>;

export const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Returns the schema without additional properties, so that an undescribed key fails. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closed(part)]));
  return 'properties' in schema && typeof schema.properties === 'object'
    ? { additionalProperties: false, ...parts }
    : parts;
}

/** Expects that JSON text matches a schema. */
export function expectValid(what: string, schema: unknown, text: string): void {
  const value: unknown = JSON.parse(text);
  const valid = ajv.validate(schema as Schema, value);
  expect([what, valid, valid ? '' : ajv.errorsText()]).toEqual([what, true, '']);
}
