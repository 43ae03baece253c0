import { AppError } from '../errors.ts';
import { nearest } from '../util/nearest.ts';
import { shellWord } from '../util/shell.ts';
import { type CliCommand, COLUMNS_HINT } from './command.ts';
import { HELP_OPTION } from './help.ts';
import { globalFlagsOf, optionsOf } from './options.ts';
import { findOption, type Route } from './route.ts';

/** Words that other tools use for the same thing, by our word. */
type Synonyms = Readonly<Record<string, string>>;

/** Commands of other tools, by command group and our command. */
const OTHER_VERBS: Readonly<Record<string, Synonyms>> = {
  '': {
    find: 'search query list ls',
    'find <name> --city <city> --open': 'map',
    lookup: 'get show view info details describe compare',
    'lookup 1 --open': 'open',
    raw: 'request rpc api curl',
    call: 'run exec invoke',
    tools: 'tool',
    login: 'auth signin',
    logout: 'signout',
    status: 'whoami quota',
    'status --check': 'doctor check',
    config: 'settings',
    'config profiles': 'profiles',
    'config set': 'set',
    sandbox: 'server serve',
    '--version': 'version',
  },
  config: { list: 'show ls all', set: 'add', unset: 'rm remove delete' },
  cache: { clear: 'rm remove delete purge empty' },
};

/** Options of other tools, by our option. */
const OTHER_OPTIONS: Synonyms = {
  '--city': 'location town where in',
  '--neighborhood': 'area district neighbourhood',
  '--cuisine': 'tag food',
  '--limit': 'max top count',
  '--sort': 'order order-by',
  '--fields': 'level',
  '--columns': 'select cols',
  '--output': 'file out',
  '--base-url': 'url host server',
  '--force': 'overwrite yes',
  '--open': 'browser web map',
  '--verbose': 'debug',
  '--quiet': 'silent',
  '--max-age 0': 'refresh no-cache',
  '--no-color': 'no-colour',
};

/** Options of other tools that correspond to an argument here, by the argument's name. */
const OTHER_ARGUMENTS: Synonyms = {
  file: 'input',
  name: 'query restaurant',
  id: 'restaurant-id service-id',
};

/** Returns our word for a word of another tool. */
const ownWord = (synonyms: Synonyms, word: string): string | undefined =>
  Object.keys(synonyms).find((own) => synonyms[own]?.split(' ').includes(word));

export const helpCommand = (command: CliCommand): string =>
  ['restaurant', command.path, '--help'].filter((part) => part !== '').join(' ');

/** Hint for a key on the command line, where other users can read it. */
const KEY_HINT =
  'no option takes a key, because other users could read it: restaurant login --key-stdin < key.txt';

/**
 * Returns the error for an option that a command does not have, with the likely correction.
 * @param unknown the option as typed, with its value after `=`, if any, and the word that follows
 * @param program the whole tree
 */
function unknownOptionError(
  { word, next }: NonNullable<Route['unknownOption']>,
  command: CliCommand,
  program: CliCommand,
): AppError {
  // The text after `=` may be a secret.
  const [flag = word, value = next] = word.split(/=(.*)/s);
  const name = flag.replace(/^-+/, '');
  const refuse = (hint: string) => new AppError('usage', `unknown option '${flag}'`, { hint });
  if (/^--?(api-?)?(key|token|secret)$/i.test(flag)) return refuse(KEY_HINT);
  const help = helpCommand(command);

  const argumentName = ownWord(OTHER_ARGUMENTS, name) ?? name;
  const argument = command.registeredArguments.find((each) => each.name() === argumentName);
  if (argument !== undefined) {
    const shown = value === undefined || value.startsWith('-') ? `<${name}>` : shellWord(value);
    return refuse(
      `${argument.name()} is an argument, not an option: restaurant ${command.path} ${shown}; see ${help}`,
    );
  }
  const options = [...command.options, ...optionsOf(command), HELP_OPTION];
  const longs = options.flatMap(({ long }) => long?.slice(2) ?? []);
  if (word.includes('=') && longs.includes(name)) {
    return new AppError('usage', `${flag} takes no value`, { hint: help });
  }
  const other = ownWord(OTHER_OPTIONS, name);
  if (other !== undefined && longs.includes(other.slice(2).split(' ')[0] ?? '')) {
    return refuse(`use ${other}; see ${help}`);
  }
  const [near] = flag.startsWith('--') ? nearest(name, longs, 1) : [];
  if (near !== undefined) return refuse(`did you mean --${near}? See ${help}`);
  const [, ...commands] = program.tree;
  const owner = commands.find((each) => findOption([each], flag) !== undefined);
  const where = owner && `it is an option of ${owner.path}: restaurant ${owner.path} … ${flag}; `;
  const columns = name === 'fields' && longs.includes('columns') ? `${COLUMNS_HINT}; ` : '';
  return refuse(`${columns}${where ?? ''}see ${help}`);
}

