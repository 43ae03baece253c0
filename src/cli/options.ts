import { FORMATS } from '../output/formats.ts';
import { GLOBAL_OPTIONS, type OptionRow, SETTINGS, type Setting } from '../settings/catalog.ts';
import { type CliCommand, CliOption, type OptionOverride } from './command.ts';

/** An option of the program instead of commander's help option, so that it applies anywhere in a command line. */
export const HELP_OPTION = new CliOption('-h, --help', 'Show this help').helpGroup('General options:');
export const VERSION_OPTION = new CliOption('-V, --version', 'Print the version').helpGroup(
  'General options:',
);

function makeOption(name: string, row: OptionRow, override: OptionOverride = {}): CliOption {
  const { description = row.description, choices = row.choices } = override;
  const text = override.defaultText ?? override.default ?? row.defaultText ?? row.default;
  const option = new CliOption(row.flags, description, choices, text);
  if (option.long === '--header')
    option.argParser((each, earlier: string[]) => [...earlier, each]).default([]);
  option.conflicts([...(row.conflicts ?? [])]);
  option.isInteger = row.number === true;
  option.setting = (SETTINGS as Readonly<Record<string, Setting<unknown>>>)[name];
  option.read = option.setting?.parse;
  option.example = option.setting?.default;
  if (override.default !== undefined) option.default(override.default);
  return option.helpGroup(row.heading);
}

const PLAIN_FORMATS: readonly string[] = ['table', 'json'];

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

export const globalOptions = (): CliOption[] =>
  Object.entries(GLOBAL_OPTIONS).map(([name, row]) => makeOption(name, row));

export function addGlobalOptions(program: CliCommand): void {
  for (const option of globalOptions()) program.addOption(option);
  for (const option of program.options.filter(({ required }) => required)) {
    // -h is never a value.
    program.on(`option:${option.name()}`, (text) => {
      if (text === '-h' || text === '--help') program.setOptionValue('help', true);
    });
  }
  program.completeWith('--profile', 'profile');
}

const rowsOf = ({ optionGroups }: CliCommand) =>
  Object.entries(GLOBAL_OPTIONS).filter(([, { group }]) => optionGroups.includes(group));

const globalFlagsOf = (command: CliCommand): string[] => rowsOf(command).map(([name]) => `--${name}`);

export const longsOf = (command: CliCommand): string[] => [
  ...command.options.map((option) => option.long),
  ...globalFlagsOf(command),
];

export const accepts = (command: CliCommand, long: string): boolean => longsOf(command).includes(long);

export const optionsOf = (command: CliCommand): CliOption[] =>
  rowsOf(command).map(([name, row]) => makeOption(name, row, overrideFor(command, `--${name}`)));
