import type { Option } from 'commander';
import { AppError } from '../errors.ts';
import { FORMATS } from '../output/formats.ts';
import { PROTOCOLS, SETTINGS, type Setting, type SettingName } from '../settings/catalogue.ts';
import type { CliCommand, OptionGroup, OptionOverride } from './command.ts';
import { CliOption, describeOption, listOption } from './option.ts';

/** Global options as commander hands them over; settings are still text. */
export interface GlobalOptions {
  baseUrl?: string;
  endpoint?: string;
  profile?: string;
  protocol?: string;
  timeout?: string;
  retries?: string;
  maxWait?: string;
  sharedState?: string;
  maxAge?: string;
  format?: string;
  json?: true;
  output?: string;
  open?: true;
  force?: true;
  columns?: string;
  jq?: string;
  rawCsv?: true;
  demo?: true;
  insecureHttp?: true;
  header?: string[];
  maxBody?: string;
  dryRun?: true;
  curl?: true;
  verbose?: true;
  quiet?: true;
  color: boolean;
  input: boolean;
  /** False for `--no-pager`. */
  pager?: boolean;
}

interface GlobalOption {
  readonly group: OptionGroup;
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** The setting that it sets, for its default and its variable. */
  readonly setting?: SettingName;
  readonly integer?: true;
  /** The option may be repeated; its values add up. */
  readonly repeatable?: true;
}

const OUTPUT: readonly OptionGroup[] = ['json', 'jq', 'csv', 'columns', 'output', 'force', 'page', 'pager'];

const headingFor = (group: OptionGroup): string =>
  group === 'general' ? 'General options:' : OUTPUT.includes(group) ? 'Output options:' : 'Service options:';

/** In the order in which help shows them. */
const GLOBAL_OPTIONS: readonly GlobalOption[] = [
  { group: 'json', flags: '-j, --json', description: 'Print JSON' },
  {
    group: 'json',
    flags: '--format <format>',
    description: 'Output format',
    choices: FORMATS,
    setting: 'format',
  },
  {
    group: 'columns',
    flags: '--columns <a,b,c>',
    description: 'Columns or keys to show; dots for nested keys (hours.monday)',
  },
  {
    group: 'jq',
    flags: '--jq <filter>',
    description: 'Filter the JSON output with jq; strings are printed raw',
  },
  {
    group: 'csv',
    flags: '--raw-csv',
    description: 'Keep CSV cells that a spreadsheet would run as formulas',
  },
  {
    group: 'output',
    flags: '-o, --output <file>',
    description: 'Write to a file; the format follows the extension',
  },
  { group: 'force', flags: '--force', description: 'Overwrite the output file' },
  { group: 'page', flags: '--open', description: 'Show a page with a map in the browser' },
  {
    group: 'address',
    flags: '--base-url <url>',
    description: 'Base URL of the service; the endpoint is <url>/api/mcp',
    setting: 'base-url',
  },
  {
    group: 'address',
    flags: '--endpoint <url>',
    description: 'Exact endpoint, instead of the base URL',
    setting: 'endpoint',
  },
  { group: 'profile', flags: '--profile <name>', description: 'Saved login to use', setting: 'profile' },
  {
    group: 'demo',
    flags: '--demo',
    description: 'Use an embedded sandbox: no key, no network',
  },
  {
    group: 'address',
    flags: '--protocol <p>',
    description: 'Protocol version of the endpoint',
    choices: PROTOCOLS,
    setting: 'protocol',
  },
  {
    group: 'address',
    flags: '--insecure-http',
    description: 'Allow sending the API key over plain HTTP to a remote host',
  },
  {
    group: 'request',
    flags: '--timeout <t>',
    description: 'Total time for one call, retries included (500ms, 30s, 2m)',
    setting: 'timeout',
  },
  {
    group: 'request',
    flags: '--retries <n>',
    description: 'Retries after the first attempt',
    setting: 'retries',
    integer: true,
  },
  {
    group: 'request',
    flags: '--max-wait <t>',
    description: 'Maximum wait for a rate limit; extends --timeout',
    setting: 'max-wait',
  },
  {
    group: 'request',
    flags: '--max-body <size>',
    description: 'Maximum size of a response (500KB, 64MiB)',
    setting: 'max-body',
  },
  {
    group: 'request',
    flags: '-H, --header <name: value>',
    description: 'Additional request header; repeatable',
    repeatable: true,
  },
  {
    group: 'address',
    flags: '--shared-state <url>',
    description: 'Share quota and cache with other machines: redis://host:6379',
    setting: 'shared-state',
  },
  {
    group: 'cache',
    flags: '--max-age <t>',
    description: 'Maximum age of a cached response; 0 refreshes',
    setting: 'max-age',
  },
  {
    group: 'dry-run',
    flags: '--dry-run',
    description: 'Print the request or the file as JSON, key redacted; send and write nothing',
  },
  { group: 'curl', flags: '--curl', description: 'Print the equivalent curl command; send nothing' },
  {
    group: 'general',
    flags: '--verbose',
    description: 'Show requests and responses on stderr, key redacted',
  },
  { group: 'general', flags: '-q, --quiet', description: 'Print no notes on stderr' },
  { group: 'general', flags: '--no-color', description: 'Disable colors' },
  { group: 'pager', flags: '--no-pager', description: 'Do not page long output' },
  { group: 'general', flags: '--no-input', description: 'Never prompt' },
];

