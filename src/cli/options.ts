import { CommanderError } from 'commander';
import { type AppError, usage } from '../errors.ts';
import { again, type Hint, restaurant } from '../hint.ts';
import { FORMATS } from '../output/formats.ts';
import {
  GLOBAL_OPTIONS,
  type GlobalOptions,
  type OptionRow,
  SETTINGS,
  type Setting,
  type SettingName,
} from '../settings/catalog.ts';
import { exampleValue } from '../settings/settings.ts';
import { oneOf } from '../settings/values.ts';
import { nearest } from '../util/nearest.ts';
import {
  type CliCommand,
  CliOption,
  type InvalidValue,
  type LineOption,
  type OptionOverride,
} from './command.ts';

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
  if (option.setting !== undefined) option.exampleFor = (typed) => exampleValue(name as SettingName, typed);
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

export function conflictIn(command: CliCommand): AppError | undefined {
  const all = [...command.typed, ...command.root.typed].map(({ option }) => option);
  for (const one of all) {
    const other = all.find((each) => one.conflictsWith.includes(each.attributeName()));
    if (other !== undefined) return conflict(one.long, other.long, command);
  }
  return undefined;
}

const conflict = (one: string, other: string, command: CliCommand): AppError =>
  usage(`${one} and ${other} cannot be used together`, [
    { text: 'leave one out', command: again({}, { without: [other] }) },
    command.seeHelp,
  ]);

/** The code of `-o json`, where a format is in place of a file. */
export const BARE_FORMAT = 'restaurant.bareFormat';

export const bareFormat = (program: CliCommand): string | undefined =>
  [program.opts().output ?? []].flat().find((file) => FORMATS.some((format) => format === file));

/** Returns a long option that is typed as `-city`, or with a dash in place of the hyphens. */
export function misdashed(program: CliCommand): string | undefined {
  for (const word of beforeEnd(program.words)) {
    const [, name] = /^(?:-|[—–]+)([a-z][\w-]+)(?:=.*)?$/is.exec(word) ?? [];
    if (name !== undefined && program.innermost.findOption(`--${name}`) !== undefined) return word;
  }
  return undefined;
}

/** The words that may be options. */
export const beforeEnd = (words: readonly string[]): readonly string[] =>
  words.includes('--') ? words.slice(0, words.indexOf('--')) : words;

/** Checks what commander does not know: options of the program that the command does not accept, and formats. */
export function checkCommandLine(program: CliCommand): void {
  const { innermost: command, typed } = program;
  const { help, version } = program.opts();
  if (help === true || version === true) throw new CommanderError(0, 'commander.help', '');
  if (bareFormat(program) !== undefined) throw new CommanderError(2, BARE_FORMAT, '');
  if (misdashed(program) !== undefined) throw new CommanderError(2, 'commander.unknownOption', '');
  const accepted = globalFlagsOf(command);
  const foreign = typed.find(({ option }) => !accepted.includes(option.long));
  if (foreign !== undefined) {
    throw usage(`${command.path} does not accept ${foreign.option.long}`, command.ownHelp);
  }
  program.invalid ??= invalidSetting(command, typed);
  if (program.invalid !== undefined) throw program.invalid.error;
  const error = conflictIn(command) ?? formatError(program.opts<GlobalOptions>(), command);
  if (error !== undefined) throw error;
  if (program.isTrial) throw new CommanderError(0, 'commander.help', '');
}

/** Checks the values of settings, which are read when they are used. */
function invalidSetting(command: CliCommand, typed: readonly LineOption[]): InvalidValue | undefined {
  for (const { option, text = '' } of typed) {
    // A format of another command has its own message.
    if (option.setting === undefined || FORMATS.some((format) => format === text)) continue;
    const { choices } = overrideFor(command, option.long);
    try {
      if (choices !== undefined) option.read = oneOf(choices);
      option.parse(text);
    } catch (error) {
      return {
        flag: option.long,
        text,
        error,
        example: choices ? (nearest(text, [...choices], 1)[0] ?? choices[0]) : option.exampleFor(text),
      };
    }
  }
  return undefined;
}

function formatError(globals: GlobalOptions, command: CliCommand): AppError | undefined {
  const { format, json, open } = globals;
  if (json === true && format !== undefined && format !== 'json')
    return conflict('--json', '--format', command);
  if (open === true && format !== undefined && format !== 'html')
    return conflict('--open', '--format', command);
  const { choices = FORMATS } = overrideFor(command, '--format');
  const wanted = FORMATS.find((each) => each === format);
  if (wanted === undefined || choices.includes(wanted)) return undefined;
  return usage(
    `--format ${wanted}: ${command.path} prints ${choices.join(', ')}`,
    formatHint(wanted, command),
  );
}

function formatHint(wanted: string, command: CliCommand): Hint {
  if (wanted !== 'html') return command.ownHelp;
  const page =
    command.path === 'enrich'
      ? again({ '--output': 'out.html' }, { without: ['--format'] })
      : restaurant('last', '--open');
  return [command.ownHelp, { text: 'for a page', command: page }];
}
