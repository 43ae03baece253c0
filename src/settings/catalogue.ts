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

/** Eras of the protocol that can be asked for. */
export const PROTOCOLS = ['auto', 'bare', '2025-11-25', '2026-07-28'] as const;

/** One thing that can be set: by flag, variable, config file, or left at its default. */
export interface Setting<T> {
  readonly description: string;
  /** Name of the environment variable. */
  readonly env: string;
  /** Long flag, where one sets it. */
  readonly flag?: string;
  /** What it is when nothing sets it, as text. */
  readonly default?: string;
  /** How the default is told where it is no plain value. */
  readonly defaultText?: string;
  /** Where `config set` writes it: with the other settings, with the profile, or nowhere. */
  readonly file: 'settings' | 'profile' | 'none';
  /** It is told and kept as a number. */
  readonly number?: true;
  /** Reads the text. @throws {Error} saying what is expected. */
  readonly parse: (text: string) => T;
}

const setting = <T>(entry: Setting<T>): Setting<T> => entry;

/** Every setting, by its name in the config file and in `status --json`. */
export const SETTINGS = {
  'base-url': setting({
    description: 'the service; the endpoint is <base-url>/api/mcp',
    env: 'RESTAURANT_BASE_URL',
    flag: '--base-url',
    file: 'profile',
    parse: nonEmpty,
  }),
  endpoint: setting({
    description: 'the exact endpoint, instead of the base URL',
    env: 'RESTAURANT_ENDPOINT',
    flag: '--endpoint',
    file: 'profile',
    parse: nonEmpty,
  }),
  profile: setting({
    description: 'which saved login',
    env: 'RESTAURANT_PROFILE',
    flag: '--profile',
    default: 'default',
    file: 'settings',
    parse: parseProfileName,
  }),
  protocol: setting({
    description: 'how to speak to the endpoint',
    env: 'RESTAURANT_PROTOCOL',
    flag: '--protocol',
    default: 'auto',
    file: 'settings',
    parse: oneOf(PROTOCOLS),
  }),
  timeout: setting({
    description: 'total time for one call, retries included',
    env: 'RESTAURANT_TIMEOUT',
    flag: '--timeout',
    default: '30s',
    file: 'settings',
    parse: parseTimeSpan,
  }),
  retries: setting({
    description: 'tries after the first',
    env: 'RESTAURANT_RETRIES',
    flag: '--retries',
    default: '2',
    file: 'settings',
    number: true,
    parse: wholeNumber(0, 20),
  }),
  'max-wait': setting({
    description: 'longest wait that a 429 may ask for',
    env: 'RESTAURANT_MAX_WAIT',
    flag: '--max-wait',
    default: '60s',
    file: 'settings',
    parse: parseDuration,
  }),
  'max-age': setting({
    description: 'accept a cached answer this old; 0 asks again',
    env: 'RESTAURANT_MAX_AGE',
    flag: '--max-age',
    default: '10m',
    defaultText: '10m (raw, call: 0)',
    file: 'settings',
    parse: parseDuration,
  }),
  format: setting({
    description: 'form of the output',
    env: 'RESTAURANT_FORMAT',
    flag: '--format',
    defaultText: 'table; piped: tsv',
    file: 'settings',
    parse: oneOf(FORMATS),
  }),
  city: setting({
    description: 'city to search when find has no --city',
    env: 'RESTAURANT_CITY',
    flag: '--city',
    file: 'settings',
    parse: nonEmpty,
  }),
  'per-minute': setting({
    description: 'requests a minute that the budget allows; 0 = no limit',
    env: 'RESTAURANT_PER_MINUTE',
    default: '100',
    file: 'settings',
    number: true,
    parse: wholeNumber(0, 1_000_000),
  }),
  'per-day': setting({
    description: 'requests a day that the budget allows; 0 = no limit',
    env: 'RESTAURANT_PER_DAY',
    default: '2000',
    file: 'settings',
    number: true,
    parse: wholeNumber(0, 1_000_000_000),
  }),
  'max-body': setting({
    description: 'maximum size of a response: 500KB, 64MiB',
    env: 'RESTAURANT_MAX_BODY',
    flag: '--max-body',
    default: '16MiB',
    file: 'settings',
    parse: parseSize,
  }),
  'key-command': setting({
    description: 'command that prints the API key, run without a shell',
    env: 'RESTAURANT_KEY_COMMAND',
    file: 'profile',
    parse: nonEmpty,
  }),
  'shared-state': setting({
    description: 'Redis or Valkey that keeps the quota and the cache of many machines',
    env: 'RESTAURANT_SHARED_STATE',
    flag: '--shared-state',
    file: 'settings',
    parse: parseStoreUrl,
  }),
  'key-prefix': setting({
    description: 'what API keys begin with',
    env: 'RESTAURANT_KEY_PREFIX',
    default: 'sk_service_',
    file: 'settings',
    parse: parseKeyPrefix,
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> = ReturnType<(typeof SETTINGS)[N]['parse']>;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Variables that are no settings: secrets, switches, places of files. */
export const OTHER_VARIABLES: readonly (readonly [string, string])[] = [
  ['RESTAURANT_API_KEY', 'the API key; beats the saved login'],
  ['RESTAURANT_DEBUG', '1 shows the exchange on stderr, like --verbose'],
  ['RESTAURANT_CONFIG_DIR', 'folder of config.json'],
  ['RESTAURANT_STATE_DIR', 'folder of the quota ledger and the last find'],
  ['RESTAURANT_CACHE_DIR', 'folder of the response cache'],
  ['XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME', 'parents of those folders'],
  ['NO_COLOR', 'not empty: no color'],
  ['RESTAURANT_PAGER', 'the command that pages long output on a terminal; else PAGER; cat: none'],
  ['FORCE_COLOR, CLICOLOR_FORCE', 'colour also where there is no terminal'],
  ['FORCE_HYPERLINK', '1: links although the terminal is not known for them; 0: none'],
  ['CI', 'true: no prompt, no spinner, like --no-input'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxy for the requests, and hosts to reach without it'],
  ['NODE_EXTRA_CA_CERTS', 'file with certificates to trust'],
];
