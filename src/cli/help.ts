import { type Command, Help } from 'commander';
import type { App } from '../app/app.ts';
import { exitCodes } from '../errors.ts';
import { FORMAT_DESCRIPTIONS } from '../output/formats.ts';
import { OTHER_VARIABLES, SETTING_NAMES, SETTINGS, type Setting } from '../settings/catalog.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import type { CliCommand, CliOption } from './command.ts';
import { globalOptions, HELP_OPTION, optionsOf, VERSION_OPTION } from './options.ts';

export const INTRODUCTION = `Search restaurants and read their details.

Try it now, without a key or network:
  $ restaurant find "Nopa" --city SF --demo

Save the address and your API key:
  $ restaurant login

Search, then show the first result:
  $ restaurant find "Nopa" --city SF
  $ restaurant lookup 1

Or choose with the keyboard:
  $ restaurant pick

restaurant --help lists all commands.
`;

/** Below this width, help prints descriptions below their terms instead of beside them. */
const NARROW = 50;

/** Formats the help of a command. Descriptions already contain choices and defaults. */
class CommandHelp extends Help {
  override minWidthToWrap = 16;
  /** Leaves out the options of most commands, for a program that reads the help. */
  readonly #isBrief: boolean;

  constructor(helpWidth: number, isBrief: boolean) {
    super();
    this.helpWidth = helpWidth;
    this.#isBrief = isBrief;
  }

  override formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    const { helpWidth: width = 80 } = helper;
    if (width >= NARROW) return super.formatItem(term, termWidth, description, helper);
    const below = helper.boxWrap(description, width - 6).replaceAll(/^/gm, ' '.repeat(6));
    return description === '' ? `  ${term}` : `  ${term}\n${below}`;
  }

  override visibleOptions(command: CliCommand): CliOption[] {
    const all = allOptions(command);
    const isWhole = !this.#isBrief || command.parent === null || command.isGroup;
    return isWhole ? all : all.filter((option) => !isCommon(option));
  }

  override optionDescription({ description }: CliOption): string {
    return description;
  }

  override visibleCommands({ children }: CliCommand): Command[] {
    return [...children];
  }

  override subcommandTerm(command: CliCommand): string {
    return [command.name(), argumentTerms(command)].join(' ').trim();
  }

  override commandUsage(command: CliCommand): string {
    return `restaurant ${usageOf(command)}`;
  }
}

const allOptions = (command: CliCommand): CliOption[] =>
  command.parent === null
    ? [...optionsOf(command), VERSION_OPTION, HELP_OPTION]
    : [...command.options, ...(command.isGroup ? [] : optionsOf(command)), HELP_OPTION];

/** `<name> [more...]` */
const argumentTerms = (command: CliCommand): string =>
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

