import { endpointFromBase, parseEndpoint } from '../client/endpoint.ts';
import { DEFAULT_KEY_PREFIX } from '../client/key.ts';
import { FORMATS } from '../output/formats.ts';
import {
  nonEmpty,
  oneOf,
  parseCommand,
  parseDuration,
  parseKeyPrefix,
  parseProfileName,
  parseSize,
  parseStoreUrl,
  parseTimeSpan,
  wholeNumber,
} from './values.ts';

/** Values of `--protocol`. */
export const PROTOCOLS = ['auto', 'bare', '2025-11-25', '2026-07-28'] as const;

/** A value that is set by option, variable or config file, or has a default. */
export interface Setting<T> {
  readonly description: string;
  /** Name of the environment variable. */
  readonly env: string;
  /** The accepted values, if they are a fixed list. */
  readonly choices?: readonly string[];
  /** The default value, as text. */
  readonly default?: string;
  /** The default as shown in help, if it is not a single value. */
  readonly defaultText?: string;
  /** The field of the profile in which it is saved. Default: it is saved with the other settings. */
  readonly profileField?: string;
  /** Whether it is shown and saved as a number. */
  readonly number?: true;
  /** Parses the text. @throws {Error} saying what is expected. */
  readonly parse: (text: string) => T;
}

function setting<T, Facts extends Omit<Setting<T>, 'description' | 'env' | 'parse'>>(
  description: string,
  parse: (text: string) => T,
  facts?: Facts,
) {
  return { description, parse, ...facts } as Omit<Setting<T>, 'env'> & Facts;
}

const DEFINITIONS = {
  'base-url': setting('Base URL of the service; the endpoint is <url>/api/mcp', endpointFromBase, {
    profileField: 'base_url',
  }),
  endpoint: setting('Exact endpoint, instead of the base URL', parseEndpoint, { profileField: 'endpoint' }),
  profile: setting('Saved login to use', parseProfileName, { default: 'default' }),
  protocol: setting('Protocol version of the endpoint', oneOf(PROTOCOLS), {
    choices: PROTOCOLS,
    default: 'auto',
  }),
  timeout: setting('Time limit for one call, including retries: 500ms, 30s, 2m', parseTimeSpan, {
    default: '30s',
  }),
  retries: setting('Retries after the first attempt', wholeNumber(0, 20), { default: '2', number: true }),
  'max-wait': setting('Maximum wait for a rate limit; extends --timeout', parseDuration, { default: '60s' }),
  'max-age': setting('Maximum age of a cached response; 0 refreshes', parseDuration, {
    default: '10m',
    defaultText: '10m; raw, call: 0',
  }),
  format: setting('Output format', oneOf(FORMATS), { choices: FORMATS, defaultText: 'table; piped: tsv' }),
  city: setting('Default city of find', nonEmpty),
  'per-minute': setting('Requests per minute; 0 = no limit', wholeNumber(0, 1e6), {
    default: '100',
    number: true,
  }),
  'per-day': setting('Requests per day; 0 = no limit', wholeNumber(0, 1e9), {
    default: '2000',
    number: true,
  }),
  'max-body': setting('Maximum size of a response: 500KB, 64MiB', parseSize, { default: '16MiB' }),
  'key-command': setting('Command that prints the API key, run without a shell', parseCommand, {
    profileField: 'key_command',
  }),
  'shared-state': setting('Share quota and cache with other machines: redis://host:6379', parseStoreUrl),
  'key-prefix': setting('Start of API keys', parseKeyPrefix, { default: DEFAULT_KEY_PREFIX }),
};

/** Adds the environment variable of a setting, named after it: `RESTAURANT_BASE_URL`. */
const withVariable = ([name, definition]: readonly [string, object]) =>
  [name, { ...definition, env: `RESTAURANT_${name.toUpperCase().replaceAll('-', '_')}` }] as const;

/** Every setting, by the name used in the config file and in `status --json`. */
export const SETTINGS = Object.fromEntries(Object.entries(DEFINITIONS).map(withVariable)) as {
  readonly [N in keyof typeof DEFINITIONS]: (typeof DEFINITIONS)[N] & { readonly env: string };
};

export type SettingName = keyof typeof SETTINGS;
/** The parsed value of a setting; may be undefined if the setting has no default. */
export type SettingValue<N extends SettingName> =
  | ReturnType<(typeof SETTINGS)[N]['parse']>
  | ((typeof SETTINGS)[N] extends { readonly default: string } ? never : undefined);

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Other variables: secrets, switches, folders. */
export const OTHER_VARIABLES: readonly (readonly [string, string])[] = [
  ['RESTAURANT_API_KEY', 'API key; overrides the saved login'],
  ['RESTAURANT_DEBUG', '1 shows requests and responses on stderr, like --verbose'],
  ['RESTAURANT_CONFIG_DIR', 'Folder of config.json'],
  ['RESTAURANT_STATE_DIR', 'Folder of the request ledger and the last results'],
  ['RESTAURANT_CACHE_DIR', 'Folder of the response cache'],
  ['XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME', 'Parents of these folders'],
  ['NO_COLOR', 'Any value disables colors'],
  ['RESTAURANT_PAGER', 'Pager for long output on a terminal, instead of PAGER; cat disables it'],
  ['FORCE_COLOR, CLICOLOR_FORCE', 'Any value but 0 enables colors without a terminal'],
  ['FORCE_HYPERLINK', '1 always writes links, 0 never'],
  ['CI', 'true disables prompts and spinners, like --no-input'],
  [
    'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY',
    'Proxy for requests (http, https, socks5, socks5h), and hosts to reach directly',
  ],
  ['NODE_EXTRA_CA_CERTS', 'File with additional certificate authorities to trust'],
  ['NODE_USE_SYSTEM_CA', '1 trusts the certificates of the system (Node.js 22.19 or later)'],
  ['TRACEPARENT, TRACESTATE, BAGGAGE', 'Trace context to pass on to the service'],
];
