import { existsSync } from 'node:fs';
import { CommanderError } from 'commander';
import type { App } from '../app/app.ts';
import { cityForHint } from '../app/city.ts';
import { lastRestaurants } from '../app/last-results.ts';
import { fullPath } from '../app/output-file.ts';
import { SETTING_NAMES } from '../settings/catalog.ts';
import { isBeginning } from '../util/fold.ts';
import { nearestOnes } from '../util/nearest.ts';
import type { CliCommand, CliOption, InvalidValue } from './command.ts';
import { accepts, BARE_FORMAT, bareFormat, beforeEnd, longsOf, misdashed } from './options.ts';
import { valueOption } from './stray-words.ts';
import { OPTIONS, ourWords, SUGGESTIONS, theirWords, VERBS } from './words.ts';

/** A command line as it was parsed, without running it. */
export interface Trial {
  readonly words: readonly string[];
  readonly app: App;
  readonly program: CliCommand;
  /** Undefined if it can run. */
  readonly error: unknown;
}

/** A line with one slip less. */
export interface Fix {
  readonly words: readonly string[];
  /** The word that was typed, and the one that it means. */
  readonly note: string;
  /** Whether the typed words have exactly one meaning here, so that the line runs. */
  readonly isExact: boolean;
  /** How the line is offered if it does not run. */
  readonly offer: string;
  /** The command or option that is in place of a similar word. */
  readonly guess?: string | undefined;
}

/** Returns the ways to correct the first slip, the likeliest first. If one is exact, it is the only one. */
export function fixesFor(trial: Trial): Fix[] {
  const { program, error } = trial;
  const { invalid } = program;
  if (invalid !== undefined && error === invalid.error) return valueFixes(trial, invalid);
  if (!(error instanceof CommanderError)) return [];
  if (isUnknownCommand(trial)) return verbFixes(trial);
  return FIXES[error.code]?.(trial, error) ?? [];
}

const EXCESS = 'commander.excessArguments';

const FIXES: Readonly<Record<string, (trial: Trial, error: CommanderError) => Fix[]>> = {
  'commander.unknownOption': (trial) =>
    trial.program.innermost === trial.program ? verbFirst(trial) : optionFixes(trial),
  [EXCESS]: excessFixes,
  'commander.optionMissingArgument': missingFixes,
  'commander.missingArgument': filterAsName,
  [BARE_FORMAT]: formatFixes,
};

export const isUnknownCommand = ({ error, program: { innermost } }: Omit<Trial, 'words' | 'app'>): boolean =>
  error instanceof CommanderError &&
  (error.code === 'commander.unknownCommand' || (error.code === EXCESS && innermost.children.length > 0));

/** Replaces words of the line, those before `--` only. Returns nothing if they are not in it. */
function replace(
  { words }: Trial,
  theirs: readonly string[],
  ours: readonly string[],
  { isExact = false, offer = 'did you mean', guess }: Partial<Fix> = {},
): Fix[] {
  const line = beforeEnd(words);
  const at = line.findIndex((_, start) => theirs.every((word, index) => line[start + index] === word));
  const note = `${theirs.join(' ')}: ${ours.join(' ')}`;
  return at === -1
    ? []
    : [{ words: words.toSpliced(at, theirs.length, ...ours), note, isExact, offer, guess }];
}

const EXACT: Partial<Fix> = { isExact: true };
const WITHOUT = { offer: 'without it' };
const EXAMPLE: Partial<Fix> = { offer: 'for example' };

const simple = (word: string): string => word.toLowerCase().replaceAll('_', '-');
const namesOf = ({ children }: CliCommand): string[] => children.map((child) => child.name());

/** Returns our words for the name of a command. */
export function verbFor(word: string, parent: CliCommand): string | undefined {
  const own = namesOf(parent).find((name) => name === simple(word));
  return own ?? ourWords(VERBS, parent.path, simple(word))[0];
}

