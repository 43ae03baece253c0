import type { CommanderError } from 'commander';
import { AppError } from '../errors.ts';
import { nearest } from '../util/nearest.ts';
import { shellWord } from '../util/shell.ts';
import type { CliCommand } from './command.ts';
import { optionsOf } from './options.ts';

/** Verbs of other tools, by the command group that they are typed in, and ours for the same act. */
const OTHER_VERBS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    search: 'find',
    query: 'find',
    list: 'find',
    ls: 'find',
    map: 'find <name> --city <city> --open',
    get: 'lookup',
    show: 'lookup',
    view: 'lookup',
    info: 'lookup',
    details: 'lookup',
    describe: 'lookup',
    compare: 'lookup',
    open: 'lookup 1 --open',
    request: 'raw',
    rpc: 'raw',
    api: 'raw',
    curl: 'raw',
    run: 'call',
    exec: 'call',
    invoke: 'call',
    tool: 'tools',
    auth: 'login',
    signin: 'login',
    signout: 'logout',
    whoami: 'status',
    doctor: 'status --check',
    check: 'status --check',
    quota: 'status',
    profiles: 'config profiles',
    settings: 'config',
    set: 'config set',
    server: 'sandbox',
    serve: 'sandbox',
    version: '--version',
  },
  config: {
    show: 'list',
    ls: 'list',
    all: 'list',
    add: 'set',
    rm: 'unset',
    remove: 'unset',
    delete: 'unset',
  },
  cache: { rm: 'clear', remove: 'clear', delete: 'clear', purge: 'clear', empty: 'clear' },
};

/** Options of other tools, and ours for the same thing. */
const OTHER_OPTIONS: Readonly<Record<string, string>> = {
  location: '--city',
  town: '--city',
  where: '--city',
  in: '--city',
  area: '--neighborhood',
  district: '--neighborhood',
  neighbourhood: '--neighborhood',
  tag: '--cuisine',
  food: '--cuisine',
  max: '--limit',
  top: '--limit',
  count: '--limit',
  order: '--sort',
  'order-by': '--sort',
  level: '--fields',
  select: '--columns',
  cols: '--columns',
  file: '--output',
  out: '--output',
  url: '--base-url',
  host: '--base-url',
  server: '--base-url',
  overwrite: '--force',
  yes: '--force',
  browser: '--open',
  web: '--open',
  map: '--open',
  debug: '--verbose',
  silent: '--quiet',
  refresh: '--max-age 0',
  'no-cache': '--max-age 0',
  'no-colour': '--no-color',
  resume: '--resume',
};

/** Options of other tools for what is an argument here. */
const OTHER_ARGUMENTS: Readonly<Record<string, string>> = {
  input: 'file',
  query: 'name',
  restaurant: 'name',
  'restaurant-id': 'id',
  'service-id': 'id',
};

/** Returns the command that shows the help of a command. */
export const helpCommand = (command: CliCommand): string =>
  ['restaurant', command.path, '--help'].filter((part) => part !== '').join(' ');

/** For `--fields`, which chooses columns in other programs. */
const COLUMNS_HINT = 'to choose columns use --columns; ';

/** Returns the hint of a usage error without one of its own. */
export const usageHint = (message: string, command: CliCommand): string =>
  message.startsWith('--fields ') ? `${COLUMNS_HINT}see ${helpCommand(command)}` : helpCommand(command);

const allCommands = (command: CliCommand): CliCommand[] => [
  command,
  ...command.children.flatMap((child) => allCommands(child)),
];

/**
 * Returns the error for an option that a command does not have, with the likely correction.
 * @param word as typed, with a value behind `=` where it has one
 * @param program the whole tree
 * @param next the word that follows on the command line
 */
