import type { CliCommand } from '../../cli/command.ts';
import type { Option } from '../../cli/option.ts';
import { findOption, readToken } from '../../cli/route.ts';

/** What a command line waits for at the cursor. */
export interface Place {
  readonly command: CliCommand;
  /** The option whose value is typed. */
  readonly option?: Option;
  /** What of the word stands fast: `--format=` where its value is typed. */
  readonly head: string;
  /** The word at the cursor up to there, behind the head. */
  readonly text: string;
  /** The words of the command that are no options. */
  readonly operands: readonly string[];
  /** Long names of the options before the cursor. */
  readonly given: ReadonlySet<string>;
  /** Behind `--` there are no options. */
  readonly ended: boolean;
}

/**
 * Finds what is typed.
 * @param words the words before the one at the cursor, without the program's name
 * @param current the word at the cursor, as far as it goes up to there
 */
export function placeOf(words: readonly string[], current: string, program: CliCommand): Place {
  const path: CliCommand[] = [program];
  const operands: string[] = [];
  const given = new Set<string>();
  let ended = false;
  let option: Option | undefined;
  for (const word of words) {
    const command = path.at(-1) ?? program;
    if (option !== undefined) option = undefined;
    else if (!ended && word === '--') ended = true;
    else if (!ended && word.startsWith('-') && word !== '-') {
      const token = readToken(word, path);
      for (const flag of token.flags) given.add(flag);
      if (token.takesNext) option = findOption(path, token.flags.at(-1) ?? '');
    } else {
      const child = operands.length > 0 ? undefined : command.children.find((each) => each.name() === word);
      if (child === undefined) operands.push(word);
      else path.push(child);
    }
  }
  const place = { command: path.at(-1) ?? program, operands, given, ended };
  if (option !== undefined) return { ...place, option, head: '', text: current };
  const joined = ended ? undefined : joinedValue(current, path);
  return { ...place, head: '', text: current, ...joined };
}

/** The value in `--flag=value` and `-ofile`. */
function joinedValue(
  word: string,
  path: readonly CliCommand[],
): Pick<Place, 'option' | 'head' | 'text'> | undefined {
  const [head] = /^--[^=]*=/.exec(word) ?? /^-[^-](?=.)/.exec(word) ?? [];
  if (head === undefined) return undefined;
  const option = findOption(path, head.replace('=', ''));
  return option?.required === true ? { option, head, text: word.slice(head.length) } : undefined;
}
