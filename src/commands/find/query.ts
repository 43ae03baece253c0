import { isPreview, needsDemo, requireEndpoint } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import type { NameAndCity } from '../../app/city.ts';
import { refuseKey } from '../../app/credentials.ts';
import type { FindQuery } from '../../client/types.ts';
import { usage } from '../../errors.ts';
import { again, restaurant } from '../../hint.ts';
import { foldName } from '../../util/fold.ts';

/** Reads and checks the query. @throws {AppError} `no_service`, `usage` */
export async function readQuery(
  app: App,
  words: readonly string[],
  city: string | undefined,
): Promise<FindQuery> {
  const name = words.join(' ');
  if (name.trim() === '') {
    throw usage('the name is empty', { command: restaurant('find', '--help') });
  }
  refuseKey(app, 'the name or the city', [...words, city ?? '']);
  const query = city === undefined ? await queryWithCity(app, words) : { name, city };
  if (app.globals.demo !== true) requireEndpoint(app);
  return query;
}

/** Finds the city in the words, in the settings, or by asking. @throws {AppError} `usage` */
async function queryWithCity(app: App, words: readonly string[]): Promise<FindQuery> {
  const name = words.join(' ');
  const named = words.some((word) => /[,:=]/.test(word)) ? await placeIn(app, words) : undefined;
  if (named?.isCertain) {
    await noteQuery(app, named);
    return named;
  }
  const saved = app.settings.get('city');
  // A preview cannot show a URL of the embedded sandbox.
  if (saved === undefined && isPreview(app) && app.globals.demo !== true) requireEndpoint(app);
  if (saved !== undefined) return { name, city: saved };
  // A damaged config file may contain the city.
  app.config.file();
  const query = await askForCity(app, words);
  if (query === undefined) throw (await import('./suggest.ts')).noCityError(app, words);
  if (needsDemo(app)) throw (await import('./suggest.ts')).noServiceError(query);
  return query;
}

/**
 * Returns the query with the city of a reply; undefined if nobody can or does reply. The name loses only the city that the
 * question offered: another last word may belong to it.
 */
async function askForCity(app: App, words: readonly string[]): Promise<FindQuery | undefined> {
  const { asksForCity } = await import('../../app/city.ts');
  if (!asksForCity(app)) return undefined;
  const place = await placeIn(app, words);
  const city = await promptForCity(app, place?.city);
  if (city === '') return undefined;
  if (place === undefined || foldName(city) !== foldName(place.city)) return { name: words.join(' '), city };
  if (!needsDemo(app)) await noteQuery(app, { name: place.name, city });
  return { name: place.name, city };
}

/** Says which words were taken as the name, and which as the city. */
const noteQuery = (app: App, { name, city }: FindQuery): Promise<void> =>
  app.notes.note({ text: 'taken as', command: again({ '--city': city }, { operands: [name] }) });

async function placeIn(app: App, words: readonly string[]): Promise<NameAndCity | undefined> {
  const { readPlace } = await import('../../app/city.ts');
  const { seenResults } = await import('../../app/seen-results.ts');
  return readPlace(words, () => seenResults(app));
}

/** @param likely the city that the words probably contain, which an empty reply accepts */
async function promptForCity(app: App, likely: string | undefined): Promise<string> {
  const { prompt } = app.context;
  const question =
    likely === undefined ? prompt.text('City', 'San Francisco') : prompt.text(`City [${likely}]`);
  const city = (await question).trim() || likely;
  if (city === undefined) return '';
  if (needsDemo(app)) return city;
  const reply = await prompt.text(`Save ${city} as the default city?`, 'y/N');
  if (/^y(es)?$/i.test(reply.trim())) {
    await app.config.update((file) => {
      file.settings = { ...file.settings, city };
    });
    await app.notes.note('saved; restaurant config unset city removes it');
  }
  return city;
}
