import type { App } from '../../app/app.ts';
import { isVersus, namesIn, readPlace } from '../../app/city.ts';
import { isFile, LIST_NAME } from '../../app/input.ts';
import { lastRestaurants, lastRows } from '../../app/last-results.ts';
import { sampleRows } from '../../app/seen-results.ts';
import { SETTING_NAMES } from '../../settings/catalog.ts';
import { isSameName } from '../../util/fold.ts';
import { beforeEnd, isOptionLike } from '../check.ts';
import type { CliCommand } from '../command.ts';
import { NEAR_VERBS, nearWords, ourWords, VERBS } from '../words.ts';
import {
  MEANT,
  type Reading,
  replace,
  type SlipRule,
  type SlipRules,
  simple,
  type TriedLine,
  valuesFor,
  when,
} from './reading.ts';

/** Returns our words for the name of a command, most specific first. */
function verbsFor(word: string, { children, path }: CliCommand): readonly string[] {
  const own = children.find((child) => child.name() === simple(word))?.name();
  return own === undefined ? ourWords(VERBS, path, simple(word)) : [own];
}

/** Returns the command that a word names, in ours or those of other tools. */
export function commandFor(word: string, parent: CliCommand): CliCommand | undefined {
  const verbs = verbsFor(word, parent);
  // One with `vs` is for two restaurants only.
  const [name] = (verbs.find((each) => !each.endsWith(' vs')) ?? verbs[0] ?? '').split(' ');
  return parent.children.find((child) => child.name() === name);
}

const ROW = /^#?\d{1,2}$/;

/** The words after the first one, up to an option. */
export const operandsOf = (words: readonly string[]): readonly string[] => {
  const end = words.findIndex((word, index) => index > 0 && isOptionLike(word) && word !== '-');
  return words.slice(1, end === -1 ? undefined : end);
};

/** Commands that take restaurants, which are never files. */
const TAKES_RESTAURANTS = /^(?:lookup|save|unsave)\b/;

/** `search nopa`, `show 1`, and as restaurants with `vs` between them `compare Nopa Zuni`, `compare Nopa 'State Bird'`, `diff 1 2` */
function inOurWords(
  ours: string,
  theirs: readonly string[],
  operands: readonly string[],
  line: TriedLine,
): Reading | undefined {
  // Help and the version take no arguments.
  if (ours.startsWith('-')) return { words: [ours], note: `${theirs.join(' ')}: ${ours}` };
  if (TAKES_RESTAURANTS.test(ours) && operands.some((each) => isFile(line.app, each))) return undefined;
  const words = ours.split(' ').filter(Boolean);
  if (words.at(-1) !== 'vs') return replace(line, theirs, words);
  const areRows = operands.length > 1 && operands.every((each) => ROW.test(each));
  const areNames = operands.every((each) => /^\p{L}/u.test(each)) && namesIn(operands).length === 1;
  const areTwo = operands.length === 2 || operands.some((each) => each.includes(' '));
  const compared = operands.flatMap((each, index) => (index === 0 ? [each] : ['vs', each]));
  return when(
    areRows || (areNames && areTwo),
    replace(line, [...theirs, ...operands], [...words.slice(0, -1), ...compared]),
  );
}

/** `update list.xlsx`, `connect codex` */
async function impliedByOperands(word: string, operands: readonly string[], line: TriedLine) {
  const [operand = '', ...others] = operands;
  const clients = others.length === 0 ? await mcpClients(line.program) : [];
  const client = clients.find((each) => `${each}-`.startsWith(`${simple(operand)}-`));
  return [
    when(
      operands.some((each) => each === '-' || LIST_NAME.test(each)),
      replace(line, [word], ['enrich'], MEANT),
    ),
    when(client, replace(line, [word, operand], ['mcp', 'config', client ?? ''], MEANT)),
    when(client, { words: ['find', ...line.words], offer: MEANT }),
  ];
}

async function mcpClients({ children }: CliCommand): Promise<readonly string[]> {
  const mcp = children.find((each) => each.name() === 'mcp');
  await mcp?.load();
  return mcp?.children.flatMap((each) => valuesFor(each, undefined, 'client')) ?? [];
}

/** A word of a sentence without what follows it. */
const bare = (word: string): string => word.replace(/[,.?!]$/, '');

const QUESTION = /^(?:how|where|what|who|can|do|i)$/i;
const LOGIN_NEEDS = 'the address and the key come from whoever runs the service; with them';

/** Our words for one whose meaning is near. */
const nearOf = (word: string): string => ourWords(NEAR_VERBS, '', simple(word))[0] ?? '';

/** `rm 2`, `note 1 'ask for the patio'`, `signup`, `how do I get a key` */
function nearVerb(word: string, operands: readonly string[], line: TriedLine): Reading | undefined {
  const isAsked = QUESTION.test(word) && operands.some((each) => nearOf(bare(each)) === 'login');
  const ours = isAsked ? 'login' : nearOf(word);
  if (ours === 'login' && (isAsked || operands.length === 0)) return { words: [ours], offer: LOGIN_NEEDS };
  const isAboutFile = TAKES_RESTAURANTS.test(ours) && operands.some((each) => isFile(line.app, each));
  if (ours === 'login' || ours === '' || isAboutFile) return undefined;
  const [verb = '', ...options] = ours.split(' ').filter((each) => each !== '<>');
  if (!ours.endsWith('<>') || operands.length === 0) return replace(line, [word], [verb, ...options], MEANT);
  const end = operands.findIndex((each) => !ROW.test(each));
  const [rows, text] = [operands.slice(0, end), operands.slice(end).join(' ')];
  return when(end > 0, replace(line, [word, ...operands], [verb, ...rows, ...options, text], MEANT));
}

