import { existsSync } from 'node:fs';
import { CommanderError } from 'commander';
import type { App } from '../app/app.ts';
import { cityForHint } from '../app/city.ts';
import { lastRestaurants } from '../app/last-results.ts';
import { fullPath } from '../app/output-file.ts';
import { FORMATS } from '../output/formats.ts';
import { SETTING_NAMES } from '../settings/catalog.ts';
import { isBeginning } from '../util/fold.ts';
import { nearestOnes } from '../util/nearest.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
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

export type Try = (words: readonly string[]) => Promise<Trial>;

/** A line with fewer slips. */
interface Fix {
  readonly words: readonly string[];
  /** The words that were typed, and those that they mean. */
  readonly notes: readonly string[];
  /** How it is offered; undefined if the typed words have exactly one meaning here, so that the line runs. */
  readonly offer?: string | undefined;
}

const MEANT = 'did you mean';
const WITHOUT = 'without it';
const EXAMPLE = 'for example';

const IN_OPTIONS = ['commander.unknownOption', 'commander.optionMissingArgument', BARE_FORMAT];

/** Returns the line with fewer slips. @param mayGuess whether to change words that could have another meaning, too */
export function fixFor(trial: Trial, mayGuess: boolean): Fix | undefined {
  const { error, program } = trial;
  const { invalid, innermost } = program;
  if (invalid !== undefined && error === invalid.error)
    return mayGuess ? valueFix(trial, invalid) : undefined;
  if (!(error instanceof CommanderError)) return undefined;
  if (isUnknownCommand(trial)) return commandFix(trial);
  if (!IN_OPTIONS.includes(error.code)) return argumentFix(trial);
  if (error.code === BARE_FORMAT) return formatFix(trial);
  if (error.code === 'commander.optionMissingArgument')
    return mayGuess ? missingFix(trial, error) : undefined;
  if (innermost === program) return verbFirst(trial, mayGuess);
  return otherCommand(trial, mayGuess) ?? optionFix(trial, mayGuess);
}

const isUnknownCommand = ({ error, program: { innermost } }: Trial): boolean =>
  error instanceof CommanderError &&
  (error.code === 'commander.unknownCommand' ||
    (error.code === 'commander.excessArguments' && innermost.children.length > 0));

/** Replaces words before `--`. */
function replace(
  { words }: Trial,
  theirs: readonly string[],
  ours: readonly string[],
  offer?: string,
): Fix | undefined {
  const line = beforeEnd(words);
  const at = line.findIndex((_, start) => theirs.every((word, index) => line[start + index] === word));
  const notes = [`${theirs.join(' ')}: ${ours.join(' ')}`];
  return at === -1 ? undefined : { words: words.toSpliced(at, theirs.length, ...ours), notes, offer };
}

/** Replaces an option with its value, in any of its forms. */
function replaceOption(
  trial: Trial,
  { long, short = long }: CliOption,
  text: string,
  ours: readonly string[],
  offer?: string,
): Fix | undefined {
  const forms = [long, short].flatMap((flag) => [[flag, text], [`${flag}=${text}`], [`${flag}${text}`]]);
  return forms.flatMap((form) => replace(trial, form, ours, offer) ?? [])[0];
}

const simple = (word: string): string => word.toLowerCase().replaceAll('_', '-');

/** Returns our words for the name of a command. */
export function verbFor(word: string, { children, path }: CliCommand): string | undefined {
  const own = children.find((child) => child.name() === simple(word))?.name();
  return own ?? ourWords(VERBS, path, simple(word))[0];
}

function commandFix(trial: Trial): Fix | undefined {
  const { innermost: parent } = trial.program;
  const [word = '', next] = parent.args;
  // A whole line was pasted after the name of the program.
  if (parent === trial.program && word === parent.name() && next !== undefined)
    return {
      words: trial.words.toSpliced(trial.words.indexOf(word), 1),
      notes: [`${word} ${word}: ${word}`],
    };
  const [pair] = ourWords(VERBS, parent.path, simple(`${word}-${next}`));
  const ours =
    pair ?? verbFor(word, parent) ?? (parent.path === 'config' ? settingVerb(word, next) : rowVerb(parent));
  if (ours === undefined) return undefined;
  // Help and the version take no arguments.
  if (ours.startsWith('-')) return { words: [ours], notes: [`${word}: ${ours}`] };
  return replace(trial, pair === undefined || next === undefined ? [word] : [word, next], ours.split(' '));
}

