import type { App } from '../app/app.ts';
import { usage } from '../errors.ts';
import { again } from '../hint.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import { ANY_NAME, CITY_START, valueOption } from './synonyms.ts';

type Program = NonNullable<App['program']>;

const TEXT_OPTIONS = ['--city', '--cuisine', '--neighborhood'];
/** A list of columns or a jq filter, as in `--json name,grade`. */
const OPTION_VALUE = /^(?:\w+(?:,\w+)+|[.[{].*)$/s;

interface Leftover {
  readonly name: readonly string[];
  readonly rest: string;
  readonly before: string;
}

/** @param typed the whole command line */
function leftoverOf(words: readonly string[], typed: readonly string[]): Leftover | undefined {
  const indexOf = (part: readonly string[]): number =>
    typed.findIndex((_, start) => part.every((word, index) => typed[start + index] === word));
  let count = words.length;
  while (count > 1 && indexOf(words.slice(0, count)) === -1) count -= 1;
  const name = words.slice(0, count);
  const [first = '', ...others] = words.slice(count);
  const start = indexOf(name);
  if (count === words.length) {
    const [word = '', ...after] = words;
    const before = typed[start - 1] ?? '';
    const isCity = CITY_START.test(before.replace(/^(?:--city=|-c)/, ''));
    const isValue = isCity || (before.startsWith('-') && OPTION_VALUE.test(word));
    return isValue ? { name: after, rest: word, before } : undefined;
  }
  const at = typed.indexOf(first, start + count);
  const length = others.findIndex((word, index) => typed[at + index + 1] !== word);
  const rest = [first, ...others.slice(0, length === -1 ? others.length : length)].join(' ');
  return { name, rest, before: typed[at - 1] ?? '' };
}

/**
 * Checks that the words stand together. A word after an option is more likely its value, or a part of it.
 * @throws {AppError} `usage` with the command that was probably meant
 */
export function checkAdjacent(program: Program, words: readonly string[]): void {
  const typed = program.words.filter((word) => word !== '--');
  const leftover = leftoverOf(words, typed);
  if (leftover === undefined) return;
  const { name, rest, before } = leftover;
  const operands = [name.length === 0 ? ANY_NAME : name.join(' ')];
  const option = program.line.options.find(
    ({ value }) =>
      typeof value === 'string' &&
      value !== '' &&
      (before === value || (before.startsWith('-') && before.endsWith(value))),
  );
  if (option !== undefined) {
    const { flag, value } = option;
    if (before.startsWith('-') && `-${before}` === flag) {
      throw usage(`unexpected '${rest}' after -c${value}`, {
        command: again({ [flag]: rest }, { operands }),
      });
    }
    if (!TEXT_OPTIONS.includes(flag)) {
      const hint = { text: 'leave it out', command: again({}, { operands }) };
      throw usage(`unexpected '${rest}' after ${flag} '${value}'`, hint);
    }
    throw usage(`unexpected '${rest}' after ${flag} '${value}'`, {
      text: 'quote a value of several words',
      command: again({ [flag]: `${value} ${rest}` }, { operands }),
    });
  }
  const flag = program.longName(before.startsWith('--') ? before : `-${before.at(-1)}`);
  if (flag === '--open' && rest === 'now') {
    throw usage('--open takes no value', {
      text: 'details contain the opening hours',
      command: again({ '--fields': 'standard' }, { operands, without: [flag] }),
    });
  }
  const meant = valueOption(flag, rest);
  if (meant === undefined) {
    throw usage(`unexpected '${rest}' after ${flag}`, {
      text: 'keep the name together',
      command: again({}, { operands: [words.join(' ')] }),
    });
  }
  throw usage(`${flag} takes no value, got '${rest}'`, {
    text: meant === '--jq' ? 'to filter with jq' : 'to choose columns',
    command: again({ [meant]: rest }, { operands, without: ['--quiet'] }),
  });
}

/** As {@link OPTION_VALUE}, but not several row numbers. */
const COLUMNS_OR_FILTER = /^(?:[a-z_]+(?:,[a-z_]+)+|[.[{].*)$/is;

/** @throws {AppError} `usage` for a word that is meant as the value of the option before it */
export function checkValues({ program }: App, words: readonly string[]): void {
  for (const word of words) {
    const before = program?.words[program.words.indexOf(word) - 1] ?? '';
    const isValue = COLUMNS_OR_FILTER.test(word) || SUMMARY_COLUMNS.includes(word);
    const flag = program?.longName(before) ?? '';
    const meant = isValue ? valueOption(flag, word) : undefined;
    if (meant === undefined) continue;
    const operands = words.filter((each) => each !== word);
    throw usage(`${flag} takes no value, got '${word}'`, {
      command: again({ [meant]: word }, { operands, without: ['--quiet'] }),
    });
  }
}
