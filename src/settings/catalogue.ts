import { FORMATS } from '../output/formats.ts';
import {
  nonEmpty,
  oneOf,
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
  /** Name of the option, if there is one on every command that the setting affects. */
  readonly flag?: string;
  /** The default value, as text. */
  readonly default?: string;
  /** How help shows the default where it is not one value. */
  readonly defaultText?: string;
  /** Whether it is saved with the profile; otherwise with the other settings. */
  readonly inProfile?: true;
  /** Whether it is shown and saved as a number. */
  readonly number?: true;
  /** Parses the text. @throws {Error} saying what is expected. */
  readonly parse: (text: string) => T;
}

/** Defines a setting. @param name as in RESTAURANT_<NAME>. @param facts what differs from a setting without option. */
function setting<T>(
  name: string,
  description: string,
  parse: (text: string) => T,
  facts: Pick<Setting<T>, 'flag' | 'default' | 'defaultText' | 'inProfile' | 'number'> = {},
): Setting<T> {
  return { description, env: `RESTAURANT_${name}`, parse, ...facts };
}

/** Every setting, by its name in the config file and in `status --json`. */
export const SETTINGS = {
  'base-url': setting('BASE_URL', 'the service; the endpoint is <base-url>/api/mcp', nonEmpty, {
    flag: '--base-url',
    inProfile: true,
  }),
  endpoint: setting('ENDPOINT', 'the exact endpoint, instead of the base URL', nonEmpty, {
    flag: '--endpoint',
    inProfile: true,
  }),
  profile: setting('PROFILE', 'which saved login', parseProfileName, {
    flag: '--profile',
    default: 'default',
  }),
  protocol: setting('PROTOCOL', 'protocol of the endpoint', oneOf(PROTOCOLS), {
    flag: '--protocol',
    default: 'auto',
  }),
  timeout: setting('TIMEOUT', 'total time for one call, retries included', parseTimeSpan, {
    flag: '--timeout',
    default: '30s',
  }),
  retries: setting('RETRIES', 'attempts after the first', wholeNumber(0, 20), {
    flag: '--retries',
    default: '2',
    number: true,
  }),
  'max-wait': setting('MAX_WAIT', 'maximum wait for a rate limit', parseDuration, {
    flag: '--max-wait',
    default: '60s',
  }),
  'max-age': setting('MAX_AGE', 'maximum age of a cached response; 0 refreshes', parseDuration, {
    flag: '--max-age',
    default: '10m',
    defaultText: '10m (raw, call: 0)',
  }),
  format: setting('FORMAT', 'output format', oneOf(FORMATS), {
    flag: '--format',
    defaultText: 'table; piped: tsv',
  }),
  city: setting('CITY', 'city to search when find has no --city', nonEmpty, { flag: '--city' }),
  'per-minute': setting('PER_MINUTE', 'requests per minute; 0 = no limit', wholeNumber(0, 1e6), {
    default: '100',
    number: true,
  }),
  'per-day': setting('PER_DAY', 'requests per day; 0 = no limit', wholeNumber(0, 1e9), {
    default: '2000',
    number: true,
  }),
  'max-body': setting('MAX_BODY', 'maximum size of a response: 500KB, 64MiB', parseSize, {
    flag: '--max-body',
    default: '16MiB',
  }),
  'key-command': setting('KEY_COMMAND', 'command that prints the API key, run without a shell', nonEmpty, {
    inProfile: true,
  }),
  'shared-state': setting('SHARED_STATE', 'Redis server with the quota of many machines', parseStoreUrl, {
    flag: '--shared-state',
  }),
  'key-prefix': setting('KEY_PREFIX', 'the first characters of API keys', parseKeyPrefix, {
    default: 'sk_service_',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> = ReturnType<(typeof SETTINGS)[N]['parse']>;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Other variables: secrets, switches, folders. */
export const OTHER_VARIABLES: readonly (readonly [string, string])[] = [
  ['RESTAURANT_API_KEY', 'the API key; beats the saved login'],
  ['RESTAURANT_DEBUG', '1 shows the exchange on stderr, like --verbose'],
  ['RESTAURANT_CONFIG_DIR', 'folder of config.json'],
  ['RESTAURANT_STATE_DIR', 'folder of the quota ledger and the last find'],
  ['RESTAURANT_CACHE_DIR', 'folder of the response cache'],
  ['XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME', 'parents of those folders'],
  ['NO_COLOR', 'not empty: no color'],
  ['RESTAURANT_PAGER', 'pager for long output on a terminal; else PAGER; cat: none'],
  ['FORCE_COLOR, CLICOLOR_FORCE', 'color also without a terminal'],
  ['FORCE_HYPERLINK', '1: always write links; 0: never'],
  ['CI', 'true: no prompt, no spinner, like --no-input'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxy for the requests, and hosts to reach without it'],
  ['NODE_EXTRA_CA_CERTS', 'file with certificates to trust'],
];
