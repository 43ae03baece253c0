import { CommanderError } from 'commander';
import { isKeyOption, isOptionLike } from './check.ts';
import { LineError } from './command.ts';
import { OPTION_RULES } from './slips/options.ts';
import { EXAMPLE, MEANT, type Reading, type SlipRules, type TriedLine } from './slips/reading.ts';
import { VALUE_RULES } from './slips/values.ts';
import { VERB_RULES } from './slips/verbs.ts';

const RULES: SlipRules = { ...VERB_RULES, ...OPTION_RULES, ...VALUE_RULES };

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
async function readingsOf(line: TriedLine): Promise<readonly Reading[]> {
  const readings = wrongWords(line).map((word) => RULES[wrongWith(line)]?.(word, line) ?? []);
  return (await Promise.all(readings)).flat().filter((reading) => reading !== undefined);
}

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
): Promise<{ readonly line: TriedLine; readonly notes: readonly string[]; readonly hasExample: boolean }> {
  const notes: string[] = [];
  let line = typed;
  let hasExample = false;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const readings = await readingsOf(line);
    const meant = readings.find(({ offer }) => offer === undefined) ?? (mayGuess ? readings[0] : undefined);
    if (meant === undefined) break;
    notes.push(meant.note ?? '');
    hasExample ||= meant.offer === EXAMPLE;
    line = await tryLine(meant.words);
  }
  return { line, notes, hasExample };
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
  for (const { words, offer: text = '' } of await readingsOf(typed)) {
    const isAlternative = offers.length < MAX_OFFERS && text === MEANT && offers[0]?.text === MEANT;
    if (offers.length > 0 && !isAlternative) continue;
    const { line, hasExample } = await rewritten(await tryLine(words), tryLine, true);
    if (line.error === undefined) offers.push({ line, text: hasExample ? EXAMPLE : text });
  }
  return offers;
}
