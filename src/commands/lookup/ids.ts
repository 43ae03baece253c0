import { refuseKey } from '../../app/api-key.ts';
import type { App } from '../../app/app.ts';
import { cityForHint } from '../../app/city.ts';
import { needsDemo } from '../../app/demo.ts';
import {
  lastRestaurants,
  lastRows,
  lastSearch,
  type NumberedRows,
  restaurantsOf,
  serviceName,
} from '../../app/last-results.ts';
import { exampleSearch } from '../../app/seen-results.ts';
import { DEMO } from '../../app/target.ts';
import { failure, usage } from '../../errors.ts';
import { again, type Command, type Hint, restaurant } from '../../hint.ts';
import { CsvReader, DELIMITERS, decodeRecord } from '../../util/csv.ts';
import { foldLetters, isNearName } from '../../util/fold.ts';
import { plural } from '../../util/format.ts';
import { isObject, tryParseJson } from '../../util/json.ts';
import { checkId } from '../../util/restaurant.ts';
import { parseUrl } from '../../util/url.ts';

export interface Selection {
  readonly ids: readonly string[];
  /** The rows that the words refer to. */
  readonly search?: NumberedRows | undefined;
}

const ROW = /^\d{1,4}$/;
/** A row number that no table has, or an id of digits. */
const LARGE_NUMBER = /^\d{5,9}$/;
const RANGE = /^(\d+)-(\d+)$/;
const MAX_RANGE = 100;

/** The usual form of an id, which is not the beginning of another. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Resolves rows, names, and beginnings of ids. A row or a whole id needs no other file. */
export async function selectRestaurants(app: App, words: readonly string[]): Promise<Selection> {
  const { parts, search } = resolveRows(app, words);
  const ids: string[] = [];
  for (const { id, word } of parts) ids.push(id ?? (await idOfWord(app, word)));
  return { ids: [...new Set(ids)], search };
}

/** A word is a row of the last results, by number or name, or something else. */
interface Part {
  readonly word: string;
  readonly id?: string;
}

function resolveRows(app: App, words: readonly string[]) {
  const rows = lastRestaurants(app);
  let search: NumberedRows | undefined;
  const rowId = (number: number): string => {
    search ??= requireLastRows(app);
    return idOfRow(app, search, number);
  };
  const whole = words.length > 1 ? rowsNamed(words.join(' '), rows) : [];
  const typed = whole.length > 0 ? [words.join(' ')] : words.flatMap((word) => partsOf(word, rows));
  const parts = typed.flatMap((word): Part[] => {
    const numbers = rowsOfWord(word, rows);
    if (numbers.length === 0) refuseKey(app, 'an ID', [word]);
    const isWhole = UUID.test(word) || rows.some(({ id }) => id === word);
    return numbers.length === 0
      ? [isWhole ? { word, id: word } : { word }]
      : numbers.map((number) => ({ word, id: rowId(number) }));
  });
  return { parts, search };
}

/** @throws {AppError} `usage` for a name that nothing has */
async function idOfWord(app: App, word: string): Promise<string> {
  const { completeId, savedId } = await import('./short-ids.ts');
  return savedId(app, word) ?? completeId(app, checkWord(app, word));
}

