import type { JsonSchema } from './command.ts';

export const text: JsonSchema = { type: 'string' };
export const textOrNull: JsonSchema = { type: ['string', 'null'] };
export const boolean: JsonSchema = { type: 'boolean' };
export const integer: JsonSchema = { type: 'integer' };
export const anyObject: JsonSchema = { type: 'object' };
export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const anyOf = (...schemas: JsonSchema[]): JsonSchema => ({ anyOf: schemas });

/** An object. A key that ends with `?` is optional; additional keys are allowed. */
export const object = (keys: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  // Most runs print no schema.
  get properties() {
    return Object.fromEntries(Object.entries(keys).map(([key, schema]) => [key.replace(/\?$/, ''), schema]));
  },
  get required() {
    return Object.keys(keys).filter((key) => !key.endsWith('?'));
  },
});

export const RESTAURANT = object({
  service_id: text,
  name: text,
  'address?': text,
  'coordinates?': object({ lat: { type: 'number' }, lng: { type: 'number' } }),
  'city?': text,
  'neighborhood?': text,
  'cuisine_tags?': list(text),
  'grade?': text,
  'coverage_level?': text,
});

const TIME: JsonSchema = { type: 'string', format: 'date-time' };
export const TIME_OR_NULL: JsonSchema = { type: ['string', 'null'], format: 'date-time' };

/** With the fields of the last search and the last lookup. */
export const SAVED_RESTAURANT = object({
  service_id: text,
  name: textOrNull,
  note: textOrNull,
  gone: { ...boolean, description: 'whether the service no longer knows it' },
  saved_at: TIME,
  checked_at: TIME_OR_NULL,
});

/** `before` and `after` can be any value. */
export const CHANGE = object({
  when: TIME,
  id: text,
  name: text,
  field: text,
  before: {},
  after: {},
});

export const ERROR = object({
  code: { ...text, description: 'see exit_codes' },
  message: text,
  hint: text,
  retryable: boolean,
  'status?': { type: 'integer', description: 'HTTP status' },
  'retry_after?': { type: 'number', description: 'seconds' },
  'restaurant_id?': text,
  'rpc_code?': { type: ['integer', 'string'] },
  'request_id?': text,
});

export const ERROR_OUTPUT = object({ error: ERROR });

export const PREVIEW = object({
  method: { const: 'POST' },
  url: text,
  headers: { type: 'object', additionalProperties: text },
  body: object({
    jsonrpc: { const: '2.0' },
    id: integer,
    method: text,
    'params?': { type: ['object', 'array'] },
  }),
});

export const PREVIEW_OUTPUT = anyOf(PREVIEW, list(PREVIEW));

/** A number for a numeric setting, else text; null if it has no value. */
const SETTING = {
  value: { type: ['string', 'number', 'null'] },
  source: { enum: ['flag', 'env', 'config', 'default'] },
};

export const SETTING_OUTPUT = object({ name: text, ...SETTING });

export const SETTINGS_OUTPUT: JsonSchema = { type: 'object', additionalProperties: object(SETTING) };