/** Returns the error for an unknown command, with the nearest command. */
export function unknownCommandError(word: string, parent: CliCommand): AppError {
  const within = parent.path === '' ? '' : `${parent.path} `;
  const names = parent.children.map((child) => child.name());
  const other = ownWord(OTHER_VERBS[parent.path] ?? {}, word.toLowerCase());
  const meant = other === undefined ? nearest(word, names) : [other];
  const commands = meant.map((name) => `restaurant ${within}${name}`).join(' or ');
  const hint =
    commands === ''
      ? `restaurant ${within}--help lists the commands`
      : `did you mean ${commands}? See restaurant --help`;
  return new AppError('usage', `unknown command '${within}${word}'`, { hint });
}

/** Pairs of options that conflict, unless --format has the given value. */
const CONFLICTS: readonly (readonly [one: string, other: string, format?: string])[] = [
  ['--base-url', '--endpoint'],
  ['--demo', '--base-url'],
  ['--demo', '--endpoint'],
  ['--dry-run', '--curl'],
  ['--verbose', '--quiet'],
  ['--open', '--json'],
  ['--open', '--dry-run'],
  ['--open', '--curl'],
  ['--json', '--format', 'json'],
  ['--open', '--format', 'html'],
  ['--resume', '--force'],
  ['--progress', '--quiet'],
  ['--key-stdin', '--key-file'],
];

/**
 * Returns the first usage error of a command line, with the likely correction. Values are not checked here.
 * @param loadTree returns the program with all commands
 */
export async function usageErrorIn(
  route: Route,
  loadTree: () => Promise<CliCommand>,
): Promise<AppError | undefined> {
  const { command, operands, open, unknownOption, help, given } = route;
  const [word] = operands;
  const unknownCommand = command.children.length > 0 ? word : undefined;
  if (unknownOption !== undefined && (unknownCommand !== undefined || !help)) {
    return unknownOptionError(unknownOption, command, await loadTree());
  }
  if (unknownCommand !== undefined) return unknownCommandError(unknownCommand, command);
  if (help || given.has('--version')) return undefined;
  const helpLine = helpCommand(command);
  const refuse = (message: string, hint = helpLine) => new AppError('usage', message, { hint });
  if (open !== undefined) return refuse(`${open.long} needs a value: ${open.flags}`);
  const { path, registeredArguments: expected, exampleLines } = command;
  const missing = expected.slice(operands.length).find(({ required }) => required);
  if (missing !== undefined) {
    return refuse(`${path} needs <${missing.name()}>`, `for example ${exampleLines[0]}; see ${helpLine}`);
  }
  const extra = expected.at(-1)?.variadic === true ? undefined : operands[expected.length];
  if (extra !== undefined) {
    const most = ['no arguments', 'one argument'][expected.length] ?? `${expected.length} arguments`;
    // An argument of login is most likely a key, so it is not printed.
    if (path === 'login') return refuse(`login takes ${most}`, KEY_HINT);
    return refuse(`${path} takes ${most}, got '${extra}' too`);
  }
  if (command.isGroup) return undefined;
  const foreign = foreignOption(route);
  if (foreign !== undefined) return refuse(`${path} does not accept ${foreign}`);
  const [one, other] = conflictIn(route) ?? [];
  if (one === undefined) return undefined;
  return refuse(`${one} and ${other} cannot be used together`, `leave one out; ${helpLine}`);
}

/** Returns the first global option that was given but that the command does not accept. */
function foreignOption({ path: [program], command, given }: Route): string | undefined {
  const taken = globalFlagsOf(command);
  return program?.options
    .flatMap(({ long }) => long ?? [])
    .find((long) => given.has(long) && !taken.includes(long));
}

function conflictIn({ parts, given }: Route): (typeof CONFLICTS)[number] | undefined {
  const format = parts.findLast(({ flags }) => flags.includes('--format'))?.value;
  return CONFLICTS.find(
    ([one, other, allowed]) =>
      given.has(one) && given.has(other) && (allowed === undefined || allowed !== format),
  );
}