function foldLine(line: string, room: number): string {
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

const textWidth = (width: number): number => Math.min(Math.max(width, 40), 100);

const wrap = (text: string, width: number): string =>
  text.startsWith('  ') ? text : new Help().boxWrap(text, width);

export const isCommon = ({ helpGroupHeading = '' }: CliOption): boolean =>
  ['Service options:', 'General options:'].includes(helpGroupHeading);

export function helpText(command: CliCommand, app: App): string {
  const columns = textWidth(app.terminal.helpWidth);
  const helper = new CommandHelp(columns, !app.context.stdout.isTTY);
  const hidesSome = helper.visibleOptions(command).length < allOptions(command).length;
  const sections = helper.formatHelp(command, helper).trimEnd().split('\n\n');
  // In a command with subcommands, options come last.
  const isLast = (section: string): boolean => command.children.length > 0 && /^\w+ options:/.test(section);
  const body = [...sections.filter((each) => !isLast(each)), ...sections.filter(isLast)];
  const details = command.details.split('\n\n').map((text) => wrap(text, columns));
  // The help of the program does not depend on settings, so that start.ts can print it.
  const isFixed = command.parent === null;
  const keepsDemo = isFixed || app.globals.demo === true || app.settings.hasNoService;
  const lines = command.exampleLines.map((line) => (keepsDemo ? line : line.replaceAll(/ --demo\b/g, '')));
  const examples = lines.map((line) => `  $ ${foldLine(line, Math.min(columns, 80) - 10)}`);
  const examplesOfShared = command.optionGroups.includes('demo')
    ? '--demo, --timeout, ...'
    : '--quiet, --no-color, ...';
  const more = hidesSome ? `More options (${examplesOfShared}): restaurant help options` : '';
  const parts = [
    ...body,
    more,
    ...details,
    examples.length === 0 ? '' : ['Examples:', ...examples].join('\n'),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

type Section = string | readonly (readonly [term: string, text: string])[];

const optionsTopic = (): Section[] => {
  const options = globalOptions();
  const headings = [...new Set(options.map(({ helpGroupHeading = '' }) => helpGroupHeading))];
  return headings.flatMap((heading) => [
    heading,
    options
      .filter(({ helpGroupHeading }) => helpGroupHeading === heading)
      .map(({ flags, description }) => [flags, description] as const),
  ]);
};

const environmentTopic = (): Section[] => [
  'Environment variables. An option overrides them; they override the config file. An empty variable counts as unset.',
  SETTING_NAMES.map((name) => {
    const { env, description, default: value, defaultText = value }: Setting<unknown> = SETTINGS[name];
    return [env, defaultText === undefined ? description : `${description} (default: ${defaultText})`];
  }),
  OTHER_VARIABLES,
  'restaurant status shows each setting and its source.',
];

const exitCodesTopic = (): Section[] => [
  'Exit codes, and the code strings of JSON errors.',
  [
    ...exitCodes().flatMap(({ exit, kind, meaning: about, codes }): [string, string][] => {
      if (about !== undefined) return [[String(exit), about]];
      const exits = kind === 'interrupted' ? `${exit}, 143` : String(exit);
      return codes.map(({ code, meaning }, index) => [
        `${(index === 0 ? exits : '').padEnd(9)}${code.padEnd(13)}`,
        meaning,
      ]);
    }),
  ],
  'With --json, an error is one line on stderr; status, retry_after (s), restaurant_id, rpc_code, and request_id are added if known:',
  '  {"error":{"code":"no_key","message":"…","hint":"…","retryable":false}}',
];

const formatsTopic = (): Section[] => [
  'Output formats: --format <format>, or the extension of --output.',
  Object.entries(FORMAT_DESCRIPTIONS),
  `Columns of find in tsv and csv, in this order: ${SUMMARY_COLUMNS.join(', ')}`,
  '  $ restaurant find "Nopa" --city SF --demo | cut -f 2,3\n' +
    '  $ restaurant find "Nopa" --city SF --demo --json | jq -r ".results[0].name"\n' +
    '  $ restaurant find "Nopa" --city SF --demo --columns name,grade,lat,lng',
];

export const TOPICS: Readonly<Record<string, () => Section[]>> = {
  environment: environmentTopic,
  'exit-codes': exitCodesTopic,
  formats: formatsTopic,
  options: optionsTopic,
};

export function topicText(topic: string, terminalWidth: number): string {
  const width = textWidth(terminalWidth);
  const help = Object.assign(new Help(), { helpWidth: width, minWidthToWrap: 16 });
  const format = (section: Section): string => {
    if (typeof section === 'string') return wrap(section, width);
    const termWidth = Math.min(28, width >> 1, Math.max(...section.map(([term]) => term.length)));
    const row = (term: string, text: string) => help.formatItem(term, termWidth, text, help).trimEnd();
    // A term that is wider than its column gets its own line.
    const rows = section.map(([term, text]) =>
      term.length > termWidth ? `  ${term}\n${row('', text)}` : row(term, text),
    );
    return rows.join('\n');
  };
  return `${(TOPICS[topic]?.() ?? []).map(format).join('\n\n')}\n`;
}