const defaultOf = (name: SettingName): string | undefined => {
  const setting: Setting<unknown> = SETTINGS[name];
  return setting.defaultText ?? setting.default;
};

function makeOption(entry: GlobalOption, here: OptionOverride = {}): CliOption {
  const { flags, setting, integer } = entry;
  const { description, choices, default: value, defaultText = value } = here;
  const offered = choices ?? entry.choices;
  const shown = defaultText ?? (setting === undefined ? undefined : defaultOf(setting));
  const text = describeOption(description ?? entry.description, offered, shown);
  const option = entry.repeatable ? listOption(flags, text) : new CliOption(flags, text);
  option.isInteger = integer === true;
  option.commandDefault = value;
  if (offered !== undefined) option.argChoices = [...offered];
  return option.helpGroup(headingFor(entry.group));
}

/** Formats of commands whose result is not a list of records. */
const PLAIN_FORMATS: readonly string[] = ['table', 'json'];

/** Returns what a global option means to a command: as the command says, else as follows from its other options. */
function optionFor(command: CliCommand, long: string): OptionOverride {
  const { optionGroups, optionOverrides } = command;
  const own = optionOverrides.get(long);
  if (own !== undefined) return own;
  switch (long) {
    case '--format':
      if (!optionGroups.includes('columns')) return { choices: PLAIN_FORMATS, defaultText: 'table' };
      return optionGroups.includes('page') ? {} : { choices: FORMATS.filter((format) => format !== 'html') };
    case '--max-age':
      return { default: SETTINGS['max-age'].default };
    case '--dry-run':
      return optionGroups.includes('curl')
        ? { description: 'Print the request as JSON, key redacted; send nothing' }
        : {};
    default:
      return {};
  }
}

const longFlag = (entry: GlobalOption): string => /--[a-z-]+/.exec(entry.flags)?.[0] ?? entry.flags;

/** Gives the program its global options. */
export function addGlobalOptions(program: CliCommand): void {
  for (const entry of GLOBAL_OPTIONS) program.addOption(makeOption(entry));
  program.completeWith('--profile', 'profile');
}

/** The global options that a command obeys, as what they are to it. */
export function optionsOf(command: CliCommand): Option[] {
  return GLOBAL_OPTIONS.filter((entry) => command.optionGroups.includes(entry.group)).map((entry) =>
    makeOption(entry, optionFor(command, longFlag(entry))),
  );
}

