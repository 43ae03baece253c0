import { needsDemo } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { stayWithDemo } from '../../app/last-results.ts';

/** At a terminal, a person may choose instead of typing an ID. @returns none if the person leaves */
export async function chosenWords(
  app: App,
  words: readonly string[],
  from?: 'saved',
): Promise<readonly string[]> {
  if (words.length > 0) return words;
  if (needsDemo(app)) await stayWithDemo(app, []);
  const { chooseId } = await import('./visit.ts');
  return [await chooseId(app, from)].flatMap((id) => id ?? []);
}
