import { failure } from '../../errors.ts';
import { type Command, restaurant } from '../../hint.ts';
import { CsvReader, DELIMITERS, decodeRecord } from '../../util/csv.ts';
import { isObject, tryParseJson } from '../../util/json.ts';
import { checkId } from '../../util/restaurant.ts';

const ROWS = /^(?:\d{1,4}|\d+-\d+|all)$/i;
const PIPE_IDS: Command = { ...restaurant('last', '--json'), pipe: restaurant('lookup', '-') };

/** Reads ids from stdin: one per line, or the output of `find` in any format. */
export function readIds(text: string): string[] {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  const whole = /^[[{"]/.test(trimmed) ? idsOfJson(trimmed) : undefined;
  return whole ?? idsOfCsv(trimmed) ?? trimmed.split(/\r\n|\n|\r/).flatMap(idsOfLine);
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

function idsOfLine(line: string, index: number): string[] {
  if (line.trim() === '') return [];
  const where = `stdin, line ${index + 1}`;
  const fromJson = /^\s*[{"]/.test(line) ? idsOfJson(line) : undefined;
  const [first = ''] = line.split('\t');
  const word = first.trim();
  if (fromJson === undefined && ROWS.test(word)) {
    throw failure('bad_input', `${where}: '${word}' selects rows; stdin takes only IDs`, [
      { text: 'to look up rows', command: restaurant('lookup', '1', '2') },
      { text: 'to pipe IDs', command: PIPE_IDS },
    ]);
  }
  return fromJson ?? [checkId(first, where)];
}
