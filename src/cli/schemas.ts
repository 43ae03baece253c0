import { CODES } from '../errors.ts';
import type { JsonSchema } from './command.ts';

export const text: JsonSchema = { type: 'string' };
export const textOrNull: JsonSchema = { type: ['string', 'null'] };
export const boolean: JsonSchema = { type: 'boolean' };

/** An object; what is not required may be missing. Unknown keys may stand beside the known ones. */
export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  required = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  required,
});

export const RESTAURANT = object(
  {
    service_id: text,
    name: text,
    address: text,
    coordinates: object({ lat: { type: 'number' }, lng: { type: 'number' } }),
    city: text,
    neighborhood: text,
    cuisine_tags: { type: 'array', items: text },
    grade: text,
    coverage_level: text,
  },
  ['service_id', 'name'],
);

export const ERROR = object(
  {
    code: { enum: Object.keys(CODES) },
    message: text,
    hint: text,
    retryable: boolean,
    status: { type: 'integer', description: 'HTTP status' },
    retry_after: { type: 'number', description: 'seconds' },
    restaurant_id: text,
    rpc_code: { type: ['integer', 'string'] },
    request_id: text,
  },
  ['code', 'message', 'hint', 'retryable'],
);

/** The line on stderr when a command with `--json` fails. */
export const ERROR_OUTPUT: JsonSchema = object({ error: ERROR });

const PREVIEW = object({
  method: { const: 'POST' },
  url: text,
  headers: { type: 'object', additionalProperties: text },
  body: object(
    {
      jsonrpc: { const: '2.0' },
      id: { type: 'integer' },
      method: text,
      params: { type: ['object', 'array'] },
    },
    ['jsonrpc', 'id', 'method'],
  ),
});

/** Output of `--dry-run`: the request, or the requests. */
export const PREVIEW_OUTPUT: JsonSchema = { anyOf: [PREVIEW, { type: 'array', items: PREVIEW }] };

/** A number where the setting is one, else text; null where it has no value. */
const settingValue: JsonSchema = { type: ['string', 'number', 'null'] };

/** A setting with its source. */
export const SETTING_OUTPUT = object({
  name: text,
  value: settingValue,
  source: { enum: ['flag', 'env', 'config', 'default'] },
});

const SETTING_VALUE = object({ value: settingValue, source: { enum: ['flag', 'env', 'config', 'default'] } });

/** Output of `config list --json`: each setting by name. */
export const CONFIG_OUTPUT: JsonSchema = { type: 'object', additionalProperties: SETTING_VALUE };

export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const jsonSchema: JsonSchema = { type: 'object', description: 'a JSON Schema' };
