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
  parseStoreUrl,
  parseTimeSpan,
  wholeNumber,
} from './values.ts';

const PROTOCOLS = ['auto', 'bare', '2025-11-25', '2026-07-28'] as const;

/** A global option, a setting, or both. */
interface Row {
  readonly description: string;
  /** Of an option, as commander reads them. */
  readonly flags?: string;
  readonly heading?: string;
  readonly group?: string;
  /** Attribute names of the options that it cannot be used with. */
  readonly conflicts?: readonly string[];
  /** Of a setting: parses the text. @throws {Error} saying what is expected */
  readonly parse?: (text: string) => unknown;
  readonly choices?: readonly string[];
  readonly default?: string;
  /** The default as shown in help, if it is not a single value. */
  readonly defaultText?: string;
  /** The field of the profile in which it is saved. Default: it is saved with the other settings. */
  readonly profileField?: string;
  readonly number?: true;
}

const inGroup =
  <const Heading extends string>(heading: Heading) =>
  <const Group extends string, const Flags extends string>(
    group: Group,
    flags: Flags,
    description: string,
  ) => ({ heading, group, flags, description });

const output = inGroup('Output options:');
const service = inGroup('Service options:');
const general = inGroup('General options:');

/** Every global option and every setting, by its long name, in the order in which help shows them. */
const TABLE = {
  json: output('json', '-j, --json', 'Print JSON'),
  format: {
    ...output('format', '--format <format>', 'Output format'),
    parse: oneOf(FORMATS),
    choices: FORMATS,
    defaultText: 'table; piped: tsv',
  },
  columns: output('columns', '--columns <a,b,c>', 'Columns or keys to show (a.b for a nested key)'),
  jq: output('jq', '--jq <filter>', 'Filter JSON output with jq; prints strings raw'),
  'raw-csv': output('csv', '--raw-csv', 'Do not escape formulas in CSV cells'),
  output: output('output', '-o, --output <file>', 'Write to a file; the format follows the extension'),
  force: output('force', '--force', 'Overwrite the output file'),
  open: {
    ...output('page', '--open', 'Open a page with a map in the browser'),
    conflicts: ['json', 'dryRun', 'curl'],
  },
  'base-url': {
    ...service('address', '--base-url <url>', 'Base URL of the service; the endpoint is <url>/api/mcp'),
    parse: endpointFromBase,
    profileField: 'base_url',
  },
  endpoint: {
    ...service('address', '--endpoint <url>', 'Exact endpoint URL, instead of a base URL'),
    conflicts: ['baseUrl'],
    parse: parseEndpoint,
    profileField: 'endpoint',
  },
  profile: {
    ...service('profile', '--profile <name>', 'Saved login to use'),
    parse: parseProfileName,
    default: 'default',
  },
  demo: {
    ...service('demo', '--demo', 'Use sample data: no key, no network'),
    conflicts: ['baseUrl', 'endpoint'],
  },
  protocol: {
    ...service('address', '--protocol <p>', 'Protocol version of the endpoint'),
    parse: oneOf(PROTOCOLS),
    choices: PROTOCOLS,
    default: 'auto',
  },
  'insecure-http': service(
    'address',
    '--insecure-http',
    'Allow sending the API key to a remote host over HTTP',
  ),
  timeout: {
    ...service('request', '--timeout <t>', 'Time limit for a call, including retries: 500ms, 30s, 2m'),
    parse: parseTimeSpan,
    default: '30s',
  },
  retries: {
    ...service('request', '--retries <n>', 'Retries after the first attempt'),
    parse: wholeNumber(0, 20),
    default: '2',
    number: true,
  },
  'max-wait': {
    ...service('request', '--max-wait <t>', 'Longest rate-limit wait; extends --timeout'),
    parse: parseDuration,
    default: '60s',
  },
  header: service('request', '-H, --header <name: value>', 'Additional request header (repeatable)'),
  'shared-state': {
    ...service(
      'address',
      '--shared-state <url>',
      'Share quota and cache with other machines: redis://host:6379',
    ),
    parse: parseStoreUrl,
  },
  'max-age': {
    ...service('cache', '--max-age <t>', 'Maximum age of a cached response (0 refreshes)'),
    parse: parseDuration,
    default: '10m',
    defaultText: '10m; raw, call: 0',
  },
  offline: {
    ...service('offline', '--offline', 'Use only cached responses, of any age; send nothing'),
    conflicts: ['maxAge'],
  },
  'dry-run': service('dry-run', '--dry-run', 'Print what would be sent or written as JSON, key redacted'),
  curl: {
    ...service('curl', '--curl', 'Print the equivalent curl command; send nothing'),
    conflicts: ['dryRun'],
  },
  verbose: general('general', '--verbose', 'Show requests and responses on stderr, key redacted'),
  quiet: { ...general('general', '-q, --quiet', 'Hide notes on stderr'), conflicts: ['verbose'] },
  'no-color': general('general', '--no-color', 'Disable colors'),
  'no-input': general('general', '--no-input', 'Never prompt'),
  agent: general('general', '--agent', 'For programs: no prompts, notes, or colors; errors as JSON'),
  spinner: {
    description: 'Spinners and progress bars on a terminal',
    parse: oneOf(['on', 'off']),
    choices: ['on', 'off'],
    default: 'on',
  },
  city: { description: 'Default city for find', parse: nonEmpty },
  'per-minute': {
    description: 'Requests per minute (0 = no limit)',
    parse: wholeNumber(0, 1e6),
    default: '100',
    number: true,
  },
  'per-day': {
    description: 'Requests per day (0 = no limit)',
    parse: wholeNumber(0, 1e9),
    default: '2000',
    number: true,
  },
  'key-command': {
    description: 'Command that prints the API key, run without a shell',
    parse: parseCommand,
    profileField: 'key_command',
  },
  'key-prefix': { description: 'Prefix of API keys', parse: parseKeyPrefix, default: DEFAULT_KEY_PREFIX },
} as const satisfies Readonly<Record<string, Row>>;

