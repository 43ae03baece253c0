import type { App } from '../../app/app.ts';
import { placeForHint } from '../../app/city.ts';
import { interruptible } from '../../app/keys.ts';
import { keepResults, lastSearch, serviceName } from '../../app/last-results.ts';
import { openService, type Service } from '../../app/service.ts';
import { TOOLS } from '../../client/tools.ts';
import type { FindQuery, Level } from '../../client/types.ts';
import { AppError, attempt } from '../../errors.ts';
import { again, type Command, type Hint, restaurant, type Word } from '../../hint.ts';
import { recordOf, savedIfReadable } from '../../lists/saved.ts';
import { plural } from '../../util/format.ts';
import { readQuery } from '../find/query.ts';
import { explainEmpty, partialText, RESULT_FLAGS, type Refinement, refine } from '../find/refine.ts';
import { showCard, type Visit } from './card.ts';
import { choose, openChooser } from './choose.ts';
import type { Menu } from './menu.ts';
import { choicesOf } from './rows.ts';

export interface PickOptions extends Refinement {
  readonly city?: string;
  readonly fields?: Level;
}

interface PickVisit extends Visit {
  readonly options: PickOptions;
  readonly menu: Menu;
}

export function openVisit(app: App, options: PickOptions): PickVisit {
  const saved = savedIfReadable(app).map(recordOf);
  let service: Promise<Service> | undefined;
  const ids = new Set(choicesOf(saved).map(({ id }) => id));
  const last = refine(rowsOfLastSearch(app), options);
  const menu: Menu = {
    title: 'last search and saved restaurants',
    message: undefined,
    results: [],
    known: choicesOf([...last, ...refine(saved, options)]),
    saved: ids,
    city: options.city ?? app.settings.get('city'),
    canSearch: true,
  };
  return {
    ...{ app, options, menu, saved: ids, commands: [], fields: options.fields },
    chooser: openChooser(app),
    service: () => {
      service ??= openService(app);
      return service;
    },
  };
}

function rowsOfLastSearch(app: App): readonly unknown[] {
  const last = lastSearch(app);
  return last !== undefined && last.endpoint === attempt(() => serviceName(app)) ? last.rows : [];
}

const CHOOSE_AGAIN: Hint = { text: 'to choose again', command: again() };

/** @returns the ID of the restaurant that the person left with */
export const pickOne = (visit: PickVisit, words: readonly string[]): Promise<string | undefined> =>
  interruptible(() => searchAndChoose(visit, words), CHOOSE_AGAIN);

async function searchAndChoose(visit: PickVisit, words: readonly string[]): Promise<string | undefined> {
  const { app, menu, chooser, options } = visit;
  if (words.length > 0) await search(visit, await readQuery(app, words, options.city));
  for (;;) {
    const choice = await choose(chooser, menu, (typed) => searchTyped(visit, typed));
    if (choice === undefined) return undefined;
    if ((await showCard(visit, choice)) === 'quit') {
      const { id } = choice;
      const isShown = visit.commands.some((command) => 'words' in command && command.words.includes(id));
      if (!isShown) visit.commands.push(restaurant('lookup', id));
      return id;
    }
    menu.message = undefined;
  }
}

/** Reports a failure, after which the menu stays. */
async function searchTyped(visit: PickVisit, typed: string): Promise<void> {
  const { app, menu } = visit;
  try {
    await search(visit, await readQuery(app, [typed], menu.city));
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted' || error.kind === 'auth') throw error;
    menu.message = error.message;
  }
}

async function search({ app, menu, options, service, commands }: PickVisit, query: FindQuery): Promise<void> {
  const { name, city } = query;
  const opened = await service();
  const { value } = await app.notes.withSpinner(
    `searching ${name} in ${city}`,
    opened.call(TOOLS.find, query),
  );
  const rows = refine(value.results, options);
  Object.assign(menu, { results: choicesOf(rows), city });
  if (rows.length > 0) {
    keepResults(app, query, rows, true);
    menu.title = `"${name}" in ${city}: ${plural(menu.results.length, 'match', 'matches')}`;
  } else menu.title = `no matches for ${name} in ${city}`;
  const isEmpty = rows.length === 0 && value.results.length > 0;
  const empty = isEmpty ? explainEmpty(value.results, options) : undefined;
  const said = [empty, partialText(value.output, options)].filter((text) => text !== undefined);
  menu.message = said.length === 0 ? undefined : said.join('; ');
  commands.push(restaurant('find', name, '--city', city, ...typedFilters(app)));
}

const typedFilters = ({ program }: App): Word[] =>
  program.line.options.flatMap(({ flag, value }) =>
    RESULT_FLAGS.includes(flag) && value !== undefined ? [flag, value] : [],
  );

/** The search that needs no terminal. */
export function searchCommand(app: App, words: readonly string[], city: string | undefined): Command {
  const place = city === undefined ? placeForHint(app, words) : { name: words.join(' '), city };
  const options = place.city === undefined ? [] : ['--city', place.city];
  return restaurant('find', place.name, ...options, ...typedFilters(app));
}

/**
 * Lets a person choose the restaurant of a command that was typed without one.
 * @param from where from; default: the last search, the saved restaurants, and searches
 * @returns its ID; undefined if the person leaves
 */
export async function chooseId(app: App, from?: 'saved'): Promise<string | undefined> {
  const visit = openVisit(app, {});
  const { menu } = visit;
  const savedOnly = { title: 'saved restaurants', known: menu.known.filter(({ id }) => menu.saved.has(id)) };
  const shown: Menu = from === 'saved' ? { ...menu, ...savedOnly, canSearch: false } : menu;
  const choice = choose(visit.chooser, shown, (typed) => searchTyped(visit, typed));
  return (await interruptible(() => choice, CHOOSE_AGAIN))?.id;
}
