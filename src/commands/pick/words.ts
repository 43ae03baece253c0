import type { App } from '../../app/app.ts';

/** At a terminal, a person may choose instead of typing an ID. @returns none if the person leaves */
export async function chosenWords(
  app: App,
  words: readonly string[],
  from?: 'saved',
): Promise<readonly string[]> {
  if (words.length > 0) return words;
  const { chooseId } = await import('./visit.ts');
  return [await chooseId(app, from)].flatMap((id) => id ?? []);
}
