import type { JsonSchema } from './command.ts';

const text: JsonSchema = { type: 'string' };
const textOrNull: JsonSchema = { type: ['string', 'null'] };
const truth: JsonSchema = { type: 'boolean' };

const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  required = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  required,
});

const RESTAURANT = object(
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

const ERROR = object(
  {
    code: text,
    message: text,
    hint: text,
    retryable: truth,
    status: { type: 'integer' },
    retry_after: { type: 'number' },
    restaurant_id: text,
    rpc_code: { type: ['integer', 'string'] },
    request_id: text,
  },
  ['code', 'message', 'hint', 'retryable'],
);

/** What `find --json` prints. Unknown keys may stand beside the known ones. */
export const FIND_OUTPUT = object(
  { status: text, results: { type: 'array', items: RESTAURANT }, total_matches: { type: 'integer' } },
  ['results'],
);

/** What `lookup --json` prints: the tool's output object, or for several ids a list. */
export const LOOKUP_OUTPUT: JsonSchema = {
  anyOf: [
    { type: 'object', description: 'one id: the output object; its fields are up to the service' },
    {
      type: 'array',
      description: 'several ids, in the order asked',
      items: {
        anyOf: [
          object({ restaurant_id: text, output: { type: 'object' } }),
          object({ restaurant_id: text, error: ERROR }),
        ],
      },
    },
  ],
};

/** What `raw` prints: the JSON-RPC response. */
export const RAW_OUTPUT: JsonSchema = {
  description: 'the JSON-RPC response envelope as it came; with --unwrap the output of the tool',
};

/** What `tools --json` prints. */
export const TOOLS_OUTPUT: JsonSchema = object({
  tools: {
    type: 'array',
    items: object({ name: text, description: text, inputSchema: { type: 'object' } }, ['name']),
  },
});

/** What `call --json` prints. */
export const CALL_OUTPUT: JsonSchema = { description: 'the output of the tool: any JSON value' };

/** What `login --json` prints. */
export const LOGIN_OUTPUT = object({
  profile: text,
  endpoint: textOrNull,
  key: object({ last4: text }),
  verified: truth,
  file: text,
});

/** What `logout --json` prints. */
export const LOGOUT_OUTPUT = object({ profile: text, removed: truth, key_in_environment: truth });

/** A number where the setting is one, else text; null where it has no value. */
const settingValue: JsonSchema = { type: ['string', 'number', 'null'] };

/** A setting with its source. */
export const SETTING_OUTPUT = object({
  name: text,
  value: settingValue,
  source: { enum: ['flag', 'env', 'config', 'default'] },
});

const TOLD = object({ value: settingValue, source: { enum: ['flag', 'env', 'config', 'default'] } });

/** What `config list --json` prints: each setting by name. */
export const CONFIG_OUTPUT: JsonSchema = { type: 'object', additionalProperties: TOLD };

const WINDOW = object({
  limit: { type: ['integer', 'null'] },
  used: { type: 'integer' },
  free_at: { type: ['string', 'null'], format: 'date-time' },
});

/** What `status --json` prints. */
export const STATUS_OUTPUT = object(
  {
    profile: text,
    endpoint: textOrNull,
    key: object({ present: truth, last4: textOrNull, source: textOrNull, problem: text }, [
      'present',
      'last4',
      'source',
    ]),
    settings: CONFIG_OUTPUT,
    budget: object({ per_minute: WINDOW, per_day: WINDOW }),
    files: object({ config: textOrNull, state: textOrNull, cache: textOrNull }),
    check: object({ ok: truth, ms: { type: 'number' } }),
  },
  ['profile', 'endpoint', 'key', 'settings', 'budget', 'files'],
);

/** The first line of `sandbox --json`. */
export const SANDBOX_OUTPUT = object({
  base_url: text,
  endpoint: text,
  keys: object({ free: text, paid: text, revoked: text }),
});
