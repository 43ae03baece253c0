import type { App } from '../../app/app.ts';
import { hintCity, type Seen, seenResults } from '../../app/last-results.ts';
import { ANY_NAME } from '../../cli/synonyms.ts';
import { readWish, type Wish } from '../../cli/wish.ts';
import type { FindQuery } from '../../client/types.ts';
import { type AppError, usage } from '../../errors.ts';
import { type Advice, again, type Message, type Options, restaurant } from '../../hint.ts';

/** `Nopa --city SF` as one word. */
const QUOTED_CITY = /^(.*\S)\s+(?:--city[= ]|-c )\s*([^\s-][^-]*)$/;

/** The error for a search without a city, with the search that its words ask for. */
export function noCityError(app: App, words: readonly string[]): AppError {
  const [, quotedName, quotedCity] = QUOTED_CITY.exec(words.join(' ')) ?? [];
  if (quotedName !== undefined && quotedCity !== undefined) {
    const command = again({ '--city': quotedCity }, { operands: [quotedName] });
    return usage('--city is inside the quotes', { command });
  }
  const seen = seenResults(app);
  const city = hintCity(app, seen);
  const wish = readWish(words, false, seen);
  const byWish = wishAdvice(wish, wish.city ?? city);
  if (words.length > 1) {
    const message = `without --city, find takes one name, not ${words.length} words: ${words.join(' ')}`;
    return usage(message, isUnderstood(wish, words) ? byWish : splitAdvice(words, city === undefined));
  }
  const byName = { command: again({ '--city': city ?? '' }) };
  const others = isFiltered(wish) ? [{ ...byName, text: 'or by name' }] : [];
  const example = wish.city ?? city ?? '';
  return usage('find needs a city', [
    isUnderstood(wish, words) ? byWish : byName,
    ...others,
    { text: 'to set a default city', command: restaurant('config', 'set', 'city', example) },
  ]);
}

/** The last word may be the city, or a part of the name. */
function splitAdvice(words: readonly string[], hasDefault: boolean): readonly Advice[] {
  const [last = ''] = words.slice(-1);
  const split: Advice = { command: again({ '--city': last }, { operands: [words.slice(0, -1).join(' ')] }) };
  const whole: Advice = { command: again({}, { operands: [words.join(' ')] }) };
  return hasDefault ? [whole, { ...split, text: 'or' }] : [split];
}

export function nothingFound(app: App, { name }: FindQuery): Message {
  const seen: Seen = seenResults(app);
  const wish = readWish([name], true, seen);
  if (!isUnderstood(wish, [name])) return 'try a shorter name, and check the city name';
  return { ...wishAdvice(wish, wish.city), text: 'try' };
}

const isFiltered = ({ options }: Wish): boolean => Object.keys(options).length > 0;

const isUnderstood = (wish: Wish, words: readonly string[]): boolean =>
  isFiltered(wish) || wish.city !== undefined || (wish.name || ANY_NAME) !== words.join(' ');

function wishAdvice({ name, options }: Wish, city: string | undefined): Advice {
  const place: Options = city === undefined ? {} : { '--city': city };
  return { command: again({ ...place, ...options }, { operands: [name || ANY_NAME] }) };
}
