import type { CommanderError } from 'commander';
import { AppError } from '../errors.ts';
import type { CliCommand } from './command.ts';

/** The command that shows the help of a command. */
export const helpCommand = (command: CliCommand): string =>
  ['restaurant', command.path, '--help'].filter((part) => part !== '').join(' ');

/** commander's complaint about a command line as ours: exit 2, a pointer to help, the likely correction. */
export function usageError(error: CommanderError, command: CliCommand): AppError {
  const [first = '', ...rest] = error.message.split('\n');
  const said = first.replace(/^error: /, '').replace(/[.]$/, '');
  const meant = /\(Did you mean (?:one of )?(.+)\?\)/.exec(rest.join(' '))?.[1];
  const help = helpCommand(command);
  const refuse = (message: string, hint: string) => new AppError('usage', message, { hint, cause: error });
  const quoted = /'(.+)'/.exec(said)?.[1] ?? '';
  switch (error.code) {
    case 'commander.missingArgument':
      return refuse(`${command.path} needs <${quoted}>`, exampleHint(command, help));
    case 'commander.optionMissingArgument':
      return refuse(`${quoted.replace(/^-\w, /, '').replace(/ .*/, '')} needs a value: ${quoted}`, help);
    case 'commander.excessArguments':
      return refuse(tooMany(said, command), quoteHint(command, help));
    case 'commander.unknownOption': {
      // What stands behind the `=` may be a secret.
      const flag = quoted.replace(/=.*/s, '');
      const hint = meant === undefined ? help : `did you mean ${meant}? See ${help}`;
      return refuse(`unknown option '${flag}'`, keyOptionHint(flag) ?? hint);
    }
    default:
      return refuse(said, help);
  }
}

/** What to tell somebody who gives a key on the command line, where others can read it. */
export function keyOptionHint(flag: string): string | undefined {
  if (!/^--?(api-?)?(key|token|secret)$/i.test(flag)) return undefined;
  return 'no option takes a key, since others could read it: restaurant login --key-stdin < key.txt';
}

function exampleHint(command: CliCommand, help: string): string {
  const [example] = command.exampleLines;
  return example === undefined ? help : `for example ${example}; see ${help}`;
}

function tooMany(said: string, { path }: CliCommand): string {
  const [expected = '', got = ''] = said.match(/\d+/g)?.slice(-2) ?? [];
  const most =
    expected === '0' ? 'no arguments' : expected === '1' ? 'one argument' : `${expected} arguments`;
  return `${path} takes ${most}, and got ${got}`;
}

function quoteHint(command: CliCommand, help: string): string {
  // A word behind login is most likely the key.
  if (command.path === 'login') return keyOptionHint('--key') ?? help;
  const takesWords = command.registeredArguments[0]?.name() === 'name' && command.path === 'find';
  return takesWords
    ? `quote a name of several words, and name the city: restaurant ${command.path} "Blue Bottle" --city Oakland`
    : help;
}
