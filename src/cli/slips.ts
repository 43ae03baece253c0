import { existsSync } from 'node:fs';
import { CommanderError } from 'commander';
import type { App } from '../app/app.ts';
import { cityForHint, namesIn } from '../app/city.ts';
import { fullPath, otherName } from '../app/output-file.ts';
import { attempt } from '../errors.ts';
import { FORMATS } from '../output/formats.ts';
import { SETTING_NAMES } from '../settings/catalog.ts';
import { nearest, nearestOnes } from '../util/nearest.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import { beforeEnd, fixDash, isOptionLike, splitOption, strayWords, valueTaker } from './check.ts';
import { type CliCommand, type CliOption, LineError } from './command.ts';
import { accepts, longsOf } from './options.ts';
import { CLIENTS, OPTIONS, ourWords, SUGGESTIONS, theirWords, VERBS, type WordTable } from './words.ts';

/** A command line as it was parsed, without running it. */
export interface TriedLine {
  readonly words: readonly string[];
  readonly app: App;
  readonly program: CliCommand;
  /** Undefined if it can run. */
  readonly error: unknown;
}

/** A line that was probably meant. */
interface Reading {
  readonly words: readonly string[];
  /** The words that were typed, and those that they mean. */
  readonly note?: string;
  /** How it is offered; undefined if the typed words have exactly one meaning here, so that it runs. */
  readonly offer?: string | undefined;
}

/** Returns what a word that is wrong may mean, the likeliest first. */
type Rule = (word: string, line: TriedLine) => readonly (Reading | undefined)[];

const MEANT = 'did you mean';
const WITHOUT = 'without it';
const EXAMPLE = 'for example';

/** No option takes a key, because other users can read the command line. */
export const isKeyOption = (word: string): boolean =>
  /^--?(?:(?:api|access|auth)[-_]?)?(?:key|token|secret|password)$/i.test(splitOption(word).flag);

const simple = (word: string): string => word.toLowerCase().replaceAll('_', '-');

const when = (applies: unknown, reading: Reading | undefined): Reading | undefined =>
  applies ? reading : undefined;

/** Replaces words before `--`. */
function replace(
  { words }: TriedLine,
  theirs: readonly string[],
  ours: readonly string[],
  offer?: string,
): Reading | undefined {
  const line = beforeEnd(words);
  const at = line.findIndex((_, start) => theirs.every((word, index) => line[start + index] === word));
  const note = `${theirs.join(' ')}: ${ours.join(' ')}`;
  return at === -1 ? undefined : { words: words.toSpliced(at, theirs.length, ...ours), note, offer };
}

/** Replaces an option of a line that was parsed to its end. @param text its value; default: any */
function replaceOption(
  { program: { innermost, typed } }: TriedLine,
  long: string,
  text: string | undefined,
  ours: readonly string[],
  offer?: string,
): Reading {
  const options = [...typed, ...innermost.typed].flatMap(({ option, text: value }) => {
    const isIt = option.long === long && (text === undefined || text === value);
    return isIt ? ours : [value === undefined ? option.long : `${option.long}=${value}`];
  });
  const words = [...innermost.path.split(' '), ...options, '--', ...innermost.args];
  return { words, note: `${[long, text ?? []].flat().join(' ')}: ${ours.join(' ')}`, offer };
}

/** Returns our words for the name of a command. */
export function verbFor(word: string, { children, path }: CliCommand): string | undefined {
  const own = children.find((child) => child.name() === simple(word))?.name();
  return own ?? ourWords(VERBS, path, simple(word))[0];
}

/** A list, by the ending of its name, or from stdin. */
const LIST = /^-$|\.(?:csv|tsv|txt|xlsx|ndjson|jsonl|geojson|parquet)$/i;

/** The words after the first one, up to an option. */
const operandsOf = (words: readonly string[]): readonly string[] => {
  const end = words.findIndex((word, index) => index > 0 && isOptionLike(word) && word !== '-');
  return words.slice(1, end === -1 ? undefined : end);
};

/** `compare Nopa Zuni`, `compare Nopa 'State Bird'` */
function comparison(operands: readonly string[], line: TriedLine): Reading | undefined {
  const areNames = operands.every((each) => /^\p{L}/u.test(each)) && namesIn(operands).length === 1;
  const isApart = operands.length === 2 || operands.some((each) => each.includes(' '));
  const names = operands.flatMap((each, index) => (index === 0 ? [each] : ['vs', each]));
  return when(areNames && isApart, replace(line, ['compare', ...operands], ['lookup', ...names]));
}

