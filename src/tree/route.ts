import type { CliCommand } from './command.ts';

/** What a command line asks for, as far as can be told without judging its options. */
export interface Route {
  /** The deepest command that the words name. */
  readonly command: CliCommand;
  /** A word that stands where a command should, but names none. */
  readonly stray?: string;
  readonly help: boolean;
  /** Asked for JSON, also where the rest of the line is wrong. */
  readonly json: boolean;
}

/** Whether the token is an option that takes the next token as its value. */
function takesNext(token: string, commands: readonly CliCommand[]): boolean {
  const flag = token.startsWith('--') ? token : token.slice(0, 2);
  if (token.includes('=') || (flag !== token && !token.startsWith('--'))) return false;
  const option = commands
    .flatMap((command) => command.options)
    .find((each) => each.long === flag || each.short === flag);
  return option?.required === true;
}

/**
 * Follows the words of a command line down the command tree. Options are stepped over with their values, so that
 * `-h` is found before anything is refused and an unknown word is known as such.
 */
export function routeOf(argv: readonly string[], program: CliCommand): Route {
  const path: CliCommand[] = [program];
  const flags: string[] = [];
  let stray: string | undefined;
  let json = false;
  for (let at = 0; at < argv.length; at += 1) {
    const token = argv[at] ?? '';
    if (token === '--') break;
    const command = path.at(-1) ?? program;
    if (token.startsWith('-') && token !== '-') {
      flags.push(token);
      if (token === '--format' && argv[at + 1] === 'json') json = true;
      if (takesNext(token, path)) at += 1;
    } else if (command.children.length > 0 && stray === undefined) {
      const child = command.children.find((each) => each.name() === token);
      if (child === undefined) stray = token;
      else path.push(child);
    }
  }
  const has = (...names: string[]) => flags.some((flag) => names.includes(flag));
  return {
    command: path.at(-1) ?? program,
    stray,
    help: has('-h', '--help'),
    json: json || has('--json', '-j', '--format=json', '-qj', '-jq'),
  };
}
