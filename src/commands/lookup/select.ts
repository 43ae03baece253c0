import { hasSampleData, needsDemo } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { isVersus, nameSearches, namesIn, surePlace } from '../../app/city.ts';
import { refuseKey } from '../../app/credentials.ts';
import {
  lastRestaurants,
  lastRows,
  type NumberedRows,
  restaurantsOf,
  serviceName,
  stayWithDemo,
} from '../../app/last-results.ts';
import { exampleSearch, searchFirst, seenResults } from '../../app/seen-results.ts';
import { DEMO } from '../../app/target.ts';
import { AppError, type Code, failure, usage } from '../../errors.ts';
import { type Advice, adviceOf, again, type Hint, restaurant } from '../../hint.ts';
import { foldLetters, hasWords, isBeginning, isNearName, isSameName } from '../../util/fold.ts';
import { plural } from '../../util/format.ts';
import { checkId, isId } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import { parseUrl } from '../../util/url.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

export interface Selection {
  readonly ids: readonly string[];
  /** The rows that the words refer to. */
  readonly search?: NumberedRows | undefined;
}

const MAX_RANGE = 100;
const MIN_BEGINNING = 6;
const MAX_NAMED = 3;

/** The usual form of an id, which is not the beginning of another. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** At a terminal, a person may choose instead of typing an ID. @returns none if the person leaves */
export async function chosenWords(
  app: App,
  words: readonly string[],
  from?: 'saved',
): Promise<readonly string[]> {
  if (words.length > 0) return words;
  if (needsDemo(app)) await stayWithDemo(app, []);
  const { chooseId } = await import('../pick/visit.ts');
  return [await chooseId(app, from)].flatMap((id) => id ?? []);
}

/**
 * Resolves what a person types for restaurants: rows of the last table, ids and names, and the beginnings of both.
 * @param saved the only ones that can be meant. Default: the rows, saved restaurants, and ids seen before
 * @throws {AppError} `usage` for a word that means several or none; `not_found` for a missing row, or one that is not saved
 */
export async function selectRestaurants(
  app: App,
  words: readonly string[],
  saved?: readonly Named[],
): Promise<Selection> {
  const rows = lastRestaurants(app);
  const known = saved ?? rows;
  let search: NumberedRows | undefined;
  const idOfNumber = (number: number): string => {
    search ??= requireLastRows(app, saved !== undefined);
    return idOfRow(search, number);
  };
  const ids: string[] = [];
  // Two restaurants to compare may be of two searches.
  const isComparison = namesIn(words).length > 1;
  const parts = partsOf(words, known);
  for (const word of parts) {
    const meant = rowsMeant(app, word, rows, saved);
    const isOther = isComparison && meant.some((at) => isOfEarlierSearch(app, word, rows[at - 1]));
    const numbers = isOther ? [] : meant;
    const found = numbers.length > 0 ? numbers.map(idOfNumber) : [await idOf(app, word, words, saved)];
    if (saved !== undefined && !found.every((id) => saved.some((one) => one.id === id)))
      throw partOfName(word, saved, words, 'not_found') ?? notSaved(word);
    ids.push(...found);
  }
  if (isVersus(words)) refuseOneTwice(app, parts, new Set(ids));
  return { ids: [...new Set(ids)], search };
}

/**
 * Suggests what a command needs before it can take words for restaurants; undefined if nothing.
 * @param isGuess whether the words may be something else, so that one without a digit is not an id
 */
export async function stepBefore(
  app: App,
  words: readonly string[],
  isGuess: boolean,
  readSaved?: (app: App) => readonly Named[],
): Promise<Hint | undefined> {
  if (words.length === 0 || words.includes('-')) return undefined;
  // A suggestion without a service ends in --demo.
  if (app.settings.hasNoService) app.program.setOptionValue('demo', true);
  try {
    const { ids } = await selectRestaurants(app, words, readSaved?.(app));
    const isUnknown = isGuess && ids.some((id) => words.includes(id) && !/\d/.test(id));
    return isUnknown ? nameHint(app, words) : undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.details.hint;
  }
}