function verbFixes(trial: Trial): Fix[] {
  const { innermost: parent } = trial.program;
  const [word = '', next] = parent.args;
  const setting = parent.path === 'config' ? settingWords(word, next) : undefined;
  if (setting !== undefined) return replace(trial, [word], setting, EXACT);
  const pair = ourWords(VERBS, parent.path, simple(`${word}-${next}`))[0];
  const ours = pair ?? verbFor(word, parent);
  // Help and the version take no arguments.
  if (ours?.startsWith('-')) return [{ words: [ours], note: `${word}: ${ours}`, isExact: true, offer: '' }];
  const theirs = pair === undefined || next === undefined ? [word] : [word, next];
  if (ours !== undefined) return replace(trial, theirs, ours.split(' '), EXACT);
  // A slip is rarely in the first letter or in the length of a word that this program does not even have.
  const isClose = (their: string) =>
    their[0] === word[0]?.toLowerCase() && Math.abs(their.length - word.length) <= 1;
  const others = [...theirWords(VERBS, parent.path)].filter(([their]) => isClose(their));
  return nearWords(word, [...others, ...namesOf(parent).map((name) => [name, name] as const)]).flatMap(
    (near) => replace(trial, [word], near.split(' '), { guess: near.split(' ')[0] }),
  );
}

/** Returns our words for the nearest of some words, each once. */
function nearWords(word: string, pairs: readonly (readonly [theirs: string, ours: string])[]): string[] {
  const ours = new Map(pairs);
  return [...new Set(nearestOnes(word, [...ours.keys()]).map((near) => ours.get(near) ?? near))];
}

/** `config city SF`, `config city=SF`, `config city` */
function settingWords(word: string, next: string | undefined): string[] | undefined {
  const [name = '', ...value] = word.split('=');
  if (!SETTING_NAMES.some((each) => each === name)) return undefined;
  return value.length > 0 ? ['set', name, value.join('=')] : [next === undefined ? 'get' : 'set', name];
}

/** `--city SF find nopa`. Without the name of a command, the words are searched for. */
function verbFirst({ words, program }: Trial): Fix[] {
  const verb = beforeEnd(words).find((word) => verbFor(word, program) !== undefined);
  const rest = verb === undefined ? words : words.toSpliced(words.indexOf(verb), 1);
  return [
    {
      words: [verb ?? 'find', ...rest],
      note: `${verb} first`,
      isExact: verb !== undefined,
      offer: 'did you mean',
    },
  ];
}

export const isOptionLike = (word: string): boolean => /^-./s.test(word) && !/^-[\d.]+$/.test(word);

/** Splits `--flag=value` and `-nvalue`. The value may be a secret. */
export function splitOption(word: string): { flag: string; value: string | undefined } {
  const [, flag = word, value] = /^(--[^=]*|-.)(?:=?(.+))?$/su.exec(word) ?? [];
  return { flag, value };
}

/** No option takes a key, because other users can read the command line. */
export const isKeyOption = (flag: string): boolean =>
  /^--?(?:api-?)?(?:key|token|secret|password)$/i.test(flag);

function optionFixes(trial: Trial): Fix[] {
  const { innermost: command } = trial.program;
  const dashed = misdashed(trial.program);
  if (dashed !== undefined) return replace(trial, [dashed], [dashed.replace(/^(?:-|[—–]+)/, '--')], EXACT);
  const word = command.args.find(isOptionLike) ?? '';
  const { flag, value } = splitOption(word);
  if (isKeyOption(flag)) return [];
  const name = simple(flag.replace(/^-+/, ''));
  const insert = (how: Partial<Fix>) => (ours: string) =>
    ours === '' ? leaveOut(trial, word) : replace(trial, [word], inPlace(ours, value), how);
  if (accepts(command, flag)) return replace(trial, [word], [flag, ...withoutValue(flag, value)], WITHOUT);
  const own = flag.startsWith('--') && accepts(command, `--${name}`) ? [`--${name}`] : [];
  const whole = value === undefined ? [] : oursFor(OPTIONS, command, `${name}=${value}`);
  const exact = [
    ...whole.flatMap((ours) => replace(trial, [word], ours.split(' '), EXACT)),
    ...[...own, ...oursFor(OPTIONS, command, name)].flatMap(insert(EXACT)),
  ].slice(0, 1);
  if (exact.length > 0) return exact;
  const other = command.path === 'call' ? toolArgument(trial, word) : otherCommand(trial, flag, value);
  if (other.length > 0) return other;
  const known = [...theirWords(OPTIONS, command.path)].filter(([, ours]) => fitsOption(ours, command));
  const longs = longsOf(command).map((long) => [long.slice(2), long] as const);
  const suggested = oursFor(SUGGESTIONS, command, name);
  const near = suggested.length > 0 || !flag.startsWith('--') ? [] : nearWords(name, [...known, ...longs]);
  const fixes = [...suggested, ...near].flatMap((ours) => insert({ guess: ours.split(' ')[0] })(ours));
  return fixes.length > 0 || !command.isReading ? fixes : leaveOut(trial, word);
}

