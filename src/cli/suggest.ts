import { AppError } from '../errors.ts';
import { nearest } from '../util/nearest.ts';
import type { CliCommand } from './command.ts';
import { helpCommand, keyOptionHint } from './usage.ts';

/** Verbs of other tools, and ours for the same act. */
const OTHER_VERBS: Readonly<Record<string, string>> = {
  search: 'find',
  query: 'find',
  list: 'find',
  ls: 'find',
  get: 'lookup',
  show: 'lookup',
  view: 'lookup',
  info: 'lookup',
  details: 'lookup',
  describe: 'lookup',
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
  settings: 'config',
  set: 'config set',
  server: 'sandbox',
  serve: 'sandbox',
  version: '--version',
};

const everyCommand = (command: CliCommand): CliCommand[] => [
  command,
  ...command.children.flatMap((child) => everyCommand(child)),
];

/** The error for an option that stands where no command knows it, with where it belongs. */
export function unknownOptionError(word: string, command: CliCommand, program: CliCommand): AppError {
  // What stands behind the `=` may be a secret.
  const flag = word.replace(/=.*/s, '');
  const has = (each: CliCommand): boolean =>
    each.options.some((option) => option.long === flag || option.short === flag);
  const owners = everyCommand(program).filter((each) => each !== program && has(each));
  const longs = program.options.map((option) => option.long ?? '');
  const [near] = nearest(flag, [...longs, '--help']);
  const [owner] = owners;
  const own = owner && `it is an option of ${owner.path}: restaurant ${owner.path} … ${flag}; see`;
  const help = helpCommand(command);
  const hint =
    keyOptionHint(flag) ?? `${own ?? (near === undefined ? 'see' : `did you mean ${near}? See`)} ${help}`;
  return new AppError('usage', `unknown option '${flag}'`, { hint });
}

/** The error for a word that names no command, with the command that was probably meant. */
export function unknownCommandError(word: string, parent: CliCommand): AppError {
  const within = parent.path === '' ? '' : `${parent.path} `;
  const names = parent.children.map((child) => child.name());
  const other = parent.path === '' && Object.hasOwn(OTHER_VERBS, word.toLowerCase());
  const near = other ? [OTHER_VERBS[word.toLowerCase()] ?? ''] : nearest(word, names);
  const known = near.filter((name) => name.startsWith('--') || names.includes(name.split(' ')[0] ?? ''));
  const meant = known.map((name) => `restaurant ${within}${name}`).join(' or ');
  const hint =
    meant === ''
      ? `restaurant ${within}--help lists the commands`
      : `did you mean ${meant}? See restaurant --help`;
  return new AppError('usage', `unknown command '${within}${word}'`, { hint });
}