/** The setting that a global option sets. */
export function settingOf(long: string): SettingName | undefined {
  return GLOBAL_OPTIONS.find((entry) => longFlag(entry) === long)?.setting;
}

/** Pairs of options of which only one can be given. */
const CONFLICTS: readonly (readonly [string, string])[] = [
  ['--base-url', '--endpoint'],
  ['--demo', '--base-url'],
  ['--demo', '--endpoint'],
  ['--dry-run', '--curl'],
  ['--verbose', '--quiet'],
  ['--open', '--json'],
  ['--open', '--dry-run'],
  ['--open', '--curl'],
];

/**
 * Refuses global options that the command does not have, and pairs that contradict each other.
 * @throws {AppError} `usage` naming the options
 */
export function checkGlobalOptions(program: CliCommand, command: CliCommand): void {
  const help = `restaurant ${command.path} --help`;
  const { format, output = '', open } = program.opts<GlobalOptions>();
  const isGiven = (long: string): boolean => {
    const option = program.options.find((each) => each.long === long);
    return option !== undefined && program.getOptionValueSource(option.attributeName()) === 'cli';
  };
  for (const entry of GLOBAL_OPTIONS) {
    const long = longFlag(entry);
    if (isGiven(long) && !command.optionGroups.includes(entry.group)) {
      throw new AppError('usage', `${command.path} does not take ${long}`, { hint: help });
    }
  }
  const conflicts = [
    ...CONFLICTS,
    ...(format === 'json' ? [] : [['--json', '--format']]),
    ...(format === 'html' ? [] : [['--open', '--format']]),
  ];
  const conflict = conflicts.find((pair) => pair.every(isGiven));
  if (conflict !== undefined) {
    throw new AppError('usage', `${conflict.join(' and ')} contradict each other`, {
      hint: `leave one out; ${help}`,
    });
  }
  const isPage = /\.html?$/i.test(output);
  const wanted = format ?? (isPage && command.optionGroups.includes('columns') ? 'html' : undefined);
  const { choices = FORMATS } = optionFor(command, '--format');
  if (wanted !== undefined && FORMATS.some((each) => each === wanted) && !choices.includes(wanted)) {
    const report = command.options.some(({ long }) => long === '--report');
    const page = report
      ? '; restaurant enrich list.csv -o out.csv --report out.html'
      : '; find and lookup make pages: restaurant find "Nopa" --city "San Francisco" --open';
    throw new AppError(
      'usage',
      `${format === undefined ? `-o ${output}` : `--format ${wanted}`}: ${command.path} prints ${choices.join(', ')}`,
      {
        hint: wanted === 'html' ? help + page : help,
      },
    );
  }
  if (
    open === true &&
    command.optionGroups.includes('columns') &&
    output !== '' &&
    output !== '-' &&
    !isPage
  ) {
    throw new AppError('usage', `--open shows an HTML page, but ${output} has another extension`, {
      hint: 'restaurant … -o page.html --open, or leave out -o',
    });
  }
}

const FLAG_SETTINGS: readonly (readonly [SettingName, keyof GlobalOptions])[] = [
  ['base-url', 'baseUrl'],
  ['endpoint', 'endpoint'],
  ['profile', 'profile'],
  ['protocol', 'protocol'],
  ['timeout', 'timeout'],
  ['retries', 'retries'],
  ['max-wait', 'maxWait'],
  ['shared-state', 'sharedState'],
  ['max-age', 'maxAge'],
  ['format', 'format'],
  ['max-body', 'maxBody'],
];

/** The settings that flags give, as text. */
export function settingFlags(globals: GlobalOptions): Partial<Record<SettingName, string>> {
  const flags: Partial<Record<SettingName, string>> = {};
  for (const [name, option] of FLAG_SETTINGS) {
    const value = globals[option];
    if (typeof value === 'string') flags[name] = value;
  }
  if (globals.json === true) flags.format = 'json';
  return flags;
}
