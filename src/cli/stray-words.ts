import type { App } from '../app/app.ts';
import { usage } from '../errors.ts';
import { again } from '../hint.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import { beforeEnd } from './options.ts';

type ParsedProgram = NonNullable<App['program']>;

const TEXT_OPTIONS = ['--city', '--cuisine', '--neighborhood'];
/** A list of columns or a jq filter, as in `--json name,grade`. */
const COLUMNS_OR_FILTER = /^(?:[a-z_]+(?:,[a-z_]+)+|[.[{].*)$/is;

/** Words that stand together, and the word before them. */
interface Group {
  readonly words: string[];
  readonly before: string;
}

/** Splits the arguments before `--` into groups. Those after it are arguments wherever they stand. */
function groupsOf(typed: readonly string[], words: readonly string[]): Group[] {
  const line = beforeEnd(typed);
  const after = Math.max(0, typed.length - line.length - 1);
  const groups: Group[] = [];
  let last = -1;
  for (const word of words.slice(0, words.length - after)) {
    const at = line.indexOf(word, last + 1);
    if (at === last + 1 && groups.length > 0) groups.at(-1)?.words.push(word);
    else groups.push({ words: [word], before: line[at - 1] ?? '' });
    last = at;
  }
  return groups;
}

/**
 * Checks that the words of a name stand together. A word after an option is more likely its value, or a part of it.
 * @throws {AppError} `usage` with the command that was probably meant
 */
export function checkAdjacent(program: ParsedProgram, words: readonly string[]): void {
  checkValues(program, words);
  const groups = groupsOf(program.words, words);
  const stray = groups.length > 1 ? groups.at(-1) : undefined;
  if (stray === undefined) return;
  const [rest, { before }] = [stray.words.join(' '), stray];
  const option = program.line.options.find(
    ({ value, flag }) =>
      typeof value === 'string' && [value, `${flag}=${value}`, `-c${value}`].includes(before),
  );
  const { flag = program.longName(before), value } = option ?? {};
  const message = `unexpected '${rest}' after ${value === undefined ? flag : `${flag} '${value}'`}`;
  const name = groups.slice(0, -1).flatMap((group) => group.words);
  throw TEXT_OPTIONS.includes(flag)
    ? usage(message, {
        text: 'quote a value of several words',
        command: again({ [flag]: `${value} ${rest}` }, { operands: [name.join(' ')] }),
      })
    : usage(message, { text: 'keep the name together', command: again({}, { operands: [words.join(' ')] }) });
}

/** @throws {AppError} `usage` for a word that is meant as the value of the flag before it */
export function checkValues(program: ParsedProgram, words: readonly string[]): void {
  for (const { words: group, before } of groupsOf(program.words, words)) {
    const [word = ''] = group;
    const isValue = COLUMNS_OR_FILTER.test(word) || SUMMARY_COLUMNS.includes(word);
    const flag = program.longName(before.startsWith('--') ? before : `-${before.at(-1)}`);
    const meant = isValue && before.startsWith('-') ? valueOption(flag, word) : undefined;
    if (meant === undefined) continue;
    const operands = words.toSpliced(words.indexOf(word), 1);
    const text = meant === '--jq' ? 'to filter with jq' : 'to choose columns';
    const command = again({ [meant]: word }, { operands, without: ['--quiet'] });
    // Without another word, the name is missing, too.
    throw usage(
      `${flag} takes no value, got '${word}'`,
      operands.length === 0 ? undefined : { text, command },
    );
  }
}

/** The option that takes the value which people type after one that takes none. */
export function valueOption(flag: string, value: string): '--columns' | '--jq' | undefined {
  if (flag === '--quiet' || (flag === '--json' && /^[.[{]/.test(value))) return '--jq';
  return flag === '--json' ? '--columns' : undefined;
}