/** `update list.xlsx`, `connect codex` */
function impliedByOperands(word: string, operands: readonly string[], line: TriedLine) {
  const [operand = '', ...others] = operands;
  const client = CLIENTS.find((each) => others.length === 0 && `${each}-`.startsWith(`${simple(operand)}-`));
  return [
    when(
      operands.some((each) => LIST.test(each)),
      replace(line, [word], ['enrich'], MEANT),
    ),
    when(client, replace(line, [word, operand], ['mcp', 'config', client ?? ''], MEANT)),
    when(client, { words: ['find', ...line.words], offer: MEANT }),
  ];
}

/** `search nopa`, `auth login`, `2`, `config city=SF`, `restaurant find nopa`, `serach nopa`, `nopa` */
const unknownCommand: Rule = (word, line) => {
  const { words, program } = line;
  const { innermost: parent } = program;
  const isFirst = parent === program;
  const [, next = ''] = parent.args;
  const pairs = ourWords(VERBS, parent.path, simple(`${word}-${next}`));
  const ours = pairs[0] ?? verbFor(word, parent) ?? impliedVerb(word, next, parent);
  const theirs = pairs.length > 0 ? [word, next] : [word];
  const operands = operandsOf(parent.args);
  return [
    // A whole line was pasted after the name of the program.
    when(isFirst && word === program.name() && next !== '', replace(line, [word], [])),
    // Help and the version take no arguments.
    when(ours?.startsWith('-'), { words: [ours ?? ''], note: `${word}: ${ours}` }),
    when(simple(word) === 'compare', comparison(operands, line)),
    when(ours !== undefined, replace(line, theirs, (ours ?? '').split(' ').filter(Boolean))),
    ...nearCommands(word, line).map((near) => replace(line, [word], [near], MEANT)),
    ...(isFirst ? impliedByOperands(word, operands, line) : []),
    when(isFirst, { words: ['find', ...words], offer: 'to search for it' }),
  ];
};

/** `1`, `#2`; `config city SF`, `config city=SF`, `config city` */
function impliedVerb(word: string, next: string, { path }: CliCommand): string | undefined {
  if (path === '' && /^#?\d{1,2}$/.test(word)) return `lookup ${word}`;
  const [name = '', ...value] = word.split('=');
  if (path !== 'config' || !SETTING_NAMES.some((each) => each === name)) return undefined;
  return value.length === 0 && next === '' ? `get ${word}` : `set ${word}`;
}

/** Returns the nearest names of commands, ours or those of other tools, one for each command. */
function nearCommands(word: string, { program: { innermost } }: TriedLine): string[] {
  // A slip is rarely in the first letter or in the length of a word that this program does not even have.
  const theirs = [...theirWords(VERBS, innermost.path)].filter(
    ([their]) => their[0] === word[0]?.toLowerCase() && Math.abs(their.length - word.length) <= 1,
  );
  const ours = new Map([
    ...theirs,
    ...innermost.children.map((child) => [child.name(), child.name()] as const),
  ]);
  const near = nearestOnes(word, [...ours.keys()]);
  return near.filter((each, index) => near.findIndex((one) => ours.get(one) === ours.get(each)) === index);
}

/** Returns our words for the nearest of some words, each once. */
function nearWords(word: string, pairs: readonly (readonly [theirs: string, ours: string])[]): string[] {
  const ours = new Map(pairs);
  return [...new Set(nearestOnes(word, [...ours.keys()]).map((near) => ours.get(near) ?? near))];
}

/** `--city SF find nopa` */
const optionFirst: Rule = (_word, { words, program }) => {
  const verb = beforeEnd(words).find((word) => verbFor(word, program) !== undefined);
  return [
    verb === undefined
      ? { words: ['find', ...words], offer: MEANT }
      : { words: [verb, ...words.toSpliced(words.indexOf(verb), 1)], note: `${verb} first` },
  ];
};

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
const otherOption: Rule = (word, line) => {
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
const nearOption: Rule = (word, line) => {
  const { command, flag, value, name, text, both, ours } = optionTyped(word, line);
  const format = FORMATS.find((each) => each === text) ?? '';
  const suggested = ours(SUGGESTIONS, name);
  const [near] = suggested.length > 0 ? suggested : nearOptions(name, text, command);
  const meant = valueTaker(flag, value ?? '');
  const apart = meant === undefined ? [flag] : [flag, meant, value ?? ''];
  return [
    when(value !== undefined && accepts(command, flag), replace(line, [word], apart, WITHOUT)),
    when(format !== '' && accepts(command, '--format'), replace(line, both, ['--format', format], MEANT)),
    when(near, replace(line, [word], inPlace(near ?? '', value), MEANT)),
    // The argument after it is its value if another one is before it.
    when(
      near === '' || command.isReading,
      replace(line, command.args.indexOf(word) > 0 ? both : [word], [], WITHOUT),
    ),
    { words: [...command.path.split(' '), '--help'], offer: '' },
  ];
};

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
  const isCity = ['c', 'city', ...ourWords(OPTIONS, 'find', name)].some((each) =>
    [name, '--city'].includes(each),
  );
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
        when(path === 'find' && LIST.test(text), replace(asList, typed, [text], MEANT)),
        when(isChanges, { words: ['changes', output, '-o', text], offer: MEANT }),
      ];
}

