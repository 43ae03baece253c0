import { namesIn } from '../../app/city.ts';
import { lastRows } from '../../app/last-results.ts';
import { SETTING_NAMES } from '../../settings/catalog.ts';
import { nearestOnes } from '../../util/nearest.ts';
import { beforeEnd, isOptionLike } from '../check.ts';
import type { CliCommand } from '../command.ts';
import { NEAR_VERBS, ourWords, theirWords, VERBS } from '../words.ts';
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

/** Returns our words for the name of a command. */
export function verbFor(word: string, { children, path }: CliCommand): string | undefined {
  const own = children.find((child) => child.name() === simple(word))?.name();
  return own ?? ourWords(VERBS, path, simple(word))[0];
}

/** A list, by the ending of its name, or from stdin. */
export const LIST = /^-$|\.(?:csv|tsv|txt|xlsx|ndjson|jsonl|geojson|parquet)$/i;

/** The number of a row. */
const ROW = /^#?\d{1,2}$/;

/** The words after the first one, up to an option. */
export const operandsOf = (words: readonly string[]): readonly string[] => {
  const end = words.findIndex((word, index) => index > 0 && isOptionLike(word) && word !== '-');
  return words.slice(1, end === -1 ? undefined : end);
};

/** `compare Nopa Zuni`, `compare Nopa 'State Bird'`, `diff 1 2` */
function comparison(word: string, operands: readonly string[], line: TriedLine): Reading | undefined {
  if (operands.length > 1 && operands.every((each) => ROW.test(each)))
    return replace(line, [word], ['lookup']);
  const areNames =
    operands.every((each) => /^\p{L}/u.test(each) && !LIST.test(each)) && namesIn(operands).length === 1;
  const isApart = operands.length === 2 || operands.some((each) => each.includes(' '));
  const names = operands.flatMap((each, index) => (index === 0 ? [each] : ['vs', each]));
  return when(areNames && isApart, replace(line, [word, ...operands], ['lookup', ...names]));
}

/** `update list.xlsx`, `connect codex` */
async function impliedByOperands(word: string, operands: readonly string[], line: TriedLine) {
  const [operand = '', ...others] = operands;
  const clients = others.length === 0 ? await mcpClients(line.program) : [];
  const client = clients.find((each) => `${each}-`.startsWith(`${simple(operand)}-`));
  return [
    when(
      operands.some((each) => LIST.test(each)),
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

/** `rm 2`, `note 1 'ask for the patio'`, `signup`, `how do I get a key` */
function nearVerb(word: string, operands: readonly string[], line: TriedLine): Reading | undefined {
  const nearOf = (each: string) => ourWords(NEAR_VERBS, '', simple(each))[0] ?? '';
  const isAsked = QUESTION.test(word) && operands.some((each) => nearOf(bare(each)) === 'login');
  const ours = isAsked ? 'login' : nearOf(word);
  const [verb = '', option] = ours.split(' ');
  if (ours === 'login' && (isAsked || operands.length === 0)) return { words: [ours], offer: LOGIN_NEEDS };
  if (ours === 'login' || ours === '') return undefined;
  if (option === undefined || operands.length === 0) return replace(line, [word], ours.split(' '), MEANT);
  const end = operands.findIndex((each) => !ROW.test(each));
  const [rows, text] = [operands.slice(0, end), operands.slice(end).join(' ')];
  return end > 0 ? replace(line, [word, ...operands], [verb, ...rows, option, text], MEANT) : undefined;
}

/** `book 1`, `which is better, 1 or 2`: rows of the last table, or a name with a number. */
function aboutRows(word: string, operands: readonly string[], line: TriedLine) {
  const { length: count } = lastRows(line.app)?.rows ?? [];
  const rows = operands.map(bare).filter((each) => ROW.test(each) && Number(each.replace('#', '')) <= count);
  return [
    when(rows.length > 0, replace(line, [word, ...operands], ['lookup', ...rows], MEANT)),
    when(rows.length > 0, { words: ['find', ...line.words], offer: MEANT }),
  ];
}

/** `search nopa`, `auth login`, `2`, `config city=SF`, `restaurant find nopa`, `serach nopa`, `nopa` */
async function unknownCommand(word: string, line: TriedLine) {
  const { words, program } = line;
  const { innermost: parent } = program;
  const isFirst = parent === program;
  const [, next = ''] = parent.args;
  const pairs = ourWords(VERBS, parent.path, simple(`${word}-${next}`));
  const ours = pairs[0] ?? verbFor(word, parent) ?? impliedVerb(word, next, parent);
  const theirs = pairs.length > 0 ? [word, next] : [word];
  const operands = operandsOf(parent.args);
  const near = isFirst ? nearVerb(word, operands, line) : undefined;
  return [
    // A whole line was pasted after the name of the program.
    when(isFirst && word === program.name() && next !== '', replace(line, [word], [])),
    // Help and the version take no arguments.
    when(ours?.startsWith('-'), { words: [ours ?? ''], note: `${word}: ${ours}` }),
    when(/^(?:compare|diff)$/.test(simple(word)), comparison(word, operands, line)),
    when(ours !== undefined, replace(line, theirs, (ours ?? '').split(' ').filter(Boolean))),
    near,
    ...nearCommands(word, line).map((each) => replace(line, [word], [each], MEANT)),
    ...(isFirst && ours === undefined ? await impliedByOperands(word, operands, line) : []),
    ...(isFirst && near === undefined ? aboutRows(word, operands, line) : []),
    when(isFirst, { words: ['find', ...words], offer: 'to search for it' }),
  ];
}

/** `1`, `#2`; `config city SF`, `config city=SF`, `config city` */
function impliedVerb(word: string, next: string, { path }: CliCommand): string | undefined {
  if (path === '' && ROW.test(word)) return `lookup ${word}`;
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

/** `--city SF find nopa`, `-v` */
const optionFirst: SlipRule = (_word, { words, program }) => {
  if (words.length === 1 && words[0] === '-v') return [{ words: ['--version'], offer: MEANT }];
  const verb = beforeEnd(words).find((word) => verbFor(word, program) !== undefined);
  return [
    verb === undefined
      ? { words: ['find', ...words], offer: MEANT }
      : { words: [verb, ...words.toSpliced(words.indexOf(verb), 1)], note: `${verb} first` },
  ];
};

export const VERB_RULES: SlipRules = {
  'commander.unknownCommand': unknownCommand,
  'option first': optionFirst,
};
