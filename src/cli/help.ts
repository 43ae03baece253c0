import { Help, Option } from 'commander';
import { exitCodes } from '../errors.ts';
import { FORMAT_DESCRIPTIONS } from '../output/formats.ts';
import { OTHER_VARIABLES, SETTING_NAMES, SETTINGS, type Setting } from '../settings/catalog.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import type { CliCommand } from './command.ts';
import { globalOptions, optionsOf } from './options.ts';

/** An option of the program instead of commander's help option, so that it applies anywhere in a command line. */
export const HELP_OPTION = new Option('-h, --help', 'Show this help').helpGroup('General options:');
export const VERSION_OPTION = new Option('-V, --version', 'Print the version').helpGroup('General options:');

export const INTRODUCTION = `Search restaurants and read their details.

Try it now, without a key or network:
  $ restaurant find "Nopa" --city SF --demo

Save the address and your API key:
  $ restaurant login

Search, then show the first result:
  $ restaurant find "Nopa" --city SF
  $ restaurant lookup 1

restaurant --help lists all commands.
`;

/** Below this width, help prints descriptions below their terms instead of beside them. */
const NARROW = 50;

export function configureHelp(program: CliCommand): void {
  program.configureHelp({
    showGlobalOptions: false,
    minWidthToWrap: 16,
    formatItem(term, termWidth, description, helper) {
      const { helpWidth: width = 80 } = helper;
      if (width >= NARROW) return Help.prototype.formatItem.call(this, term, termWidth, description, helper);
      const below = helper.boxWrap(description, width - 6).replaceAll(/^/gm, ' '.repeat(6));
      return description === '' ? `  ${term}` : `  ${term}\n${below}`;
    },
    visibleOptions(command) {
      const cli = command as CliCommand;
      if (cli === program) return [...optionsOf(cli), VERSION_OPTION, HELP_OPTION];
      return [...cli.options, ...(cli.isGroup ? [] : optionsOf(cli)), HELP_OPTION];
    },
    // The descriptions already contain choices and defaults.
    optionDescription: (option) => option.description,
    visibleCommands: (command) => (command as CliCommand).children.slice(),
    subcommandTerm: (command) => [command.name(), argumentTerms(command as CliCommand)].join(' ').trim(),
    commandUsage: (command) => `restaurant ${usageOf(command as CliCommand)}`,
  });
}

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

export const isShared = ({ helpGroupHeading = '' }: Option): boolean =>
  ['Service options:', 'General options:'].includes(helpGroupHeading);

interface HelpView {
  readonly width: number;
  /** Leaves out the options of most commands, for a program that reads the help. */
  readonly isBrief: boolean;
  /** Keeps --demo in the examples: there is no service. */
  readonly needsDemo: boolean;
}

export function helpText(command: CliCommand, { width, isBrief, needsDemo }: HelpView): string {
  const helper: Help = command.createHelp();
  const all = helper.visibleOptions(command);
  const options = all.filter(
    (option) => !isBrief || command.parent === null || command.isGroup || !isShared(option),
  );
  helper.visibleOptions = () => options;
  const columns = textWidth(width);
  helper.helpWidth = columns;
  const sections = helper.formatHelp(command, helper).trimEnd().split('\n\n');
  // In a command with subcommands, options come last.
  const isLast = (section: string): boolean => command.children.length > 0 && /^\w+ options:/.test(section);
  const body = [...sections.filter((each) => !isLast(each)), ...sections.filter(isLast)];
  const details = command.details.split('\n\n').map((text) => wrap(text, columns));
  const lines = command.exampleLines.map((line) => (needsDemo ? line : line.replaceAll(/ --demo\b/g, '')));
  const examples = lines.map((line) => `  $ ${foldLine(line, Math.min(columns, 80) - 10)}`);
  const examplesOfShared = all.some(({ long }) => long === '--demo')
    ? '--demo, --timeout, ...'
    : '--quiet, --no-color, ...';
  const more =
    options.length < all.length ? `More options (${examplesOfShared}): restaurant help options` : '';
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
    return [env, defaultText === undefined ? description : `${description} (default ${defaultText})`];
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