/** A misspelled option. A word of one or two letters is near to too many others. */
function nearOptions(name: string, text: string | undefined, command: CliCommand): string[] {
  const longs = longsOf(command).map((long) => [long.slice(2), long] as const);
  const all = [...theirWords(OPTIONS, command.path), ...longs].filter(([theirs]) => theirs.length > 2);
  const near = name.length > 2 ? nearWords(name, all) : [];
  return near.filter((each) => fitsOption(each, command) && fitsValue(each, text, command));
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
const dash: Rule = (word, line) => {
  const ours = fixDash(word, line.program);
  return [ours === undefined ? undefined : replace(line, [word], [ours])];
};

/** `find Nopa --city` */
const missingValue: Rule = (long, line) => {
  const { innermost } = line.program;
  const option = innermost.findOption(long);
  const city = long === '--city' ? cityForHint(line.app) : undefined;
  const value = typeof city === 'string' ? city : (choicesOf(innermost, option)[0] ?? option?.example);
  return value === undefined
    ? []
    : [long, option?.short ?? long].map((flag) => replace(line, [flag], [flag, value], EXAMPLE));
};

/** `--fields name,phone`, `--sort gade`, `--limit ten` */
const invalidValue: Rule = (text, line) => {
  const { innermost } = line.program;
  const { option, argument = '' } = line.error as LineError;
  const choices = choicesOf(innermost, option, argument);
  const near = nearestChoice(text, choices);
  if (option === undefined) return [when(near, replace(line, [text], [near ?? ''], MEANT))];
  const { long } = option;
  const hasCity = innermost.typed.some((each) => each.option.long === '--city');
  const isCity = long === '--near' && !hasCity && /\p{L}/u.test(text);
  const isColumns = long === '--fields' && text.split(',').some((each) => SUMMARY_COLUMNS.includes(each));
  const value = near ?? choices[0] ?? option.example ?? '';
  return [
    when(isCity, replaceOption(line, long, text, ['--city', text], MEANT)),
    when(
      isColumns && accepts(innermost, '--columns'),
      replaceOption(line, long, text, ['--columns', text], MEANT),
    ),
    when(value, replaceOption(line, long, text, [long, value], near === undefined ? EXAMPLE : MEANT)),
  ];
};

function choicesOf(command: CliCommand, option?: CliOption, argument = ''): readonly string[] {
  const offered = command.completers.get(option?.long ?? argument);
  return option?.argChoices ?? (Array.isArray(offered) ? offered : []);
}

/** `hnag:0.2` is `hang:0.2`. */
function nearestChoice(text: string, choices: readonly string[]): string | undefined {
  const [kind = '', ...rest] = text.split(':');
  const [near] = nearest(kind, choices, 1);
  return near && [near, ...rest].join(':');
}

/** `config set city=SF`, `find --cuisine italian`, `enrich in.csv out.csv` */
const wrongArguments: Rule = (word, line) => {
  const { path, args, typed } = line.program.innermost;
  const cuisine = typed.find(({ option }) => option.long === '--cuisine')?.text;
  if (path === 'find' && cuisine !== undefined) {
    const { words } = replaceOption(line, '--cuisine', undefined, []);
    return [{ words: [...words, cuisine], offer: 'by name' }];
  }
  const [, name, value] = /^([\w-]+)=(.+)$/s.exec(word) ?? [];
  if (path === 'config set' && name !== undefined && value !== undefined)
    return [replace(line, args, [name, value])];
  const [, file = ''] = args;
  const isFile =
    path === 'enrich' && args.length === 2 && typed.every(({ option }) => option.long !== '--output');
  const isNew = isFile && !existsSync(fullPath(line.app.context, file));
  return [
    when(isNew, replace(line, [file], ['-o', file])),
    when(isFile, replace(line, [file], ['-o', otherName(file)], `${file} exists; write another file`)),
  ];
};

const TEXT_OPTIONS = ['--city', '--cuisine', '--neighborhood'];

/** `--json name,grade`, `--city San Francisco`, `nopa --limit 5 corner` */
const wordsApart: Rule = (word, { words, program }) => {
  const { at = 0, group = [], flag = '', value, end = 0 } = strayWords(program) ?? {};
  const meant = valueTaker(flag, word);
  const before = words[at - 1] ?? '';
  const isReplaced = flag === '--quiet' && [flag, '-q'].includes(before);
  const rest = words.toSpliced(at, group.length);
  if (meant !== undefined)
    return [
      {
        words: words.toSpliced(isReplaced ? at - 1 : at, isReplaced ? 1 : 0, meant),
        offer: meant === '--jq' ? 'to filter with jq' : 'to choose columns',
      },
    ];
  return TEXT_OPTIONS.includes(flag) && value !== undefined
    ? [{ words: rest.with(at - 1, [before, ...group].join(' ')), offer: 'quote a value of several words' }]
    : [{ words: rest.toSpliced(end, 0, ...group), offer: 'keep the name together' }];
};

/** `-o json` */
const formatAsFile: Rule = (format, line) => [
  replaceOption(line, '--output', format, format === 'json' ? ['--json'] : ['--format', format]),
];

/** `--demo --base-url x` */
const conflict: Rule = (long, line) => [replaceOption(line, long, undefined, [], 'leave one out')];

/** The rules by what is wrong with a line. */
const RULES: Readonly<Record<string, Rule>> = {
  'commander.unknownCommand': unknownCommand,
  'commander.unknownOption': (word, line) => [...otherOption(word, line), ...nearOption(word, line)],
  'commander.optionMissingArgument': missingValue,
  'commander.missingArgument': wrongArguments,
  'commander.excessArguments': wrongArguments,
  'option first': optionFirst,
  dash,
  stray: wordsApart,
  bareFormat: formatAsFile,
  value: invalidValue,
  conflict,
};

/** Returns what is wrong with a line: the code of commander, or of our own. */
export function wrongWith({ error, program: { innermost, root } }: TriedLine): string {
  const { args, children } = innermost;
  if (error instanceof LineError) return error.wrong;
  const { code } = error instanceof CommanderError ? error : { code: 'nothing' };
  const isOption = code === 'commander.unknownOption';
  if (isOption && innermost === root) return 'option first';
  const isVerb = code === 'commander.excessArguments' || (isOption && !isOptionLike(args[0] ?? ''));
  return isVerb && children.length > 0 ? 'commander.unknownCommand' : code;
}

/** Returns the words that are wrong. */
function wrongWords(line: TriedLine): readonly string[] {
  const {
    error,
    program: { innermost },
  } = line;
  if (error instanceof LineError) return [error.word];
  const { code, message } = error instanceof CommanderError ? error : { code: '', message: '' };
  if (code === 'commander.unknownOption' && wrongWith(line) !== 'commander.unknownCommand')
    return innermost.args.filter((word) => isOptionLike(word) && !isKeyOption(word));
  const [, long] = code === 'commander.optionMissingArgument' ? (/(--[\w-]+)/.exec(message) ?? []) : [];
  return [long ?? innermost.args[0] ?? ''];
}

/** Returns what a line may mean, the likeliest first. */
const readingsOf = (line: TriedLine): readonly Reading[] =>
  wrongWords(line)
    .flatMap((word) => RULES[wrongWith(line)]?.(word, line) ?? [])
    .filter((reading) => reading !== undefined);

export type Try = (words: readonly string[]) => Promise<TriedLine>;

const MAX_STEPS = 20;

/**
 * Rewrites a line until it can run, or nothing applies.
 * @param mayGuess whether to change words that could have another meaning, too
 */
export async function rewritten(
  typed: TriedLine,
  tryLine: Try,
  mayGuess: boolean,
): Promise<{ readonly line: TriedLine; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  let line = typed;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const readings = readingsOf(line);
    const meant = readings.find(({ offer }) => offer === undefined) ?? (mayGuess ? readings[0] : undefined);
    if (meant === undefined) break;
    notes.push(meant.note ?? '');
    line = await tryLine(meant.words);
  }
  return { line, notes };
}

/** A line that can run, and how it is offered. */
interface Offer {
  readonly line: TriedLine;
  readonly text: string;
}

const MAX_OFFERS = 3;

/** Returns the lines that were probably meant: the first that can run, and those that are as likely. */
export async function linesMeant(typed: TriedLine, tryLine: Try): Promise<Offer[]> {
  const offers: Offer[] = [];
  for (const { words, offer: text = '' } of readingsOf(typed)) {
    const isAlternative = offers.length < MAX_OFFERS && text === MEANT && offers[0]?.text === MEANT;
    if (offers.length > 0 && !isAlternative) continue;
    const { line } = await rewritten(await tryLine(words), tryLine, true);
    if (line.error === undefined) offers.push({ line, text });
  }
  return offers;
}