/** `for 2`, `at 7` */
const OF_SOMETHING_ELSE = /^(?:for|of|at)$/i;

/** `book 1`, `which is better, 1 or 2`: rows of the last table, or a name with a number. */
function aboutRows(word: string, operands: readonly string[], line: TriedLine) {
  const { length: count } = lastRows(line.app)?.rows ?? [];
  const isRow = (text: string): boolean => ROW.test(text) && Number(text.replace('#', '')) <= count;
  const rows = operands
    .map(bare)
    .filter((each, index) => isRow(each) && !OF_SOMETHING_ELSE.test(operands[index - 1] ?? ''));
  return [
    when(rows.length > 0, replace(line, [word, ...operands], ['lookup', ...rows], MEANT)),
    when(rows.length > 0, { words: ['find', ...line.words], offer: MEANT }),
  ];
}

/** `search nopa`, `auth login`, `2`, `config city=SF`, `restaurant find nopa`, `serach nopa`, `nopa` */
async function unknownCommand(word: string, line: TriedLine) {
  const { program } = line;
  const { innermost: parent } = program;
  const [, next = ''] = parent.args;
  const pairs = ourWords(VERBS, parent.path, simple(`${word}-${next}`));
  const verbs = [...verbsFor(word, parent), ...impliedVerb(word, next, parent)];
  const operands = operandsOf(parent.args);
  const near = nearCommands(word, parent).map((each) => replace(line, [word], [each], MEANT));
  return [
    ...pairs.map((ours) => inOurWords(ours, [word, next], operands.slice(1), line)),
    ...verbs.map((ours) => inOurWords(ours, [word], operands, line)),
    ...(parent === program ? [nearVerb(word, operands, line)] : []),
    ...near,
    ...(parent === program ? await sentence(word, operands, line, near.length > 0) : []),
  ];
}

/**
 * `is nopa open now`, `rate Nopa sf`: a restaurant of the last table, or a search for one of the sample data, whose name is
 * among words. At the beginning it may be a part of another name.
 */
async function nameSeen(words: readonly string[], app: App): Promise<readonly string[] | undefined> {
  const [, ...parts] = words.join(' ').split(/\s+/).map(bare);
  const isAmong = ({ name }: { name: string }): boolean => {
    const size = name.split(/\s+/).length;
    return name !== '' && parts.some((_, at) => isSameName(parts.slice(at, at + size).join(' '), name));
  };
  const longest = (rows: readonly { readonly name: string }[]): string | undefined =>
    rows
      .filter(isAmong)
      .map(({ name }) => name)
      .sort((one, other) => other.length - one.length)[0];
  const row = longest(lastRestaurants(app));
  if (row !== undefined) return ['lookup', row];
  const sample = longest(await sampleRows(app));
  if (sample === undefined) return undefined;
  const city = readPlace(parts, () => ({ restaurants: [], cities: [] }))?.city;
  return ['find', sample, ...(city === undefined ? [] : ['--city', city])];
}

/** A line that begins with no command. @param isNear whether its first word is nearly one */
async function sentence(
  word: string,
  operands: readonly string[],
  line: TriedLine,
  isNear: boolean,
): Promise<(Reading | undefined)[]> {
  const { words, program } = line;
  const isVerb = nearOf(word) !== '';
  const name = isVerb || isNear ? undefined : await nameSeen([word, ...operands], line.app);
  return [
    when(isVersus(words), { words: ['lookup', ...words], offer: MEANT }),
    when(LIST_NAME.test(word) && isFile(line.app, word), { words: ['enrich', ...words], offer: MEANT }),
    // A whole line was pasted after the name of the program.
    when(word === program.name() && operands.length > 0, replace(line, [word], [])),
    ...(isVerb ? [] : await impliedByOperands(word, operands, line)),
    ...(isVerb || isNear ? [] : aboutRows(word, operands, line)),
    when(name, replace(line, [word, ...operands], name ?? [], MEANT)),
    when(name, { words: ['find', ...words], offer: MEANT }),
    when(!operands.some((each) => isFile(line.app, each)), {
      words: ['find', ...words],
      offer: 'to search for it',
    }),
  ];
}

/** `1`, `#2`; `config city SF`, `config city=SF`, `config city` */
function impliedVerb(word: string, next: string, { path }: CliCommand): string[] {
  if (path === '' && ROW.test(word)) return [`lookup ${word}`];
  const [name = '', ...value] = word.split('=');
  if (path !== 'config' || !SETTING_NAMES.some((each) => each === name)) return [];
  return [value.length === 0 && next === '' ? `get ${word}` : `set ${word}`];
}

/** Returns the nearest names of commands, ours or those of other tools, one for each command. */
export function nearCommands(word: string, { path, children }: CliCommand): string[] {
  const own = children.map((child) => [child.name(), child.name()] as const);
  // A slip is rarely in the first letter or in the length of a word that this program does not even have.
  const isLikely = (theirs: string): boolean =>
    theirs[0] === word[0]?.toLowerCase() && Math.abs(theirs.length - word.length) <= 1;
  return nearWords(word, own, { table: VERBS, path, isLikely }).map(([name]) => name);
}

/** `--city SF find nopa`, `-v` */
const optionFirst: SlipRule = (_word, line) => {
  const { words, program } = line;
  const verb = beforeEnd(words).find((word) => commandFor(word, program) !== undefined);
  return [
    when(words.length === 1, nearVerb(words[0] ?? '', [], line)),
    verb === undefined
      ? { words: ['find', ...words], offer: MEANT }
      : { words: [verb, ...words.toSpliced(words.indexOf(verb), 1)], note: `${verb} first` },
  ];
};

export const VERB_RULES: SlipRules = {
  'commander.unknownCommand': unknownCommand,
  'option first': optionFirst,
};