/** Splits `1,2` and `#1`. A name may contain a comma. */
function partsOf(word: string, rows: readonly Row[]): string[] {
  if (!/^[#\d][#\d,\s-]*$|^[^\s,]+(?:,[^\s,]*)+$/.test(word) || rowsNamed(word, rows).length > 0)
    return [word];
  const parts = word.split(/[,\s]+/).map((part) => part.replace(/^#(?=\d)/, ''));
  return parts.filter((part) => part !== '');
}

interface Row {
  readonly id: string;
  readonly name: string;
}

function rowsOfWord(word: string, rows: readonly Row[]): number[] {
  const range = RANGE.exec(word);
  if (range !== null) return rowsOfRange(range);
  const isRow = LARGE_NUMBER.test(word) && rows.length > 0 && rows.every(({ id }) => !id.startsWith(word));
  return isRow || ROW.test(word) ? [Number(word)] : rowsNamed(word, rows);
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

/**
 * Returns the row with the name, else the row whose name begins with the words or contains several; empty for an id.
 * @throws {AppError} `usage` for several rows
 */
function rowsNamed(word: string, rows: readonly Row[]): number[] {
  const wanted = foldLetters(word).trim();
  if (wanted.length < 2 || rows.some(({ id }) => id === word)) return [];
  const rowsThat = (match: (name: string) => boolean): number[] =>
    rows.flatMap(({ name }, index) => (match(foldLetters(name).trim()) ? [index + 1] : []));
  const same = rowsThat((name) => name === wanted);
  const first = same.length > 0 ? same : rowsThat((name) => wanted.length >= 3 && name.startsWith(wanted));
  // A part of a name could be an id, unless it contains a space.
  const matches = first.length > 0 || !/\s/.test(wanted) ? first : rowsThat((name) => name.includes(wanted));
  if (matches.length <= 1) return matches;
  throw usage(`${matches.length} rows match '${word}': ${matches.join(', ')}`, {
    command: again({}, { operands: [String(matches[0])] }),
  });
}

function firstRows(app: App): Hint {
  const last = Math.min(lastRestaurants(app).length || 5, 5);
  return { text: 'to look up the first rows', command: restaurant('lookup', last === 1 ? '1' : `1-${last}`) };
}

/** Checks that an argument can be an id. @throws {AppError} `usage` with the command that helps */
function checkWord(app: App, word: string): string {
  if (word.toLowerCase() === 'all') {
    throw usage(`'${word}' is not a restaurant ID`, firstRows(app));
  }
  // IDs of the sample data have digits.
  const looksLikeName =
    /\s/.test(word.trim()) || /^\p{Lu}\p{Ll}+$/u.test(word) || (needsDemo(app) && !/\d/.test(word));
  if (!looksLikeName) return checkId(word);
  throw usage(
    `'${word}' is a name, not a restaurant ID, and is not in your last search`,
    nameHint(app, word),
  );
}

/** The hint for a word that no restaurant has as its id: a similar name, else the rows, else a search. */
export function nameHint(app: App, word: string): Hint {
  const rows = lastRestaurants(app);
  const near = rows.filter(({ name }) => isNearName(word, name));
  if (near.length > 0) {
    return near.slice(0, 2).map(({ name }, index) => ({
      text: index === 0 ? 'did you mean' : 'or',
      command: restaurant('lookup', name),
    }));
  }
  const city = cityForHint(app);
  const search = restaurant('find', word, ...(city === undefined ? [] : ['--city', city]));
  const last = { text: 'to show the rows of your last search', command: restaurant('last') };
  return /\d/.test(word) && rows.length > 0 ? last : [{ text: 'to search for it', command: search }];
}

function idOfRow(app: App, rows: NumberedRows, number: number): string {
  const restaurants = restaurantsOf(rows);
  const id = restaurants[number - 1]?.id;
  const { query } = rows;
  const what = query === undefined ? 'the list of saved restaurants' : 'the last search';
  // The id comes from the service, and a hint may contain it.
  if (id !== undefined && id !== '') return checkId(id, `row ${number} of ${what}`);
  const { length } = restaurants;
  if (query === undefined) {
    throw failure('not_found', `row ${number}: the list of saved restaurants had ${plural(length, 'row')}`, {
      text: 'to show it',
      command: restaurant('saved'),
    });
  }
  const all = lastSearch(app)?.rows.length ?? length;
  const [had, show] =
    length < all
      ? [`the last table had ${length} of ${plural(all, 'result')}`, 'to show all']
      : [`your last search had ${plural(length, 'result')}`, 'to show them'];
  throw failure('not_found', `row ${number}: ${had}`, [
    { text: show, command: restaurant('last') },
    { text: 'to search again', command: restaurant('find', query.name, '--city', query.city) },
  ]);
}

/** The ids of `2`, `#2`, `1,3` or `1-3`, rows of the last table; undefined for any other word. */
export function idsOfRows(app: App, word: string): string[] | undefined {
  const parts = /^#?\d[#\d,\s-]*$/.test(word) ? partsOf(word, []) : [];
  if (parts.length === 0 || !parts.every((part) => ROW.test(part) || RANGE.test(part))) return undefined;
  const rows = requireLastRows(app);
  return parts.flatMap((part) => rowsOfWord(part, [])).map((number) => idOfRow(app, rows, number));
}

/**
 * Returns the ids in a JSON text: the output of `find --json`, or an array of ids or restaurants; undefined for any
 * other text.
 */
function idsOfJson(text: string): string[] | undefined {
  const value = tryParseJson(text);
  if (value === undefined) return undefined;
  const { results = value } = isObject(value) ? value : {};
  return [results].flat().map((entry, index) => {
    // With --fields, find prints {result, details}.
    const item = isObject(entry) && isObject(entry.result) ? entry.result : entry;
    const { service_id, restaurant_id } = isObject(item) ? item : {};
    const id = typeof item === 'string' ? item : (service_id ?? restaurant_id);
    const where = `stdin, result ${index + 1}`;
    if (typeof id === 'string') return checkId(id, where);
    throw failure('bad_input', `${where} has no service_id`, {
      text: 'to pipe IDs',
      command: PIPE_IDS,
    });
  });
}

const PIPE_IDS: Command = { ...restaurant('last', '--json'), pipe: restaurant('lookup', '-') };

function idsOfCsv(text: string): string[] | undefined {
  const [header = ''] = text.split(/\r\n|\n|\r/, 1);
  for (const delimiter of DELIMITERS) {
    const names = decodeRecord(header, delimiter);
    const column = names.findIndex((name) => name === 'service_id' || name === 'restaurant_id');
    if (column === -1) continue;
    const reader = new CsvReader(delimiter);
    const [, ...records] = [...reader.push(text), ...reader.end()];
    return records.map(({ cells, line }) => checkId(cells[column] ?? '', `stdin, line ${line}`));
  }
  return undefined;
}

export function readIds(text: string): string[] {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  const whole = /^[[{"]/.test(trimmed) ? idsOfJson(trimmed) : undefined;
  return whole ?? idsOfCsv(trimmed) ?? trimmed.split(/\r\n|\n|\r/).flatMap(idsOfLine);
}

function idsOfLine(line: string, index: number): string[] {
  if (line.trim() === '') return [];
  const where = `stdin, line ${index + 1}`;
  const fromJson = /^\s*[{"]/.test(line) ? idsOfJson(line) : undefined;
  const [first = ''] = line.split('\t');
  const word = first.trim();
  if (fromJson === undefined && (ROW.test(word) || RANGE.test(word) || word.toLowerCase() === 'all')) {
    throw failure('bad_input', `${where}: '${word}' selects rows; stdin takes only IDs`, [
      { text: 'to look up rows', command: restaurant('lookup', '1', '2') },
      { text: 'to pipe IDs', command: PIPE_IDS },
    ]);
  }
  return fromJson ?? [checkId(first, where)];
}

function requireLastRows(app: App): NumberedRows {
  const last = lastRows(app);
  if (last === undefined) {
    throw failure('not_found', 'no earlier search', [
      { text: 'search first', command: exampleSearch(app) },
      { text: 'then', command: again() },
    ]);
  }
  if (last.endpoint === serviceName(app)) return last;
  const where =
    last.endpoint === DEMO ? 'the embedded sandbox' : (parseUrl(last.endpoint)?.host ?? 'another service');
  const { query } = last;
  if (query === undefined) {
    throw failure('not_found', `the saved restaurants that were shown are of another service: ${where}`, {
      text: 'to show those of this one',
      command: restaurant('saved'),
    });
  }
  throw failure('not_found', `the last search was sent to another service: ${where}`, {
    text: 'to search this one',
    command: restaurant('find', query.name, '--city', query.city),
  });
}
