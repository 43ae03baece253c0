import { CODES } from '../errors.ts';
import type { JsonSchema } from './command.ts';

const text: JsonSchema = { type: 'string' };
const textOrNull: JsonSchema = { type: ['string', 'null'] };
const truth: JsonSchema = { type: 'boolean' };

/** An object; what is not required may be missing. Unknown keys may stand beside the known ones. */
export const object = (
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
    code: { enum: Object.keys(CODES) },
    message: text,
    hint: text,
    retryable: truth,
    status: { type: 'integer', description: 'HTTP status' },
    retry_after: { type: 'number', description: 'seconds' },
    restaurant_id: text,
    rpc_code: { type: ['integer', 'string'] },
    request_id: text,
  },
  ['code', 'message', 'hint', 'retryable'],
);

/** What stands on stderr where a command fails that prints JSON. */
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

/** What `--dry-run` prints: the request, or the requests. */
export const PREVIEW_OUTPUT: JsonSchema = { anyOf: [PREVIEW, { type: 'array', items: PREVIEW }] };

/** What `find --json` prints. */
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

const TOOL = object({ name: text, description: text, inputSchema: { type: 'object' } }, ['name']);

/** What `tools --json` prints: the list, or with a name that tool. */
export const TOOLS_OUTPUT: JsonSchema = { anyOf: [object({ tools: { type: 'array', items: TOOL } }), TOOL] };

/** What `call --json` prints. */
export const CALL_OUTPUT: JsonSchema = { description: 'the output of the tool: any JSON value' };

/** What `login --json` prints. */
export const LOGIN_OUTPUT = object({
  profile: text,
  endpoint: textOrNull,
  key: object({ last4: text }),
  verified: truth,
  file: text,
  key_in_environment: truth,
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
    version: text,
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
  ['version', 'profile', 'endpoint', 'key', 'settings', 'budget', 'files'],
);

/** The first line of `sandbox --json`. */
export const SANDBOX_OUTPUT = object({
  base_url: text,
  endpoint: text,
  keys: object({ free: text, paid: text, revoked: text }),
});

const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const aSchema: JsonSchema = { type: 'object', description: 'a JSON Schema' };

const OPTION = object(
  {
    name: text,
    short: textOrNull,
    flags: text,
    description: text,
    type: { enum: ['boolean', 'string', 'integer', 'array'] },
    choices: list(text),
    default: {},
    environment: text,
  },
  ['name', 'short', 'flags', 'description', 'type'],
);

const COMMAND = object(
  {
    name: text,
    summary: text,
    details: text,
    arguments: list(
      object({ name: text, description: text, required: truth, variadic: truth, choices: list(text) }, [
        'name',
        'description',
        'required',
        'variadic',
      ]),
    ),
    options: list(OPTION),
    examples: list(text),
    commands: list({ type: 'object', description: 'a command, in the same form' }),
    global_options: list(text),
    input: aSchema,
    output: aSchema,
    dry_run: aSchema,
    progress: aSchema,
    error: aSchema,
  },
  ['name', 'summary', 'examples'],
);

/** What `schema` prints: the program, or one command. */
export const SCHEMA_OUTPUT: JsonSchema = {
  anyOf: [
    object({
      name: text,
      version: text,
      commands: list(COMMAND),
      options: list(OPTION),
      error: aSchema,
      exit_codes: list(
        object({ exit: { type: 'integer' }, kind: text, codes: list(object({ code: text, meaning: text })) }),
      ),
      environment: list(object({ name: text, meaning: text })),
    }),
    COMMAND,
  ],
};
