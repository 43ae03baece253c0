import type { CommanderError } from 'commander';
import { AppError } from '../errors.ts';
import type { CliCommand } from './command.ts';

/** commander's complaint about a command line as ours: exit 2, a pointer to help, the likely correction. */
export function usageError(error: CommanderError, command: CliCommand): AppError {
  const [first = '', ...rest] = error.message.split('\n');
  const message = first.replace(/^error: /, '').replace(/[.]$/, '');
  const meant = /\(Did you mean (?:one of )?(.+)\?\)/.exec(rest.join(' '))?.[1];
  const help = ['restaurant', command.path, '--help'].filter((part) => part !== '').join(' ');
  const hint = meant === undefined ? help : `did you mean ${meant}? See ${help}`;
  return new AppError('usage', message, {
    hint: error.code === 'commander.excessArguments' ? quoteHint(command, help) : hint,
    cause: error,
  });
}

function quoteHint(command: CliCommand, help: string): string {
  const takesWords = command.registeredArguments[0]?.name() === 'name';
  return takesWords ? `quote a name of several words: restaurant ${command.path} "Blue Bottle" …` : help;
}