/** `--json=name,grade` */
function withoutValue(flag: string, value = ''): string[] {
  const meant = valueOption(flag, value);
  return meant === undefined ? [] : [meant, value];
}

/** `<>` is the argument of the command, unless another argument is before it. */
function fitsOption(ours: string, command: CliCommand): boolean {
  const { args, registeredArguments } = command;
  if (ours === '<>') return registeredArguments[0]?.variadic === true || isOptionLike(args[0] ?? '');
  return ours === '' || accepts(command, ours.split(' ')[0] ?? '');
}

const oursFor = (table: typeof OPTIONS, command: CliCommand, word: string): string[] =>
  ourWords(table, command.path, word).filter((ours) => fitsOption(ours, command));

function inPlace(ours: string, value: string | undefined): string[] {
  if (ours === '<>') return value === undefined ? [] : [value];
  return ours.includes(' ') || value === undefined ? ours.split(' ') : [`${ours}=${value}`];
}

/** `--name Nopa` of `call` */
function toolArgument(trial: Trial, word: string): Fix[] {
  const [, key, typed] = /^--([A-Za-z]\w*)(?:=(.*))?$/s.exec(word) ?? [];
  const next = trial.words[trial.words.indexOf(word) + 1];
  if (key === undefined) return [];
  if (typed !== undefined) return replace(trial, [word], [`${key}=${typed}`], EXACT);
  if (next === undefined || isOptionLike(next) || /^[\w.]+:?=/.test(next)) return [];
  return replace(trial, [word, next], [`${key}=${next}`], EXACT);
}

/** `lookup nopa --city SF`, `enrich list.csv -o out.csv --changes changes.csv` */
function otherCommand(trial: Trial, flag: string, value: string | undefined): Fix[] {
  const { words, program } = trial;
  const { path } = program.innermost;
  if (path === 'lookup' && ['-c', '--city'].includes(flag))
    return replace(trial, ['lookup'], ['find'], EXACT);
  if (path !== 'enrich' || flag !== '--changes') return [];
  const output = words[words.findIndex((word) => ['-o', '--output'].includes(word)) + 1] ?? '';
  const file = value ?? words[words.indexOf(flag) + 1];
  return file === undefined || !words.includes(output, 1)
    ? []
    : [{ words: ['changes', output, '-o', file], note: '', isExact: false, offer: 'did you mean' }];
}

/** The line without an option, and without the argument after it if another one is before it. */
function leaveOut(trial: Trial, word: string): Fix[] {
  const { words, program } = trial;
  const next = words[words.indexOf(word) + 1];
  const hasName = program.innermost.args.indexOf(word) > 0 && !word.includes('=');
  return replace(
    trial,
    [word, ...(hasName && next !== undefined && !isOptionLike(next) ? [next] : [])],
    [],
    WITHOUT,
  );
}

function valueFixes(trial: Trial, { flag, text, example }: InvalidValue): Fix[] {
  const { innermost: command } = trial.program;
  if (flag === undefined) return example === undefined ? [] : replace(trial, [text], [example]);
  const option = command.findOption(flag);
  const isNear = nearestOnes(text, option?.argChoices ?? []).length > 0;
  const isColumns = flag === '--fields' && !isNear && accepts(command, '--columns');
  const ours = isColumns ? ['--columns', text] : [flag, example ?? ''];
  const forms = formsOf([flag, option?.short ?? flag], text);
  return ours[1] === ''
    ? []
    : forms.flatMap((form) => replace(trial, form, ours, isNear || isColumns ? {} : EXAMPLE)).slice(0, 1);
}

/** The ways to type an option with a value. */
const formsOf = (flags: readonly string[], text: string): string[][] =>
  flags.flatMap((flag) => [[flag, text], [`${flag}=${text}`], [`${flag}${text}`]]);

/** `enrich in.csv out.csv`; otherwise the line without the arguments that are too many. */
function excessFixes(trial: Trial): Fix[] {
  const { path, args, typed, registeredArguments, isReading } = trial.program.innermost;
  const excess = args.slice(registeredArguments.length);
  const [file = ''] = excess;
  if (path === 'enrich' && excess.length === 1 && typed.every(({ option }) => option.long !== '--output')) {
    return existsSync(fullPath(trial.app.context, file)) ? [] : replace(trial, [file], ['-o', file], EXACT);
  }
  const words = excess.reduce((line, word) => line.toSpliced(line.lastIndexOf(word), 1), [...trial.words]);
  return isReading ? [{ words, note: '', isExact: false, ...WITHOUT }] : [];
}

