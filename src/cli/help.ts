import { Help, Option } from 'commander';
import type { CliCommand } from './command.ts';
import { optionsOf } from './options.ts';

/** Known only to help: the route finds `-h` before commander parses. */
export const HELP_OPTION = new Option('-h, --help', 'show this help').helpGroup('General options:');

const FIRST_STEPS: readonly (readonly [command: string, what: string])[] = [
  ['find "Nopa" --city SF --demo', 'try it now: no key, no network'],
  ['login', 'save the address and your API key'],
  ['find "Nopa" --city SF', 'search'],
  ['lookup 1', 'details of the first one found'],
];

/** In narrower help a description goes below its term, not beside it. */
const NARROW = 50;
const columnsOf = ({ helpWidth }: { helpWidth?: number }): number => helpWidth ?? 80;

/** Returns the text that bare `restaurant` prints. */
export function introText(width: number): string {
  const steps = FIRST_STEPS.map(([command, what]) => {
    const line = `  $ restaurant ${command}`;
    return width < 80 ? `${line}\n      ${what}` : `${line.padEnd(44)}  ${what}`;
  });
  const [what, ...more] = ['Search restaurants, read their details,', 'from the command line.'];
  const about = [what, ...more].join(width < 66 ? '\n' : ' ');
  return `${about}\n\n${steps.join('\n')}\n\nrestaurant --help lists all commands.\n`;
}

/** Configures the layout of help, for the program and all commands created from it afterwards. */
export function configureHelp(program: CliCommand): void {
  program.configureHelp({
    showGlobalOptions: false,
    minWidthToWrap: 16,
    formatItem(term, termWidth, description, helper) {
      if (columnsOf(this) >= NARROW)
        return Help.prototype.formatItem.call(this, term, termWidth, description, helper);
      const below = helper.boxWrap(description, columnsOf(this) - 6).replaceAll(/^/gm, ' '.repeat(6));
      return description === '' ? `  ${term}` : `  ${term}\n${below}`;
    },
    visibleOptions(command) {
      const cli = command as CliCommand;
      const own =
        cli === program ? versionOption(program) : command.options.filter((option) => !option.hidden);
      const shared = cli.isGroup && cli !== program ? [] : optionsOf(cli);
      return cli === program ? [...shared, ...own, HELP_OPTION] : [...own, ...shared, HELP_OPTION];
    },
    // The descriptions say choices and defaults themselves.
    optionDescription: (option) => option.description,
    visibleCommands: (command) => (command as CliCommand).children.slice(),
    subcommandTerm: (command) => [command.name(), argumentTerms(command as CliCommand)].join(' ').trim(),
    commandUsage: (command) => `restaurant ${usageOf(command as CliCommand)}`,
  });
}

const versionOption = (program: CliCommand): Option[] =>
  program.options
    .filter((option) => option.long === '--version')
    .map((option) => option.helpGroup('General options:'));

/** `<name> [more...]` */
export const argumentTerms = (command: CliCommand): string =>
  command.registeredArguments
    .map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return argument.required ? `<${name}>` : `[${name}]`;
    })
    .join(' ');

function usageOf(command: CliCommand): string {
  const below = command.isGroup ? '<command>' : '[command]';
  const terms = command.children.length > 0 ? below : argumentTerms(command);
  return [command.path, terms, '[options]'].filter((part) => part !== '').join(' ');
}

/** Splits text into paragraphs, each on one line; indented ones keep their lines. */
const paragraphs = (text: string): string[] =>
  text
    .trim()
    .split(/\n{2,}/)
    .map((each) => (each.startsWith('  ') ? each : each.replaceAll('\n', ' ')));

/** Folds a command line after `  $ ` into lines of about `room` characters, with the continuation of a shell. */
function folded(line: string, room: number): string {
  // A flag stays with its value, and a command with the pipe into it.
  const words = line.match(/(?:\| )?(?:--?[\w-]+ (?![-|<>]))?(?:[^\s'"]+|'[^']*'|"[^"]*")+/g) ?? [];
  const lines = [''];
  for (const word of words) {
    const last = lines.at(-1) ?? '';
    const breaks = last.length + word.length > room || (word.startsWith('|') && line.length > room);
    if (last !== '' && breaks) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join(' \\\n      ');
}

/** Returns the width of running text: at least 40 and at most 100 columns. */
export const textWidth = (width: number): number => Math.min(Math.max(width, 40), 100);

/** Returns the help of one command: usage, arguments, options, details, examples. */
export function helpText(command: CliCommand, width: number): string {
  const helper: Help = command.createHelp();
  const columns = textWidth(width);
  helper.helpWidth = columns;
  const sections = helper.formatHelp(command, helper).trimEnd().split('\n\n');
  // With commands to choose from, options come last.
  const isLast = (section: string): boolean => command.children.length > 0 && /^\w+ options:/.test(section);
  const body = [...sections.filter((each) => !isLast(each)), ...sections.filter(isLast)].join('\n\n');
  const details =
    command.details === ''
      ? ''
      : `\n\n${paragraphs(command.details)
          .map((text) => (text.startsWith('  ') ? text : helper.boxWrap(text, columns)))
          .join('\n\n')}`;
  const lines = command.exampleLines.map((line) => `  $ ${folded(line, Math.min(columns, 80) - 10)}`);
  const examples = lines.length === 0 ? '' : `\n\nExamples:\n${lines.join('\n')}`;
  return `${body}${details}${examples}\n`;
}