type Table = typeof TABLE;
type Flags<N extends keyof Table> = Table[N] extends { readonly flags: infer F } ? F : never;
type OptionName = {
  [N in keyof Table]: Table[N] extends { readonly flags: string } ? N : never;
}[keyof Table];
type Negated = Extract<OptionName, `no-${string}`>;
type Camel<S extends string> = S extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : S;
type OptionValue<N extends OptionName> = N extends 'header'
  ? string[]
  : Flags<N> extends `${string}<${string}`
    ? string
    : true;

/** Global options as parsed by commander; settings are still text. */
export type GlobalOptions = { [N in Exclude<OptionName, Negated> as Camel<N>]?: OptionValue<N> } & {
  [N in Negated as N extends `no-${infer Positive}` ? Positive : never]: boolean;
};

export type OptionGroup = Extract<Table[OptionName], { readonly group: string }>['group'];

export type OptionRow = Row & Required<Pick<Row, 'flags' | 'heading'>> & { readonly group: OptionGroup };

const rowsWith = (key: 'flags' | 'parse') => Object.entries<Row>(TABLE).filter(([, row]) => key in row);

export const GLOBAL_OPTIONS = Object.fromEntries(rowsWith('flags')) as Readonly<Record<string, OptionRow>>;

/** A value that is set by option, variable or config file, or has a default. */
export interface Setting<T> extends Row {
  readonly env: string;
  readonly parse: (text: string) => T;
}

export type SettingName = {
  [N in keyof Table]: Table[N] extends { readonly parse: unknown } ? N : never;
}[keyof Table];

/** Every setting, by the name used in the config file and in `status --json`. Its variable is named after it. */
export const SETTINGS = Object.fromEntries(
  rowsWith('parse').map(([name, row]) => {
    return [name, { ...row, env: `RESTAURANT_${name.toUpperCase().replaceAll('-', '_')}` }];
  }),
) as unknown as { readonly [N in SettingName]: Table[N] & { readonly env: string } };

/** The parsed value of a setting; may be undefined if the setting has no default. */
export type SettingValue<N extends SettingName> =
  | ReturnType<Table[N]['parse']>
  | (Table[N] extends { readonly default: string } ? never : undefined);

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export function settingFlags(globals: GlobalOptions): Partial<Record<SettingName, string>> {
  const values = new Map<string, unknown>(Object.entries(globals));
  const flags: Partial<Record<SettingName, string>> = {};
  for (const name of SETTING_NAMES) {
    const value = values.get(name.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase()));
    if (typeof value === 'string') flags[name] = value;
  }
  if (globals.json === true) flags.format = 'json';
  return flags;
}

export const OTHER_VARIABLES: readonly (readonly [string, string])[] = [
  ['RESTAURANT_API_KEY', 'API key; overrides the saved login'],
  ['RESTAURANT_DEBUG', '1 shows requests and responses on stderr, like --verbose'],
  ['RESTAURANT_AGENT', '1 is for programs, like --agent; the default of --max-wait is then 0s'],
  ['RESTAURANT_ERRORS', 'json prints errors as JSON unless stdout is a terminal'],
  ['RESTAURANT_CONFIG_DIR', 'Folder of config.json'],
  ['RESTAURANT_STATE_DIR', 'Folder of the request ledger and the last results'],
  ['RESTAURANT_CACHE_DIR', 'Folder of the response cache'],
  ['RESTAURANT_DATA_DIR', 'Folder of saved restaurants and their changes'],
  ['XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, XDG_DATA_HOME', 'Parents of these folders'],
  ['NO_COLOR', 'Any value disables colors'],
  ['RESTAURANT_PAGER', 'Pager for long output on a terminal, instead of PAGER; cat disables it'],
  ['BROWSER', 'Command that opens pages, instead of the default browser'],
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
