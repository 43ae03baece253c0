import { namesIn } from '../../app/city.ts';
import { LIST_NAME } from '../../app/input.ts';
import { attempt } from '../../errors.ts';
import { FORMATS } from '../../output/formats.ts';
import { editDistance, nearestOnes } from '../../util/nearest.ts';
import { fixDash, isOptionLike, splitOption, valueTaker } from '../check.ts';
import type { CliCommand } from '../command.ts';
import { accepts, longsOf } from '../options.ts';
import { nearWords, OPTIONS, ourWords, SUGGESTIONS, type WordTable } from '../words.ts';
import {
  MEANT,
  type Reading,
  replace,
  replaceOption,
  type SlipRule,
  type SlipRules,
  simple,
  type TriedLine,
  WITHOUT,
  when,
} from './reading.ts';
import { operandsOf } from './verbs.ts';

/** An unknown option as it was typed. */
function optionTyped(word: string, line: TriedLine) {
  const { innermost: command } = line.program;
  const { flag, value } = splitOption(word);
  const text = value ?? valueAfter(line, word);
  return {
    command,
    flag,
    value,
    name: simple(flag.replace(/^-+/, '')),
    /** Its value, or the argument after it, which may be its value. */
    text,
    both: value === undefined && text !== undefined ? [word, text] : [word],
    ours: (table: WordTable, theirs: string) =>
      ourWords(table, command.path, theirs).filter((each) => fitsOption(each, command)),
  };
}

/** An option in another spelling or in the words of another tool, or the argument of a tool. */
const otherOption: SlipRule = (word, line) => {
  const { command, flag, value, name, text = '', both, ours } = optionTyped(word, line);
  const isSpelling = flag.startsWith('--') && flag !== `--${name}` && accepts(command, `--${name}`);
  const isArgument =
    command.path === 'call' && /^--[A-Za-z]\w*$/.test(flag) && !/^(?:[\w.]+:?=|$)/.test(text);
  return [
    ...otherCommand(name, text, both, line),
    ...dash(word, line),
    ...ours(OPTIONS, `${name}=${text}`).map((each) => replace(line, both, each.split(' '))),
    when(isSpelling, replace(line, [word], inPlace(`--${name}`, value))),
    ...ours(OPTIONS, name).map((each) => replace(line, [word], inPlace(each, value))),
    when(isArgument, replace(line, both, [`${flag.slice(2)}=${text}`])),
  ];
};

/** An option with a value that it does not take, for a format, or misspelled; else it is left out. */
const nearOption: SlipRule = (word, line) => {
  const { command, flag, value, name, text, both, ours } = optionTyped(word, line);
  const format = FORMATS.find((each) => each === text) ?? '';
  const suggested = ours(SUGGESTIONS, name);
  const fitting = suggested.filter((each) => fitsValue(each, text ?? '', command));
  const [near] = suggested.length > 0 ? [...fitting, ...suggested] : nearOptions(name, text, command);
  const meant = valueTaker(flag, value ?? '');
  const apart = meant === undefined ? [flag] : [flag, meant, value ?? ''];
  // The argument after it is its value, unless it may be the one that the command requires.
  const isMissing = command.args.indexOf(word) === 0 && command.registeredArguments[0]?.required;
  const withValue = isMissing ? [word] : both;
  return [
    when(value !== undefined && accepts(command, flag), replace(line, [word], apart, WITHOUT)),
    when(format !== '' && accepts(command, '--format'), replace(line, both, ['--format', format], MEANT)),
    when(
      near,
      replace(line, isInPlace(near, name, command) ? [word] : withValue, inPlace(near ?? '', value), MEANT),
    ),
    when(near === '' || command.isReading, replace(line, isOfFind(name) ? both : withValue, [], WITHOUT)),
    { words: [...command.path.split(' '), '--help'], offer: '' },
  ];
};

/** Whether our option takes the value of theirs, or is a flag that was misspelled. */
const isInPlace = (ours: string | undefined, name: string, command: CliCommand): boolean =>
  ours !== undefined &&
  (command.findOption(ours)?.required === true || nearestOnes(name, [ours.slice(2)]).length > 0);

