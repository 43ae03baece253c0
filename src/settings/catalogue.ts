import {
  nonEmpty,
  oneOf,
  parseDuration,
  parseKeyPrefix,
  parseProfileName,
  parseTimeSpan,
  wholeNumber,
} from './values.ts';

/** Eras of the protocol that can be asked for. */
export const PROTOCOLS = ['auto', 'bare', '2025-11-25', '2026-07-28'] as const;

/** Forms of output. */
export const FORMATS = ['table', 'json', 'ndjson', 'csv', 'tsv', 'geojson', 'html'] as const;

/** One thing that can be set: by flag, variable, config file, or left at its default. */
export interface Setting<T> {
  readonly about: string;
  /** Name of the environment variable. */
  readonly env: string;
  /** Long flag, where one sets it. */
  readonly flag?: string;
  /** What it is when nothing sets it, as text. */
  readonly fallback?: string;
  /** How the default is told where it is no plain value. */
  readonly fallbackText?: string;
  /** Where `config set` writes it: with the other settings, with the profile, or nowhere. */
  readonly file: 'settings' | 'profile' | 'none';
  /** It is told and kept as a number. */
  readonly number?: true;
  /** Reads the text. @throws {Error} saying what is expected. */
  readonly read: (text: string) => T;
}

const setting = <T>(entry: Setting<T>): Setting<T> => entry;

/** Every setting, by its name in the config file and in `status --json`. */
export const SETTINGS = {
  'base-url': setting({
    about: 'the service; the endpoint is <base-url>/api/mcp',
    env: 'RESTAURANT_BASE_URL',
    flag: '--base-url',
    file: 'profile',
    read: nonEmpty,
  }),
  endpoint: setting({
    about: 'the exact endpoint, instead of the base URL',
    env: 'RESTAURANT_ENDPOINT',
    flag: '--endpoint',
    file: 'profile',
    read: nonEmpty,
  }),
  profile: setting({
    about: 'which saved login',
    env: 'RESTAURANT_PROFILE',
    flag: '--profile',
    fallback: 'default',
    file: 'settings',
    read: parseProfileName,
  }),
  protocol: setting({
    about: 'how to speak to the endpoint',
    env: 'RESTAURANT_PROTOCOL',
    flag: '--protocol',
    fallback: 'auto',
    file: 'settings',
    read: oneOf(PROTOCOLS),
  }),
  timeout: setting({
    about: 'total time for one call, retries included',
    env: 'RESTAURANT_TIMEOUT',
    flag: '--timeout',
    fallback: '30s',
    file: 'settings',
    read: parseTimeSpan,
  }),
  retries: setting({
    about: 'tries after the first',
    env: 'RESTAURANT_RETRIES',
    flag: '--retries',
    fallback: '2',
    file: 'settings',
    number: true,
    read: wholeNumber(0, 20),
  }),
  'max-wait': setting({
    about: 'longest wait that a 429 may ask for',
    env: 'RESTAURANT_MAX_WAIT',
    flag: '--max-wait',
    fallback: '60s',
    file: 'settings',
    read: parseDuration,
  }),
  'max-age': setting({
    about: 'accept a cached answer this old; 0 asks again',
    env: 'RESTAURANT_MAX_AGE',
    flag: '--max-age',
    fallback: '10m',
    fallbackText: '10m (raw, call: 0)',
    file: 'settings',
    read: parseDuration,
  }),
  format: setting({
    about: 'form of the output',
    env: 'RESTAURANT_FORMAT',
    flag: '--format',
    fallbackText: 'table; piped: tsv',
    file: 'settings',
    read: oneOf(FORMATS),
  }),
  city: setting({
    about: 'city to search when find has no --city',
    env: 'RESTAURANT_CITY',
    flag: '--city',
    file: 'settings',
    read: nonEmpty,
  }),
  'per-minute': setting({
    about: 'requests a minute that the budget allows; 0 = no limit',
    env: 'RESTAURANT_PER_MINUTE',
    fallback: '100',
    file: 'settings',
    number: true,
    read: wholeNumber(0, 1_000_000),
  }),
  'per-day': setting({
    about: 'requests a day that the budget allows; 0 = no limit',
    env: 'RESTAURANT_PER_DAY',
    fallback: '2000',
    file: 'settings',
    number: true,
    read: wholeNumber(0, 1_000_000_000),
  }),
  'key-prefix': setting({
    about: 'what API keys begin with',
    env: 'RESTAURANT_KEY_PREFIX',
    fallback: 'sk_service_',
    file: 'settings',
    read: parseKeyPrefix,
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> = ReturnType<(typeof SETTINGS)[N]['read']>;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Variables that are no settings: secrets, switches, places of files. */
export const OTHER_VARIABLES: readonly (readonly [string, string])[] = [
  ['RESTAURANT_API_KEY', 'the API key; beats the saved login'],
  ['RESTAURANT_DEBUG', '1 shows the exchange on stderr, like --verbose'],
  ['RESTAURANT_CONFIG_DIR', 'folder of config.json'],
  ['RESTAURANT_STATE_DIR', 'folder of the quota ledger and the last find'],
  ['RESTAURANT_CACHE_DIR', 'folder of the response cache'],
  ['XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME', 'parents of those folders'],
  ['NO_COLOR', 'not empty: no colour'],
  ['FORCE_COLOR, CLICOLOR_FORCE', 'colour also where there is no terminal'],
  ['FORCE_HYPERLINK', '1: links although the terminal is not known for them; 0: none'],
  ['CI', 'true: no prompt, no spinner, like --no-input'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxy for the requests, and hosts to reach without it'],
  ['NODE_EXTRA_CA_CERTS', 'file with certificates to trust'],
];