/** @throws {AppError} `usage` if different names to compare mean one restaurant */
function refuseOneTwice(app: App, parts: readonly string[], ids: ReadonlySet<string>): void {
  const names = new Set(parts.map(foldLetters));
  const [first = ''] = parts;
  if (names.size < 2 || ids.size > 1 || !parts.every((part) => /\p{L}/u.test(part) && !ids.has(part))) return;
  const all = parts.map((part) => `'${part}'`).join(' and ');
  throw usage(`${all} are one restaurant here`, nameSearches(app, [first]));
}

/** The rows that a word means, by number or name. */
function rowsMeant(app: App, word: string, rows: readonly Named[], saved?: readonly Named[]): number[] {
  // The name of a restaurant may be a number, and so may the id of a saved one.
  const isWhole =
    saved === undefined
      ? rows.some(({ name }) => name === word)
      : saved.some(({ id, name }) => id === word || name === word);
  const numbers = isWhole ? [] : rowNumbers(word, rows);
  if (numbers.length > 0) return numbers;
  refuseKey(app, 'an ID', [word]);
  if (!isWhole) refuseAll(app, word, saved);
  return saved === undefined ? rowsNamed(word, rows) : [];
}

/** Whether a restaurant of an earlier search has the name, of which the row only has more. */
function isOfEarlierSearch(app: App, word: string, row: Named | undefined): boolean {
  if (row === undefined || !/\p{L}/u.test(word)) return false;
  const { name } = row;
  const seen = restaurantsOf({ rows: seenResults(app).restaurants });
  return !isSameName(word, name) && seen.some((one) => isSameName(word, one.name));
}