export function unknownOptionError(
  word: string,
  command: CliCommand,
  program: CliCommand,
  next?: string,
): AppError {
  // The text after `=` may be a secret.
  const [flag = word, value = next] = word.split(/=(.*)/s);
  const name = flag.replace(/^-+/, '');
  const refuse = (hint: string) => new AppError('usage', `unknown option '${flag}'`, { hint });
  const secret = keyOptionHint(flag);
  if (secret !== undefined) return refuse(secret);
  const help = helpCommand(command);

  const argument = command.registeredArguments.find(
    (each) => each.name() === (Object.hasOwn(OTHER_ARGUMENTS, name) ? OTHER_ARGUMENTS[name] : name),
  );
  if (argument !== undefined) {
    const shown = value === undefined || value.startsWith('-') ? `<${name}>` : shellWord(value);
    return refuse(
      `${argument.name()} is an argument, not an option: restaurant ${command.path} ${shown}; see ${help}`,
    );
  }
  const known = [...command.options, ...(command === program ? program.options : optionsOf(command))];
  const longs = known.flatMap(({ long, hidden }) => (long == null || hidden ? [] : [long.slice(2)]));
  const other = Object.hasOwn(OTHER_OPTIONS, name) ? OTHER_OPTIONS[name] : undefined;
  if (other !== undefined && longs.includes(other.slice(2).split(' ')[0] ?? '')) {
    return refuse(`use ${other}; see ${help}`);
  }
  const owner = allCommands(program).find(
    (each) =>
      each !== program &&
      each.path !== command.path &&
      each.options.some(({ long, short }) => [long, short].includes(flag)),
  );
  // The value of an option that another command has may be a list of columns here.
  const columns = name === 'fields' && longs.includes('columns') ? COLUMNS_HINT : '';
  const [near] = flag.startsWith('--') ? nearest(name, [...longs, 'help'], 1) : [];
  if (near !== undefined) return refuse(`did you mean --${near}? See ${help}`);
  return refuse(
    `${columns}${owner === undefined ? 'see' : `it is an option of ${owner.path}: restaurant ${owner.path} … ${flag}; see`} ${help}`,
  );
}

/** Returns the error for a word that names no command, with the command that was probably meant. */
export function unknownCommandError(word: string, parent: CliCommand): AppError {
  const within = parent.path === '' ? '' : `${parent.path} `;
  const verbs = OTHER_VERBS[parent.path] ?? {};
  const typed = word.toLowerCase();
  const names = parent.children.map((child) => child.name());
  const meant = Object.hasOwn(verbs, typed) ? [verbs[typed] ?? ''] : nearest(word, names);
  const commands = meant.map((name) => `restaurant ${within}${name}`).join(' or ');
  const hint =
    commands === ''
      ? `restaurant ${within}--help lists the commands`
      : `did you mean ${commands}? See restaurant --help`;
  return new AppError('usage', `unknown command '${within}${word}'`, { hint });
}

/** Returns commander's usage error as ours: exit 2, the value that is wrong, the likely correction. */
export function usageError(
  error: CommanderError,
  command: CliCommand,
  program: CliCommand,
  argv: readonly string[],
): AppError {
  const [first = ''] = error.message.split('\n');
  const said = first.replace(/^error: /, '').replace(/[.]$/, '');
  const help = helpCommand(command);
  const refuse = (message: string, hint: string) => new AppError('usage', message, { hint, cause: error });
  const quoted = /'(.+)'/.exec(said)?.[1] ?? '';
  switch (error.code) {
    case 'commander.missingArgument':
      return refuse(`${command.path} needs <${quoted}>`, exampleHint(command, help));
    case 'commander.optionMissingArgument':
      return refuse(`${quoted.replace(/^-\w, /, '').replace(/ .*/, '')} needs a value: ${quoted}`, help);
    case 'commander.excessArguments':
      return refuse(
        excessMessage(command),
        command.path === 'login' ? (keyOptionHint('--key') ?? help) : help,
      );
    case 'commander.unknownOption':
      return unknownOptionError(quoted, command, program, argv[argv.indexOf(quoted) + 1]);
    default:
      return refuse(said, help);
  }
}

/** Returns the hint for somebody who gives a key on the command line, where others can read it. */
function keyOptionHint(flag: string): string | undefined {
  if (!/^--?(api-?)?(key|token|secret)$/i.test(flag)) return undefined;
  return 'no option takes a key, because other users could read it: restaurant login --key-stdin < key.txt';
}

function exampleHint(command: CliCommand, help: string): string {
  const [example] = command.exampleLines;
  return example === undefined ? help : `for example ${example}; see ${help}`;
}

/** Names the first argument that is one too many. A word after login is most likely the key, so it is not repeated. */
function excessMessage({ path, args, registeredArguments }: CliCommand): string {
  const expected = registeredArguments.length;
  const most = ['no arguments', 'one argument'][expected] ?? `${expected} arguments`;
  const extra = path === 'login' ? undefined : args[expected];
  return `${path} takes ${most}, got ${extra === undefined ? args.length : `'${extra}' too`}`;
}
