import { requireEndpoint } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { CITY_START, valueOption } from '../../cli/synonyms.ts';
import type { FindQuery } from '../../client/types.ts';
import { usage } from '../../errors.ts';
import { again, restaurant, slot } from '../../hint.ts';
import type { Refinement } from './refine.ts';

interface QueryOptions extends Pick<Refinement, 'sort' | 'near'> {
  readonly city?: string;
}

/** Reads and checks the query. @throws {AppError} `no_service`, `usage` */
export async function readQuery(
  app: App,
  words: readonly string[],
  { city, sort, near }: QueryOptions,
): Promise<FindQuery> {
  if (sort === 'distance' && near === undefined) {
    throw usage('--sort distance needs a location', { command: again({ '--near': '37.77,-122.43' }) });
  }
  const name = words.join(' ');
  if (name.trim() === '') {
    throw usage('the name is empty', { command: restaurant('find', 'Nopa', '--city', 'San Francisco') });
  }
  if ([...words, city ?? ''].some((value) => app.secrets.redact(value) !== value)) {
    throw usage('an argument looks like an API key; nothing was sent', {
      text: 'to save a key',
      command: restaurant('login'),
    });
  }
  checkAdjacent(app, words);
  if (app.globals.demo !== true) requireEndpoint(app);
  if (city !== undefined) return { name, city };
  const saved = app.settings.get('city');
  const defaultCity = words.length > 1 ? undefined : (saved ?? (await promptForCity(app)));
  if (defaultCity !== undefined) return { name, city: defaultCity };
  // A damaged config file may contain the city.
  if (words.length === 1) app.config.file();
  throw (await import('./suggest.ts')).noCityError(app, words);
}

/** A list of columns, or a jq filter. */
const OPTION_VALUE = /^(?:\w+(?:,\w+)+|[.[{].*)$/s;

/** Words that do not belong to the name. */
interface Leftover {
  readonly name: readonly string[];
  readonly rest: string;
  /** The word before them. */
  readonly before: string;
}

/** @param typed the whole command line */
function leftoverOf(words: readonly string[], typed: readonly string[]): Leftover | undefined {
  const indexOf = (part: readonly string[]): number =>
    typed.findIndex((_, start) => part.every((word, index) => typed[start + index] === word));
  let count = words.length;
  while (count > 1 && indexOf(words.slice(0, count)) === -1) count -= 1;
  const name = words.slice(0, count);
  const [first = '', ...others] = words.slice(count);
  const start = indexOf(name);
  if (count === words.length) {
    const [word = '', ...after] = words;
    const before = typed[start - 1] ?? '';
    const isCity = CITY_START.test(before.replace(/^(?:--city=|-c)/, ''));
    const isValue = isCity || (before.startsWith('-') && OPTION_VALUE.test(word));
    return isValue ? { name: after, rest: word, before } : undefined;
  }
  const at = typed.indexOf(first, start + count);
  const length = others.findIndex((word, index) => typed[at + index + 1] !== word);
  const rest = [first, ...others.slice(0, length === -1 ? others.length : length)].join(' ');
  return { name, rest, before: typed[at - 1] ?? '' };
}

/**
 * Checks that the words stand together. A word after an option is more likely its value, or a part of it.
 * @throws {AppError} `usage` with the command that was probably meant
 */
function checkAdjacent({ program }: App, words: readonly string[]): void {
  if (program === undefined) return;
  const typed = program.words.filter((word) => word !== '--');
  const leftover = leftoverOf(words, typed);
  if (leftover === undefined) return;
  const { name, rest, before } = leftover;
  const operands = [name.length === 0 ? slot('name') : name.join(' ')];
  const option = program.line.options.find(
    ({ value }) =>
      typeof value === 'string' &&
      value !== '' &&
      (before === value || (before.startsWith('-') && before.endsWith(value))),
  );
  if (option !== undefined) {
    const { flag, value } = option;
    throw usage(`unexpected '${rest}' after ${flag} '${value}'`, {
      text: 'quote a value of several words',
      command: again({ [flag]: `${value} ${rest}` }, { operands }),
    });
  }
  const flag = program.longName(before.startsWith('--') ? before : `-${before.at(-1)}`);
  if (flag === '--open' && rest === 'now') {
    throw usage('--open takes no value', {
      text: 'details contain the opening hours',
      command: again({ '--fields': 'standard' }, { operands, without: [flag] }),
    });
  }
  const meant = valueOption(flag, rest);
  if (meant === undefined) {
    throw usage(`unexpected '${rest}' after ${flag}`, {
      text: 'keep the name together',
      command: again({}, { operands: [words.join(' ')] }),
    });
  }
  throw usage(`${flag} takes no value, got '${rest}'`, {
    text: meant === '--jq' ? 'to filter with jq' : 'to choose columns',
    command: again({ [meant]: rest }, { operands, without: ['--quiet'] }),
  });
}

/** Prompts for the city, and offers to save it; undefined if no prompt is possible. */
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