const NUMBERS = /^[#\d][#\d,\s-]*$/;
const LIST = /^[^\s,]+(?:,[^\s,]*)+$/;

/** Splits `1,2` and `#1`. A name may be typed without quotes, and may contain a comma. */
function partsOf(words: readonly string[], known: readonly Named[]): string[] {
  const isName = (text: string): boolean => withName(text, known).length > 0;
  const line = words.join(' ');
  if (words.length > 1 && isName(line)) return [line];
  const names = namesIn(words).flatMap((each) => (isName(each.join(' ')) ? [each.join(' ')] : each));
  return names.flatMap((word) => {
    if (!NUMBERS.test(word) && (!LIST.test(word) || isName(word))) return [word];
    const parts = word.split(/[,\s]+/).map((part) => part.replace(/^#(?=\d)/, ''));
    return parts.filter((part) => part !== '');
  });
}

/** The rows of `2`, `1-3`, or `1..3`; none for any other word. */
function rowNumbers(word: string, rows: readonly Named[]): number[] {
  const range = /^(\d+)(?:-|\.\.)(\d+)$/.exec(word);
  if (range !== null) return rowsOfRange(range);
  // A larger number is a row that no table has, or an id of digits.
  const isLarge = /^\d{5,9}$/.test(word) && rows.length > 0 && rows.every(({ id }) => !id.startsWith(word));
  return isLarge || /^\d{1,4}$/.test(word) ? [Number(word)] : [];
}

function rowsOfRange([word, from, to]: RegExpExecArray): number[] {
  const [first, last] = [Number(from), Number(to)];
  if (first < 1 || last < first || last - first >= MAX_RANGE) {
    throw usage(`'${word}' is not a range of rows`, {
      text: `a range ascends and has at most ${MAX_RANGE} rows`,
      command: restaurant('lookup', '1-3'),
    });
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** The row with a name; none for the id of a row, which may be a part of another one's name. */
function rowsNamed(word: string, rows: readonly Named[]): number[] {
  if (rows.some(({ id }) => id === word)) return [];
  const row = onlyOne(word, withName(word, rows));
  return row === undefined ? [] : [rows.indexOf(row) + 1];
}

async function idOf(
  app: App,
  word: string,
  words: readonly string[],
  saved: readonly Named[] | undefined,
): Promise<string> {
  if (saved !== undefined) return onlyOne(word, matching(word, saved))?.id ?? word;
  if (UUID.test(word)) return word;
  const { savedIfReadable } = await import('../../lists/saved.ts');
  const all = savedIfReadable(app);
  const seen = [...all, ...restaurantsOf({ rows: seenResults(app).restaurants })];
  const distinct = [...new Map(seen.map((one) => [one.id, one])).values()];
  if (distinct.some(({ id }) => id === word)) return word;
  // Two restaurants to compare may be of two searches.
  const isOneName = namesIn(words).length === 1;
  const one =
    onlyOne(word, withName(word, isOneName ? all : distinct)) ?? onlyOne(word, withId(word, distinct));
  if (one !== undefined) return one.id;
  const { isFile, LIST_NAME } = await import('../../app/input.ts');
  const isPath = /[/\\]/.test(word) || LIST_NAME.test(word);
  if (isPath && isFile(app, word)) {
    const rows = { text: 'to look up its rows', command: restaurant('enrich', word) };
    throw usage(`'${word}' is a file, not a restaurant`, LIST_NAME.test(word) ? rows : undefined);
  }
  return checkedId(app, word, words, isOneName ? lastRestaurants(app) : distinct);
}

/** The one with the id, else those whose id begins with the word, as in git. */
function withId<T extends Named>(word: string, all: readonly T[]): T[] {
  const same = all.filter(({ id }) => id === word);
  return same.length > 0 || word.length < MIN_BEGINNING ? same : all.filter(({ id }) => id.startsWith(word));
}

const hasIdMark = (word: string): boolean => isId(word) && /[-_]/.test(word);

/** Those with the name, else those whose name begins with the word. */
function withName<T extends Named>(word: string, all: readonly T[]): T[] {
  const wanted = foldLetters(word).trim();
  // An ID may be like a name but for its hyphens.
  const ways: readonly ((name: string) => boolean)[] = [
    (name) => foldLetters(name).trim() === wanted,
    (name) => (hasIdMark(word) ? foldLetters(name).startsWith(wanted) : isSameName(word, name)),
    (name) => !hasIdMark(word) && isBeginning(word, name),
  ];
  const found = ways.map((isMeant) => () => all.filter(({ name }) => isMeant(name)));
  return found.reduce<T[]>((before, find) => (before.length > 0 ? before : find()), []);
}

export function matching<T extends Named>(word: string, all: readonly T[]): T[] {
  const ids = withId(word, all);
  return ids.length > 0 ? ids : withName(word, all);
}

/** @throws {AppError} `usage` for several */
function onlyOne<T extends Named>(word: string, found: readonly T[]): T | undefined {
  const [first, ...others] = found;
  if (first === undefined || others.length === 0) return first;
  const { id } = found.find((one) => isId(one.id)) ?? first;
  throw usage(`'${word}' matches ${found.length} restaurants: ${listOf(found)}`, {
    command: again({}, { operands: [id] }),
  });
}

function listOf(found: readonly Named[]): string {
  const named = found.slice(0, MAX_NAMED).map(({ id, name }) => `${cleanLine(name)} (${cleanLine(id)})`);
  const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : '';
  return named.join(', ') + more;
}

/**
 * The error for a text with which no name begins, if names contain its words. An ID may have digits and hyphens, too.
 * @param operands of the line, which contain the text
 */
export function partOfName(
  text: string,
  known: readonly Named[],
  operands: readonly string[],
  code: Code = 'usage',
): AppError | undefined {
  const found = /^[\p{L}\p{M}\s'’.&]+$/u.test(text) ? known.filter(({ name }) => hasWords(text, name)) : [];
  if (found.length === 0) return undefined;
  const hint = didYouMean(found, text, operands);
  return failure(code, `no name begins with '${text}'; it is in ${listOf(found)}`, hint);
}

/** Suggests the line with a name in place of a text. */
const didYouMean = (found: readonly Named[], text: string, operands: readonly string[]): Advice[] =>
  [...new Set(found.map(({ name }) => name))].slice(0, 2).map((name, index) => ({
    text: index === 0 ? 'did you mean' : 'or',
    command: again(
      {},
      { operands: operands.includes(text) ? operands.map((each) => (each === text ? name : each)) : [name] },
    ),
  }));

export const notSaved = (word: string): AppError =>
  failure('not_found', `'${word}' is not saved`, { text: 'to list them', command: restaurant('saved') });

/** @throws {AppError} `usage` for `all`, which may also be a part of a name */
function refuseAll(app: App, word: string, saved: readonly Named[] | undefined): void {
  if (word.toLowerCase() !== 'all') return;
  const last = Math.min(lastRestaurants(app).length, 5);
  const rows =
    last === 0
      ? { text: 'search first', command: exampleSearch(app) }
      : { text: 'for the first rows', command: again({}, { operands: [last === 1 ? '1' : `1-${last}`] }) };
  throw usage(
    `'${word}' is not a restaurant ID`,
    saved === undefined ? rows : { text: 'to list those that are saved', command: restaurant('saved') },
  );
}

/** Checks a word that nothing seen has as its id. @throws {AppError} `usage` for a name */
function checkedId(app: App, word: string, words: readonly string[], known: readonly Named[]): string {
  const names = namesIn(words).map((each) => each.join(' '));
  const isKnown = (each: string) => /\d/.test(each) || withName(each, known).length > 0;
  const unknown = names.filter((name) => !isKnown(name));
  // Words are one name if none of them means a restaurant.
  const oneName = words.some(isKnown) ? [word] : words;
  const part = partOfName(names.length > 1 ? word : oneName.join(' '), known, words);
  if (part !== undefined) throw part;
  // IDs of the sample data have digits.
  const looksLikeName =
    /\s/.test(word.trim()) || /^\p{Lu}\p{Ll}+$/u.test(word) || (hasSampleData(app) && !/\d/.test(word));
  // IDs may be many, and most of them have digits, which names of cities do not.
  const mayBeCity = names.length === 1 && !/\d/.test(word);
  const place = mayBeCity ? surePlace(words, seenResults(app)) : undefined;
  if (place !== undefined && ` ${place.city} `.includes(` ${word} `))
    throw usage(`'${place.city}' is a city, not a restaurant ID`, nameHint(app, [place.name]));
  if (!looksLikeName || word === 'undefined' || word === 'null') return checkId(word);
  const searched = names.length > 1 ? unknown.join(',\n').split('\n') : oneName;
  const then = names.length > 1 && unknown.length === 1 ? [{ text: 'then', command: again() }] : [];
  throw usage(
    `'${namesIn(searched)[0]?.join(' ')}' is a name, not a restaurant ID, and is not in your last search`,
    [...adviceOf(nameHint(app, searched)), ...then],
  );
}

/** The hint for a word that no restaurant has as its id: a similar name, else the rows, else a search. */
export function nameHint(app: App, words: readonly string[]): Hint {
  const word = words.join(' ');
  const rows = lastRestaurants(app);
  const near = rows.filter(({ name }) => isNearName(word, name));
  if (near.length > 0) return didYouMean(near, word, words);
  const last = { text: 'to show the rows of your last search', command: restaurant('last') };
  const isLikeId = /\d/.test(word) && !/\s/.test(word);
  return isLikeId && rows.length > 0 ? last : nameSearches(app, words);
}

function idOfRow({ rows, query }: NumberedRows, number: number): string {
  const id = restaurantsOf({ rows })[number - 1]?.id ?? '';
  const what = query === undefined ? 'the list of saved restaurants' : 'the last search';
  // The id comes from the service, and a hint may contain it.
  if (id !== '') return checkId(id, `row ${number} of ${what}`);
  const message = `row ${number}: the last table had ${plural(rows.length, 'row')}`;
  if (query === undefined)
    throw failure('not_found', message, { text: 'to show it', command: restaurant('saved') });
  throw failure('not_found', message, [
    { text: 'to show all results', command: restaurant('last') },
    { text: 'to search again', command: restaurant('find', query.name, '--city', query.city) },
  ]);
}

function requireLastRows(app: App, ofSaved: boolean): NumberedRows {
  const last = lastRows(app);
  if (last === undefined) {
    const list = { text: 'to list them with their numbers', command: restaurant('saved') };
    throw failure('not_found', 'no earlier search', ofSaved ? list : searchFirst(app));
  }
  const { endpoint, query } = last;
  if (endpoint === serviceName(app)) return last;
  const where = endpoint === DEMO ? 'the embedded sandbox' : (parseUrl(endpoint)?.host ?? 'another one');
  const hint =
    query === undefined
      ? { text: 'to show what is saved for this one', command: restaurant('saved') }
      : { text: 'to search this one', command: restaurant('find', query.name, '--city', query.city) };
  throw failure('not_found', `the last table is from another service: ${where}`, hint);
}
