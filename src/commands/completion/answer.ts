import type { App } from '../../app/app.ts';
import type { CliCommand } from '../../cli/command.ts';
import type { Candidate, Offered } from './candidate.ts';
import { readLine, typed } from './line.ts';
import { offersAt } from './offers.ts';
import { placeOf } from './place.ts';

/** The values of COMP_TYPE with which bash shows a list (bash(1), programmable completion). */
const LISTING = ['!', '?', '@'].map((sign) => String(sign.charCodeAt(0)));

/**
 * What a completion script reads: a line for each candidate, in the form that its shell takes, and a last one,
 * `<tab>files<tab><n>`, where files may stand behind the first n characters of the word; for fish it is
 * `<tab>files<tab><those characters><tab><the path so far>`.
 * @param asked for bash the line up to the cursor, the part that it replaces, and COMP_TYPE; else the words, of which the last one is typed
 */
export async function answer(
  shell: string | undefined,
  asked: readonly string[],
  program: CliCommand,
  app: App,
): Promise<string> {
  if (shell === 'bash') return answerBash(asked, program, app);
  if (shell === 'fish') return answerFish(asked, program, app);
  const { candidates, filesBehind } = await offered(asked.slice(0, -1), asked.at(-1) ?? '', program, app);
  // What _describe takes (zshcompsys).
  const texts = candidates.map(
    ({ value, about }) => `${value.replace(/[\\:]/g, '\\$&')}:${about.replaceAll('\\', '\\\\')}`,
  );
  return lines(texts, filesBehind === undefined ? undefined : String(filesBehind));
}

/** fish gives the last word as it was typed, and completes paths by themselves. */
async function answerFish(asked: readonly string[], program: CliCommand, app: App): Promise<string> {
  const { current } = readLine(asked.at(-1) ?? '');
  const { candidates, filesBehind } = await offered(asked.slice(0, -1), current, program, app);
  const word = [...current];
  const path = filesBehind === undefined ? undefined : word.slice(filesBehind).join('');
  return lines(
    candidates.map(({ value, about }) => `${value}\t${about}`),
    path === undefined ? undefined : `${word.slice(0, filesBehind).join('')}\t${path}`,
  );
}

async function answerBash(
  [line = '', replaced = '', type = '']: readonly string[],
  program: CliCommand,
  app: App,
): Promise<string> {
  const { words, current, raw, quote, redirection } = readLine(line);
  const found = redirection
    ? { candidates: [], filesBehind: 0 }
    : await offered(words.slice(1), current, program, app);
  // bash replaces what stands behind the last = or : alone.
  const kept = raw.endsWith(replaced) ? readLine(raw.slice(0, raw.length - replaced.length)).current : '';
  const matching = found.candidates.filter(({ value }) => value.startsWith(current));
  const texts = matching.map(({ value }) => typed(value.slice(kept.length), quote));
  const listed = LISTING.includes(type) && matching.length > 1;
  const { filesBehind } = found;
  const head = filesBehind === undefined ? undefined : Math.max(0, filesBehind - [...kept].length);
  return lines(listed ? named(texts, matching) : texts, head?.toString());
}

/** Row numbers say nothing by themselves: in a list they stand with the names. */
function named(texts: readonly string[], candidates: readonly Candidate[]): string[] {
  const widest = Math.max(...texts.map((text) => text.length));
  return texts.map((text, index) => {
    const about = candidates[index]?.about ?? '';
    return /^\d+$/.test(text) && about !== '' ? `${text.padEnd(widest)}  (${about})` : text;
  });
}

const lines = (texts: readonly string[], files: string | undefined): string =>
  [...texts, ...(files === undefined ? [] : [`\tfiles\t${files}`])].map((text) => `${text}\n`).join('');

async function offered(
  words: readonly string[],
  current: string,
  program: CliCommand,
  app: App,
): Promise<Offered> {
  try {
    // The service and the profile may stand in the line.
    program.parseOptions([...words]);
  } catch {
    // The line is not complete: that is why somebody asks.
  }
  return offersAt(placeOf(words, current, program), program, app);
}