/** Whether it is an option of find, which all take values, or in the words of another tool. */
const isOfFind = (name: string): boolean =>
  `--${name}` in (OPTIONS.find ?? {}) || ourWords(OPTIONS, 'find', name)[0]?.startsWith('--') === true;

/** The argument after an option, which may be its value. */
function valueAfter({ words }: TriedLine, option: string): string | undefined {
  const next = words[words.indexOf(option) + 1];
  return option.includes('=') || next === undefined || isOptionLike(next) ? undefined : next;
}

/** `lookup nopa --city SF`, `find --file list.csv`, `enrich list.csv -o out.csv --changes changes.csv` */
function otherCommand(
  name: string,
  text: string,
  typed: readonly string[],
  line: TriedLine,
): readonly (Reading | undefined)[] {
  const {
    innermost: { path, args },
  } = line.program;
  const operands = operandsOf(['', ...args]);
  const names = path === 'lookup' ? namesIn(operands) : [];
  const asList = { ...line, words: line.words.map((word) => (word === 'find' ? 'enrich' : word)) };
  const isCity = ['c', 'city'].includes(name) || ourWords(OPTIONS, 'find', name).includes('--city');
  const output = [line.program.opts().output ?? []].flat()[0] ?? '';
  const isChanges = path === 'enrich' && name === 'changes' && output !== '';
  return text === ''
    ? []
    : [
        ...names.map((each) =>
          when(
            isCity,
            names.length === 1
              ? replace(line, ['lookup'], ['find'])
              : replace(line, ['lookup', ...operands], ['find', ...each], MEANT),
          ),
        ),
        when(
          path === 'find' && (text === '-' || LIST_NAME.test(text)),
          replace(asList, typed, [text], MEANT),
        ),
        when(isChanges, { words: ['changes', output, '-o', text], offer: MEANT }),
      ];
}

/**
 * A misspelled option. A word of one or two letters is near to too many others. With one slip, it is misspelled even if its
 * value is invalid, too.
 */
function nearOptions(name: string, text: string | undefined, command: CliCommand): string[] {
  if (name.length <= 2) return [];
  const longs = longsOf(command).map((long) => [long.slice(2), long] as const);
  const isSlip = (ours: string): boolean => editDistance(`--${name}`, ours) === 1;
  const isLikely = (theirs: string): boolean => theirs.length > 2;
  return nearWords(name, longs, { table: OPTIONS, path: command.path, isLikely })
    .map(([, ours]) => ours)
    .filter((ours) => fitsOption(ours, command) && (isSlip(ours) || fitsValue(ours, text, command)));
}

/** `<>` is the argument of the command, unless another argument is before it. */
function fitsOption(ours: string, command: CliCommand): boolean {
  const { args, registeredArguments } = command;
  if (ours === '<>') return registeredArguments[0]?.variadic === true || isOptionLike(args[0] ?? '');
  return ours === '' || accepts(command, ours.split(' ')[0] ?? '');
}

/** Whether an option takes a value, or nearly: `--older 7d` is not `--sort`, and `--country Italy` is not `--count`. */
function fitsValue(ours: string, value: string | undefined, command: CliCommand): boolean {
  const option = command.findOption(ours);
  if (option === undefined || value === undefined) return true;
  const { argChoices: choices, required } = option;
  if (choices !== undefined) return nearestOnes(value, choices).length > 0;
  return !required || attempt(() => [option.parse(value)]) !== undefined;
}

function inPlace(ours: string, value: string | undefined): string[] {
  if (ours === '<>') return value === undefined ? [] : [value];
  return ours.includes(' ') || value === undefined ? ours.split(' ') : [`${ours}=${value}`];
}

/** `-city SF`, `—city SF` */
const dash: SlipRule = (word, line) => {
  const ours = fixDash(word, line.program);
  return [ours === undefined ? undefined : replace(line, [word], [ours])];
};

/** `--demo --base-url x` */
const conflict: SlipRule = (long, line) => [replaceOption(line, long, undefined, [], 'leave one out')];

export const OPTION_RULES: SlipRules = {
  'commander.unknownOption': (word, line) => [...otherOption(word, line), ...nearOption(word, line)],
  dash,
  conflict,
};
