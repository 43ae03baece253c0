import { requireEndpoint } from '../../app/address.ts';
import { refuseKey } from '../../app/api-key.ts';
import type { App } from '../../app/app.ts';
import type { FindQuery } from '../../client/types.ts';
import { usage } from '../../errors.ts';
import { again, restaurant } from '../../hint.ts';
import type { Refinement } from './refine.ts';

/** Reads and checks the query. @throws {AppError} `no_service`, `usage` */
export async function readQuery(
  app: App,
  words: readonly string[],
  { city, sort, near }: Pick<Refinement, 'sort' | 'near'> & { readonly city?: string },
): Promise<FindQuery> {
  if (sort === 'distance' && near === undefined) {
    throw usage('--sort distance needs a location', { command: again({ '--near': '37.77,-122.43' }) });
  }
  const name = words.join(' ');
  if (name.trim() === '') {
    throw usage('the name is empty', { command: restaurant('find', 'Nopa', '--city', 'San Francisco') });
  }
  refuseKey(app, 'an argument', [...words, city ?? '']);
  // A name that follows the command needs no check.
  if (app.program?.words.join('\n').includes(['find', ...words].join('\n')) === false)
    (await import('../../cli/stray-words.ts')).checkAdjacent(app.program, words);
  if (app.globals.demo !== true) requireEndpoint(app);
  if (city !== undefined) return { name, city };
  const saved = app.settings.get('city');
  const defaultCity = words.length > 1 ? undefined : (saved ?? (await promptForCity(app)));
  if (defaultCity !== undefined) return { name, city: defaultCity };
  // A damaged config file may contain the city.
  if (words.length === 1) app.config.file();
  throw (await import('./suggest.ts')).noCityError(app, words);
}

async function promptForCity(app: App): Promise<string | undefined> {
  if (!app.terminal.canPrompt || app.terminal.wantsJson) return undefined;
  const { prompt } = app.context;
  const city = (await prompt.text('City', 'San Francisco')).trim();
  if (city === '') return undefined;
  const reply = await prompt.text(`Save ${city} as the default city?`, 'y/N');
  if (/^y(es)?$/i.test(reply.trim())) {
    await app.config.update((file) => {
      file.settings = { ...file.settings, city };
    });
    await app.notes.note('saved; restaurant config unset city removes it');
  }
  return city;
}