/** `1`, `#2` */
const rowVerb = ({ path, args: [word = ''] }: CliCommand): string | undefined =>
  path === '' && /^#?\d{1,2}$/.test(word) ? `lookup ${word}` : undefined;

/** `config city SF`, `config city=SF`, `config city` */
function settingVerb(word: string, next: string | undefined): string | undefined {
  const [name = '', ...value] = word.split('=');
  if (!SETTING_NAMES.some((each) => each === name)) return undefined;
  return value.length === 0 && next === undefined ? `get ${word}` : `set ${word}`;
}

/** `--city SF find nopa`. Without the name of a command, the words are searched for. */
function verbFirst({ words, program }: Trial, mayGuess: boolean): Fix | undefined {
  const verb = beforeEnd(words).find((word) => verbFor(word, program) !== undefined);
  if (verb !== undefined)
    return { words: [verb, ...words.toSpliced(words.indexOf(verb), 1)], notes: [`${verb} first`] };
  return mayGuess ? { words: ['find', ...words], notes: [], offer: MEANT } : undefined;
}

/** `lookup nopa --city SF`, `enrich list.csv -o out.csv --changes changes.csv` */
function otherCommand(trial: Trial, mayGuess: boolean): Fix | undefined {
  const { words, program } = trial;
  const { path } = program.innermost;
  const textOf = (...flags: string[]): string | undefined => {
    const at = words.findIndex((word) => flags.includes(splitOption(word).flag));
    return at === -1 ? undefined : (splitOption(words[at] ?? '').value ?? words[at + 1]);
  };
  if (path === 'lookup' && textOf('-c', '--city') !== undefined) return replace(trial, ['lookup'], ['find']);
  const [output, changes] = [textOf('-o', '--output'), textOf('--changes')];
  if (!mayGuess || path !== 'enrich' || output === undefined || changes === undefined) return undefined;
  return { words: ['changes', output, '-o', changes], notes: [], offer: MEANT };
}

