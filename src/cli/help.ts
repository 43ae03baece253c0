import { Help, Option } from 'commander';
import { exitCodes } from '../errors.ts';
import { OTHER_VARIABLES, SETTING_NAMES, SETTINGS, type Setting } from '../settings/catalogue.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import type { CliCommand } from './command.ts';
import { optionsOf } from './options.ts';

/** Known only to help: the route finds `-h` before commander parses. */
export const HELP_OPTION = new Option('-h, --help', 'show this help').helpGroup('General options:');
const VERSION_OPTION = new Option('-V, --version', 'print the version').helpGroup('General options:');

const FIRST_STEPS: readonly (readonly [command: string, what: string])[] = [
  ['find "Nopa" --city SF --demo', 'try it now: no key, no network'],
  ['login', 'save the address and your API key'],
  ['find "Nopa" --city SF', 'search'],
  ['lookup 1', 'details of the first one found'],
];

/** In narrower help a description goes below its term, not beside it. */
const NARROW = 50;

/** Returns the text that bare `restaurant` prints. */
export function introText(width: number): string {
  const steps = FIRST_STEPS.map(([command, what]) => {
    const line = `  $ restaurant ${command}`;
    return width < 80 ? `${line}\n      ${what}` : `${line.padEnd(44)}  ${what}`;
  });
  const about = 'Search restaurants, read their details, from the command line.';
  return `${about}\n\n${steps.join('\n')}\n\nrestaurant --help lists all commands.\n`;
}

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
    // The descriptions say choices and defaults themselves.
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

/** Splits text into paragraphs, each on one line; indented ones keep their lines. */
const paragraphs = (text: string): string[] =>
  text
    .trim()
    .split(/\n{2,}/)
    .filter((each) => each !== '')
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
  const body = [...sections.filter((each) => !isLast(each)), ...sections.filter(isLast)];
  const details = paragraphs(command.details).map((text) =>
    text.startsWith('  ') ? text : helper.boxWrap(text, columns),
  );
  const lines = command.exampleLines.map((line) => `\n  $ ${folded(line, Math.min(columns, 80) - 10)}`);
  const examples = lines.length === 0 ? [] : [`Examples:${lines.join('')}`];
  return `${[...body, ...details, ...examples].join('\n\n')}\n`;
}

function topicLayout(width: number) {
  const help = Object.assign(new Help(), { helpWidth: width, minWidthToWrap: 16 });
  return {
    text: (text: string): string => help.boxWrap(text, width),
    /** Two columns. A term that is longer than the first column has its own line. */
    table(rows: readonly (readonly [string, string])[], maxTerm = 28): string {
      const termWidth = Math.min(maxTerm, width >> 1, Math.max(...rows.map(([term]) => term.length)));
      const row = (term: string, text: string) => help.formatItem(term, termWidth, text, help).trimEnd();
      return rows
        .map(([term, text]) => (term.length > termWidth ? `  ${term}\n${row('', text)}` : row(term, text)))
        .join('\n');
    },
  };
}

function environmentTopic(width: number): string {
  const { text, table } = topicLayout(width);
  const settings = SETTING_NAMES.map((name): [string, string] => {
    const { env, description, default: value, defaultText = value }: Setting<unknown> = SETTINGS[name];
    return [env, defaultText === undefined ? description : `${description} (default ${defaultText})`];
  });
  return [
    text(
      'Environment variables. An option overrides them; they override the config file. An empty variable counts as unset.',
    ),
    '',
    table(settings),
    '',
    table(OTHER_VARIABLES),
    '',
    text('restaurant status shows each setting and its source.'),
    '',
  ].join('\n');
}

function exitCodesTopic(width: number): string {
  const { text, table } = topicLayout(width);
  const rows = exitCodes().flatMap(({ exit, kind, codes }) => {
    const shown = kind === 'interrupted' ? `${exit}, 143` : String(exit);
    return codes.map(({ code, meaning }, index): [string, string] => [
      `${(index === 0 ? shown : '').padEnd(9)}${code.padEnd(13)}`,
      meaning,
    ]);
  });
  return [
    text('Exit codes, and the code strings of JSON errors.'),
    '',
    table([['0', 'success, also when nothing was found'], ...rows]),
    '',
    text('With --json, an error is one line on stderr:'),
    '  {"error":{"code":"no_key","message":"…","hint":"…","retryable":false}}',
    text('plus, when known: status, retry_after (s), restaurant_id, rpc_code, request_id.'),
    '',
  ].join('\n');
}

function formatsTopic(width: number): string {
  const { text, table } = topicLayout(width);
  const formats: [string, string][] = [
    ['table', 'for a terminal: fits its width; the default there'],
    ['tsv', 'one record a line, tab-separated, no header, nothing cut; the default in a pipe'],
    ['json', 'one document, as received from the service; pretty on a terminal'],
    ['ndjson', 'one JSON record a line, each as soon as it is received'],
    [
      'csv',
      'RFC 4180 with a header line; arrays joined with "; ", nested keys dotted; cells that a spreadsheet would run begin with \' (--raw-csv leaves them)',
    ],
    ['markdown', 'a GitHub table'],
    ['geojson', 'RFC 7946: a FeatureCollection of Points, for a map'],
    ['kml', 'placemarks with the summary fields, for a map'],
    ['html', 'find, lookup: a page with a list and a map, in one file; --open shows it'],
  ];
  return [
    text('Output formats: --format <format>, or the extension of --output.'),
    '',
    table(formats),
    '',
    text(`Columns of find in tsv and csv, in this order: ${SUMMARY_COLUMNS.join(', ')}`),
    '',
    '  $ restaurant find "Nopa" --city SF --demo | cut -f 2,3',
    '  $ restaurant find "Nopa" --city SF --demo --json | jq -r ".results[0].name"',
    '  $ restaurant find "Nopa" --city SF --demo --columns name,grade,lat,lng',
    '',
  ].join('\n');
}

/** The help topics besides commands, laid out for a width. */
export const TOPICS: Readonly<Record<string, (width: number) => string>> = {
  environment: environmentTopic,
  'exit-codes': exitCodesTopic,
  formats: formatsTopic,
};
