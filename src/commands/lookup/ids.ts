import type { App } from '../../app/app.ts';
import { AppError } from '../../errors.ts';
import type { LastResults } from '../../storage/state.ts';
import { CsvReader, DELIMITERS, decodeRecord } from '../../util/csv.ts';
import { foldLetters } from '../../util/fold.ts';
import { checkId } from '../../util/restaurant-id.ts';
import { shellWord } from '../../util/shell.ts';

/** The restaurants that the words of `lookup` name. */
export interface Selection {
  /** Each id once, in order. */
  readonly ids: readonly string[];
  /** The search that row numbers or names refer to. */
  readonly search?: LastResults;
}

const isRowNumber = (word: string): boolean => /^\d{1,4}$/.test(word);
const rangeOf = (word: string): RegExpExecArray | null => /^(\d{1,4})-(\d{1,4})$/.exec(word);

/**
 * Resolves the words of `lookup`: ids, row numbers and ranges of the last search, names in it.
 * @throws {AppError} `usage`, `not_found`
 */
export async function resolveWords(app: App, words: readonly string[]): Promise<Selection> {
  const { lastResults, requireLastResults } = await import('../../app/last-results.ts');
  const named = new Map(lastResults(app).map(({ id, name }, index) => [index, { id, name }]));
  let search: LastResults | undefined;
  const row = (number: number): string => {
    search ??= requireLastResults(app);
    return rowId(search, number);
  };
  const ids = words.flatMap((word) => {
    if (isRowNumber(word)) return [row(Number(word))];
    const [, first = '', last = ''] = rangeOf(word) ?? [];
    if (first !== '') return numbersOf(word, Number(first), Number(last)).map(row);
    if (app.redact(word) !== word) {
      throw new AppError('usage', 'an id looks like an API key; nothing was sent', {
        hint: 'save a key with: restaurant login',
      });
    }
    const matches = rowsNamed(word, [...named.values()]);
    if (matches.length === 1) return [row((matches[0] ?? 0) + 1)];
    if (matches.length > 1) throw ambiguousName(word, matches);
    return [checkWord(app, word)];
  });
  return { ids: [...new Set(ids)], ...(search === undefined ? {} : { search }) };
}

/** Maximum number of rows of a range. */
const MAX_RANGE = 100;

function numbersOf(word: string, first: number, last: number): number[] {
  if (first < 1 || last < first || last - first >= MAX_RANGE) {
    throw new AppError('usage', `'${word}' is not a range of rows`, {
      hint: `a range goes up, over at most ${MAX_RANGE} rows: restaurant lookup 1-3`,
    });
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Returns the indexes of the rows that a name refers to: the same name, else those that contain it. */
function rowsNamed(word: string, rows: readonly { readonly id: string; readonly name: string }[]): number[] {
  const wanted = foldLetters(word).trim();
  if (wanted.length < 2 || rows.some(({ id }) => id === word)) return [];
  const names = rows.map(({ name }) => foldLetters(name).trim());
  const indexes = [...names.keys()];
  const same = indexes.filter((index) => names[index] === wanted);
  // A part of a name could be an id; with a blank in it, it cannot.
  return same.length > 0 || !/\s/.test(wanted)
    ? same
    : indexes.filter((index) => names[index]?.includes(wanted));
}

function ambiguousName(word: string, matches: readonly number[]): AppError {
  const numbers = matches.map((index) => index + 1);
  return new AppError('usage', `${numbers.length} rows are called '${word}': ${numbers.join(', ')}`, {
    hint: `restaurant lookup ${numbers[0]}`,
  });
}

/** Returns a word that can be an id. @throws {AppError} `usage` with the command that helps */
function checkWord(app: App, word: string): string {
  const looksLikeName = /\s/.test(word.trim()) || /^\p{Lu}\p{Ll}+$/u.test(word);
  if (word.toLowerCase() !== 'all' && !looksLikeName) return checkId(word);
  if (word.toLowerCase() === 'all') {
    throw new AppError('usage', `'${word}' is not a restaurant id`, {
      hint: 'restaurant lookup 1-5 shows the first five rows of the last search',
    });
  }
  const city = app.settings.get('city') === undefined ? ' --city <city>' : '';
  throw new AppError('usage', `'${word}' is a name, not a restaurant id, and no row of the last search`, {
    hint: `restaurant find ${shellWord(word)}${city}`,
  });
}

function rowId({ ids }: LastResults, number: number): string {
  const id = ids[number - 1];
  // The service chose the id, and a hint may repeat it.
  if (id !== undefined && id !== '') return checkId(id, `row ${number} of the last search`);
  const rows = ids.length === 1 ? 'it has 1 row' : `it has rows 1 to ${ids.length}`;
  throw new AppError('not_found', `no row ${number} in the last search: ${rows}`, {
    hint: 'restaurant last shows it; restaurant find <name> --city <city> makes a new one',
  });
}

const idOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { service_id, restaurant_id } = value as Record<string, unknown>;
  const id = service_id ?? restaurant_id;
  return typeof id === 'string' ? id : undefined;
};

/** Returns the ids in a JSON text: what `find --json` prints, or an array of ids or of restaurants; undefined otherwise. */
function idsOfJson(text: string): string[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { results } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const entries = Array.isArray(results) ? results : Array.isArray(value) ? value : [value];
  return entries.map((entry, index) => {
    const id = idOf(entry);
    if (id !== undefined) return checkId(id, `stdin, result ${index + 1}`);
    throw new AppError('bad_input', `stdin, result ${index + 1} has no service_id`, {
      hint: 'restaurant find "Nopa" --city SF --json | restaurant lookup -',
    });
  });
}

/** Returns the ids of a CSV text whose header names their column; undefined where it has no such header. */
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

/**
 * Returns the ids on stdin: one per line, or the output of `find` as JSON, NDJSON, CSV or TSV.
 * @throws {AppError} `bad_input` naming the line
 */
export function readIds(text: string): string[] {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  const whole = /^[[{"]/.test(trimmed) ? idsOfJson(trimmed) : undefined;
  const listed = whole ?? idsOfCsv(trimmed);
  if (listed !== undefined) return listed;
  const ids: string[] = [];
  for (const [index, line] of trimmed.split(/\r\n|\n|\r/).entries()) {
    if (line.trim() === '') continue;
    const where = `stdin, line ${index + 1}`;
    const fromJson = /^\s*[{"]/.test(line) ? idsOfJson(line.trim()) : undefined;
    const [first = ''] = line.split('\t');
    if (fromJson === undefined && isRowNumber(first.trim())) {
      throw new AppError('bad_input', `${where}: '${first.trim()}' is a row number, not an id`, {
        hint: 'name rows on the command line: restaurant lookup 1 2, or pipe ids: restaurant find … | restaurant lookup -',
      });
    }
    ids.push(...(fromJson ?? [checkId(first, where)]));
  }
  return ids;
}