/** `enrich in.csv out.csv`, `config set city=SF` */
function argumentFix(trial: Trial): Fix | undefined {
  const { path, args, typed } = trial.program.innermost;
  const [first = '', file] = args;
  const [, name, value] = /^([\w-]+)=(.+)$/s.exec(first) ?? [];
  if (path === 'config set' && name !== undefined && value !== undefined)
    return replace(trial, args, [name, value]);
  const isFile =
    path === 'enrich' && args.length === 2 && typed.every(({ option }) => option.long !== '--output');
  return !isFile || file === undefined || existsSync(fullPath(trial.app.context, file))
    ? undefined
    : replace(trial, [file], ['-o', file]);
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

function optionFix(trial: Trial, mayGuess: boolean): Fix | undefined {
  const { innermost: command } = trial.program;
  const dashed = misdashed(trial.program);
  if (dashed !== undefined) return replace(trial, [dashed], [dashed.replace(/^(?:-|[—–]+)/, '--')]);
  const unknown = command.args.filter((word) => isOptionLike(word) && !isKeyOption(splitOption(word).flag));
  const exact = unknown.flatMap((word) => exactOption(trial, word) ?? []);
  return exact[0] ?? (mayGuess ? guessedOption(trial, unknown[0] ?? '') : undefined);
}

const nameOf = (word: string): string => simple(splitOption(word).flag.replace(/^-+/, ''));

/** The argument after an unknown option, which may be its value. */
function valueAfter({ words }: Trial, word: string): string[] {
  const next = words[words.indexOf(word) + 1];
  return word.includes('=') || next === undefined || isOptionLike(next) ? [] : [next];
}

/** An option in the words of another tool. */
function exactOption(trial: Trial, word: string): Fix | undefined {
  const { innermost: command } = trial.program;
  const { flag, value } = splitOption(word);
  const [next] = valueAfter(trial, word);
  const text = value ?? next;
  const theirs = value === undefined && next !== undefined ? [word, next] : [word];
  const [pair] = oursFor(OPTIONS, command, `${nameOf(word)}=${text}`);
  if (pair !== undefined) return replace(trial, theirs, pair.split(' '));
  const long = `--${nameOf(word)}`;
  const own = flag.startsWith('--') && flag !== long && accepts(command, long) ? [long] : [];
  const [ours] = [...own, ...oursFor(OPTIONS, command, nameOf(word))];
  if (ours !== undefined) return replace(trial, [word], inPlace(ours, value));
  // `--name Nopa` of `call`
  const isArgument = /^--[A-Za-z]\w*$/.test(flag) && !/^(?:[\w.]+:?=|$)/.test(text ?? '');
  return command.path === 'call' && isArgument
    ? replace(trial, theirs, [`${flag.slice(2)}=${text}`])
    : undefined;
}

/** A misspelled option; else it is left out. */
function guessedOption(trial: Trial, word: string): Fix | undefined {
  const { innermost: command } = trial.program;
  const { flag, value } = splitOption(word);
  // `--json=name,grade`
  if (accepts(command, flag)) {
    const meant = valueOption(flag, value ?? '');
    return replace(trial, [word], meant === undefined ? [flag] : [flag, meant, value ?? ''], WITHOUT);
  }
  const [next] = valueAfter(trial, word);
  // `--as csv`
  const format = FORMATS.find((each) => each === (value ?? next));
  if (format !== undefined && accepts(command, '--format'))
    return replace(trial, value === undefined ? [word, format] : [word], ['--format', format], MEANT);
  const near = nearOptions(command, nameOf(word)).filter((each) => fitsValue(each, value ?? next, command));
  const [ours] = [...oursFor(SUGGESTIONS, command, nameOf(word)), ...near];
  if (ours) return replace(trial, [word], inPlace(ours, value), MEANT);
  if (ours === undefined && !command.isReading) return undefined;
  // The argument after it is its value if another one is before it.
  return replace(
    trial,
    [word, ...(command.args.indexOf(word) > 0 ? valueAfter(trial, word) : [])],
    [],
    WITHOUT,
  );
}

/** A word of one or two letters is near to too many others. */
function nearOptions(command: CliCommand, name: string): string[] {
  const longs = longsOf(command).map((long) => [long.slice(2), long] as const);
  const all = [...theirWords(OPTIONS, command.path), ...longs].filter(([theirs]) => theirs.length > 2);
  return name.length > 2 ? nearWords(name, all).filter((ours) => fitsOption(ours, command)) : [];
}

const oursFor = (table: typeof OPTIONS, command: CliCommand, word: string): string[] =>
  ourWords(table, command.path, word).filter((ours) => fitsOption(ours, command));

/** `<>` is the argument of the command, unless another argument is before it. */
function fitsOption(ours: string, command: CliCommand): boolean {
  const { args, registeredArguments } = command;
  if (ours === '<>') return registeredArguments[0]?.variadic === true || isOptionLike(args[0] ?? '');
  return ours === '' || accepts(command, ours.split(' ')[0] ?? '');
}

/** Whether a value is one of an option's, or a misspelling of one: `--older 7d` is not `--sort`. */
function fitsValue(ours: string, value: string | undefined, command: CliCommand): boolean {
  const choices = command.findOption(ours)?.argChoices;
  return choices === undefined || value === undefined || nearestOnes(value, choices).length > 0;
}

function inPlace(ours: string, value: string | undefined): string[] {
  if (ours === '<>') return value === undefined ? [] : [value];
  return ours.includes(' ') || value === undefined ? ours.split(' ') : [`${ours}=${value}`];
}

/** Returns our words for the nearest of some words, each once. */
function nearWords(word: string, pairs: readonly (readonly [theirs: string, ours: string])[]): string[] {
  const ours = new Map(pairs);
  return [...new Set(nearestOnes(word, [...ours.keys()]).map((near) => ours.get(near) ?? near))];
}

function valueFix(trial: Trial, { flag, text, example }: InvalidValue): Fix | undefined {
  const { innermost: command } = trial.program;
  const option = flag === undefined ? undefined : command.findOption(flag);
  const isColumns =
    option?.long === '--fields' && text.split(',').some((each) => SUMMARY_COLUMNS.includes(each));
  if (option !== undefined && isColumns && accepts(command, '--columns'))
    return replaceOption(trial, option, text, ['--columns', text], MEANT);
  if (example === undefined) return undefined;
  if (option === undefined) return replace(trial, [text], [example], MEANT);
  const isNear = nearestOnes(text, option.argChoices ?? []).length > 0;
  return replaceOption(trial, option, text, [option.long, example], isNear ? MEANT : EXAMPLE);
}

/** `-o json` */
function formatFix(trial: Trial): Fix | undefined {
  const format = bareFormat(trial.program) ?? '';
  const output = trial.program.findOption('--output');
  const ours = format === 'json' ? ['--json'] : ['--format', format];
  return output && replaceOption(trial, output, format, ours);
}

/** `find Nopa --city` */
function missingFix(trial: Trial, { message }: CommanderError): Fix | undefined {
  const [, long = ''] = /(--[\w-]+)/.exec(message) ?? [];
  const option = trial.program.innermost.findOption(long);
  const city = long === '--city' ? cityForHint(trial.app) : undefined;
  const value = typeof city === 'string' ? city : option?.exampleFor('');
  if (option === undefined || value === undefined) return undefined;
  const flags = [long, option.short ?? long];
  return flags.flatMap((flag) => replace(trial, [flag], [flag, value], EXAMPLE) ?? [])[0];
}

/** A line that can run, and how it is offered. */
interface Offer {
  readonly line: Trial;
  readonly text: string;
}

const MAX_LINES = 3;
const MAX_SLIPS = 6;

/** Returns the lines that were probably meant, the likeliest first. */
export async function linesMeant(trial: Trial, tryLine: Try): Promise<Offer[]> {
  const { innermost } = trial.program;
  const text = fixFor(trial, true)?.offer ?? MEANT;
  const lines = isUnknownCommand(trial) ? await nearLines(trial, tryLine) : [await corrected(trial, tryLine)];
  const fitting = lines.filter(({ error }) => error === undefined).slice(0, MAX_LINES);
  if (fitting.length > 0 || !isUnknownCommand(trial) || innermost !== trial.program)
    return fitting.map((line, index) => ({ line, text: index === 0 ? text : 'or' }));
  const almost = lines.find(
    ({ error }) => error instanceof CommanderError && IN_OPTIONS.includes(error.code),
  );
  if (almost !== undefined)
    return [{ line: await tryLine([...almost.program.innermost.path.split(' '), '--help']), text }];
  // The words name no command, so that they are searched for.
  const line = await corrected(await tryLine(['find', ...trial.words]), tryLine);
  return line.error === undefined ? [{ line, text: 'to search for it' }] : [];
}

/** Corrects a line, the likeliest way. */
async function corrected(trial: Trial, tryLine: Try, slips = MAX_SLIPS): Promise<Trial> {
  const fix = fixFor(trial, true);
  return fix === undefined || slips === 0 ? trial : corrected(await tryLine(fix.words), tryLine, slips - 1);
}

/** The line with the nearest commands in place of an unknown one. */
async function nearLines(trial: Trial, tryLine: Try): Promise<Trial[]> {
  const { path, children, args } = trial.program.innermost;
  const [word = ''] = args;
  // A slip is rarely in the first letter or in the length of a word that this program does not even have.
  const theirs = [...theirWords(VERBS, path)].filter(
    ([their]) => their[0] === word[0]?.toLowerCase() && Math.abs(their.length - word.length) <= 1,
  );
  const lines: Trial[] = [];
  for (const near of nearWords(word, [
    ...theirs,
    ...children.map((child) => [child.name(), child.name()] as const),
  ])) {
    const at = trial.words.indexOf(word);
    const line = await corrected(await tryLine(trial.words.toSpliced(at, 1, ...near.split(' '))), tryLine);
    // `lokup nopa`
    const isName = line.error === undefined && !takesKnown(line);
    lines.push(isName ? await corrected(await tryLine(trial.words.toSpliced(at, 1, 'find')), tryLine) : line);
  }
  return lines;
}

/** Whether a command has the restaurants that it takes. */
function takesKnown({ program: { innermost }, app }: Trial): boolean {
  if (innermost.registeredArguments[0]?.name() !== 'id') return true;
  const rows = lastRestaurants(app);
  const isKnown = (word: string): boolean =>
    /^(?:-|#?\d[\d,#-]*|(?=.*\d)[\w-]{6,})$/.test(word) || rows.some(({ name }) => isBeginning(word, name));
  return innermost.args.every(isKnown);
}