/** `-o json` */
function formatFixes(trial: Trial): Fix[] {
  const format = bareFormat(trial.program) ?? '';
  const ours = format === 'json' ? ['--json'] : ['--format', format];
  return formsOf(['-o', '--output'], format).flatMap((form) => replace(trial, form, ours, EXACT));
}

/** The option that commander says has no value. */
export function missingOption({ message }: CommanderError, program: CliCommand): CliOption | undefined {
  const [, flags] = /'(.*)'/s.exec(message) ?? [];
  return [...program.innermost.options, ...program.options].find((option) => option.flags === flags);
}

function missingFixes(trial: Trial, error: CommanderError): Fix[] {
  const option = missingOption(error, trial.program);
  const city = option?.long === '--city' ? cityForHint(trial.app) : undefined;
  const value = typeof city === 'string' ? city : option?.exampleFor('');
  if (option === undefined || value === undefined) return [];
  return [option.long, option.short ?? ''].flatMap((flag) => replace(trial, [flag], [flag, value], EXAMPLE));
}

/** `find --cuisine mexican`: the service searches by name only. */
function filterAsName(trial: Trial): Fix[] {
  const { path, typed } = trial.program.innermost;
  const filter = typed.find(({ option }) => ['--cuisine', '--neighborhood'].includes(option.long));
  if (path !== 'find' || filter?.text === undefined) return [];
  const { option, text } = filter;
  return formsOf([option.long], text).flatMap((form) => replace(trial, form, [text], { offer: 'by name' }));
}

const MAX_LINES = 3;
const MAX_SLIPS = 6;

export type Try = (words: readonly string[]) => Promise<Trial>;

/**
 * Returns lines that can run and were probably meant, the likeliest first.
 * @param guesses the command and the options that are guesses, which must fit the words after them
 */
export async function linesMeant(
  trial: Trial,
  tryLine: Try,
  slips = MAX_SLIPS,
  guesses: readonly string[] = [],
): Promise<Trial[]> {
  const { error, words, program } = trial;
  const { innermost } = program;
  const isGuess = guesses.includes(innermost.name());
  if (error === undefined && (!isGuess || takesKnown(trial))) return [trial];
  if (slips === 0) return [];
  const follow = async (line: readonly string[], guess: readonly string[] = []): Promise<Trial[]> =>
    linesMeant(await tryLine(line), tryLine, slips - 1, [...guesses, ...guess]);
  if (error === undefined) return follow(words.toSpliced(words.indexOf(innermost.name()), 1, 'find'));
  const lines: Trial[] = [];
  for (const fix of likelyFixes(trial, guesses)) {
    lines.push(...(await follow(fix.words, fix.guess === undefined ? [] : [fix.guess])));
  }
  if (lines.length > 0 || !isUnknownCommand(trial) || innermost !== program) return lines.slice(0, MAX_LINES);
  // The words name no command, so that they are searched for.
  return follow(['find', ...words]);
}

/** The fixes without those that show that a guess was wrong. */
function likelyFixes(trial: Trial, guesses: readonly string[]): Fix[] {
  const { innermost, invalid } = trial.program;
  const isExcess = trial.error instanceof CommanderError && trial.error.code === EXCESS;
  if (isExcess && !isUnknownCommand(trial) && guesses.includes(innermost.name())) return [];
  const isExample = ({ offer }: Fix): boolean => offer === EXAMPLE.offer;
  return fixesFor(trial).filter((fix) => !isExample(fix) || !guesses.includes(invalid?.flag ?? ''));
}

/** Whether a command has the restaurants that it takes: `lokup nopa` may be a search. */
function takesKnown({ program: { innermost }, app }: Trial): boolean {
  if (innermost.registeredArguments[0]?.name() !== 'id') return true;
  const rows = lastRestaurants(app);
  const isKnown = (word: string): boolean =>
    /^(?:-|#?\d[\d,#-]*|(?=.*\d)[\w-]{6,})$/.test(word) || rows.some(({ name }) => isBeginning(word, name));
  return innermost.args.every(isKnown);
}
