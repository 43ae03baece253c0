import type { Option } from 'commander';
import { FORMATS } from '../output/formats.ts';
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName } from '../settings/catalog.ts';
import { type CliCommand, CliOption, type OptionGroup, type OptionOverride } from './command.ts';

/** Global options as parsed by commander; settings are still text. */
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
  /** The heading in help. */
  readonly heading: string;
  readonly group: OptionGroup;
  readonly flags: string;
  readonly long: string;
  readonly description: string;
  readonly conflicts: readonly string[];
  /** The setting that it sets for the run. */
  readonly setting?: Setting<unknown> | undefined;
}

/** An option for a setting uses the setting's description. */
type Row = readonly [group: OptionGroup, flags: string, description?: string, conflicts?: readonly string[]];

const underHeading = (heading: string, rows: readonly Row[]): GlobalOption[] =>
  rows.map(([group, flags, about, conflicts = []]) => {
    const [long = flags] = /--[a-z-]+/.exec(flags) ?? [];
    const setting = about === undefined ? SETTINGS[long.slice(2) as SettingName] : undefined;
    return {
      heading,
      group,
      flags,
      long,
      setting,
      conflicts,
      description: about ?? setting?.description ?? '',
    };
  });

/** In the order in which help shows them. */
const GLOBAL_OPTIONS: readonly GlobalOption[] = [
  ...underHeading('Output options:', [
    ['json', '-j, --json', 'Print JSON'],
    ['json', '--format <format>'],
    ['columns', '--columns <a,b,c>', 'Columns or keys to show; use dots for nested keys: hours.monday'],
    ['jq', '--jq <filter>', 'Filter the JSON output with jq; strings are printed raw'],
    ['csv', '--raw-csv', 'Do not escape formulas in CSV cells'],
    ['output', '-o, --output <file>', 'Write to a file; the format follows the extension'],
    ['force', '--force', 'Overwrite the output file'],
    ['page', '--open', 'Show a page with a map in the browser', ['json', 'dryRun', 'curl']],
    ['output', '--no-pager', 'Do not page long output'],
  ]),
  ...underHeading('Service options:', [
    ['address', '--base-url <url>'],
    ['address', '--endpoint <url>', undefined, ['baseUrl']],
    ['profile', '--profile <name>'],
    ['demo', '--demo', 'Use an embedded sandbox: no key, no network', ['baseUrl', 'endpoint']],
    ['address', '--protocol <p>'],
    ['address', '--insecure-http', 'Allow sending the API key over plain HTTP to a remote host'],
    ['request', '--timeout <t>'],
    ['request', '--retries <n>'],
    ['request', '--max-wait <t>'],
    ['request', '--max-body <size>'],
    ['request', '-H, --header <name: value>', 'Additional request header; repeatable'],
    ['address', '--shared-state <url>'],
    ['cache', '--max-age <t>'],
    ['dry-run', '--dry-run', 'Print the request or the file as JSON, key redacted; send and write nothing'],
    ['curl', '--curl', 'Print the equivalent curl command; send nothing', ['dryRun']],
  ]),
  ...underHeading('General options:', [
    ['general', '--verbose', 'Show requests and responses on stderr, key redacted'],
    ['general', '-q, --quiet', 'Do not print notes on stderr', ['verbose']],
    ['general', '--no-color', 'Disable colors'],
    ['general', '--no-input', 'Never prompt'],
  ]),
];

function makeOption(entry: GlobalOption, override: OptionOverride = {}): CliOption {
  const { flags, long, heading, setting } = entry;
  const { description = entry.description, choices = setting?.choices } = override;
  const shown = override.defaultText ?? override.default ?? setting?.defaultText ?? setting?.default;
  const made = new CliOption(flags, description, choices, shown);
  if (long === '--header') made.argParser((text, earlier: string[]) => [...earlier, text]).default([]);
  made.conflicts([...entry.conflicts]);
  made.isInteger = setting?.number === true;
  made.setting = setting;
  if (override.default !== undefined) made.default(override.default);
  return made.helpGroup(heading);
}

/** Formats of commands whose result is not a list of records. */
const PLAIN_FORMATS: readonly string[] = ['table', 'json'];

/**
 * Returns the override of a global option for a command: the command's own, else the one that follows from its option
 * groups.
 */
export function overrideFor({ optionGroups, optionOverrides }: CliCommand, long: string): OptionOverride {
  const own = optionOverrides.get(long);
  if (own !== undefined) return own;
  if (long === '--format' && !optionGroups.includes('columns')) {
    return { choices: PLAIN_FORMATS, defaultText: 'table' };
  }
  if (long === '--format' && !optionGroups.includes('page')) {
    return { choices: FORMATS.filter((format) => format !== 'html') };
  }
  if (long === '--max-age') return { default: SETTINGS['max-age'].default };
  if (long === '--dry-run' && optionGroups.includes('curl')) {
    return { description: 'Print the request as JSON, key redacted; send nothing' };
  }
  return {};
}

export function addGlobalOptions(program: CliCommand): void {
  for (const entry of GLOBAL_OPTIONS) program.addOption(makeOption(entry));
  for (const option of program.options.filter(({ required }) => required)) {
    // -h is never a value.
    program.on(`option:${option.name()}`, (text) => {
      if (text === '-h' || text === '--help') program.setOptionValue('help', true);
    });
  }
  program.completeWith('--profile', 'profile');
}

const entriesOf = ({ optionGroups }: CliCommand): GlobalOption[] =>
  GLOBAL_OPTIONS.filter(({ group }) => optionGroups.includes(group));

/** Returns the long names of the global options that a command takes. */
export const globalFlagsOf = (command: CliCommand): string[] => entriesOf(command).map(({ long }) => long);

/** Returns the global options that a command takes, with its overrides. */
export const optionsOf = (command: CliCommand): Option[] =>
  entriesOf(command).map((entry) => makeOption(entry, overrideFor(command, entry.long)));

/** Returns the settings that flags give, as text. */
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
