import { AppError } from '../../errors.ts';
import { CsvError, CsvReader, type CsvRecord, DELIMITERS, type Delimiter } from '../../util/csv.ts';
import { isKnownHeader } from '../match/columns.ts';
import type { OnProblem } from '../row.ts';
import { FIRST_RECORDS, isFilled } from './table.ts';

interface Delimited {
  readonly delimiter: Delimiter;
  readonly records: AsyncGenerator<CsvRecord>;
}

/** @param wanted the delimiter; undefined to use that of a line `sep=;`, or to detect it. @param maxLength in characters */
export async function openDelimited(
  pieces: AsyncIterable<string>,
  head: string,
  wanted: Delimiter | undefined,
  { maxLength, onProblem }: { readonly maxLength: number; readonly onProblem: OnProblem },
): Promise<Delimited> {
  const separator = /^"?sep=(.)"?[\r\n]/i.exec(head)?.[1];
  const delimiter = wanted ?? namedDelimiter(separator, head);
  // A spreadsheet does not show the line sep=.
  const reader = new CsvReader(delimiter, maxLength, separator === undefined ? 1 : 0);
  const records = readRecords(pieces, reader, onProblem);
  if (separator !== undefined) await records.next();
  return { delimiter, records };
}

async function* readRecords(
  pieces: AsyncIterable<string>,
  reader: CsvReader,
  onProblem: OnProblem,
): AsyncGenerator<CsvRecord> {
  try {
    for await (const piece of pieces) yield* reader.push(piece);
    yield* reader.end();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    onProblem({ line: error.line, row: error.row, what: error.message });
  }
}

function namedDelimiter(separator: string | undefined, head: string): Delimiter {
  if (separator === undefined) return detectDelimiter(head);
  const found = DELIMITERS.find((delimiter) => delimiter === separator);
  if (found !== undefined) return found;
  throw new AppError('bad_input', `line 1 declares the unsupported delimiter '${separator}'`, {
    hint: { text: 'save the list with commas, semicolons, tabs, or pipes between the columns' },
  });
}

/**
 * Detects the delimiter in the first lines: the one that gives all of them the same number of fields; of several, the one
 * with the most known headers, then the most fields. In a tie, the order of DELIMITERS decides.
 */
export function detectDelimiter(head: string): Delimiter {
  const scores = DELIMITERS.map((delimiter) => ({ delimiter, score: scoreOf(head, delimiter) }));
  const isBetter = (one: readonly number[], other: readonly number[]): boolean => {
    const at = one.findIndex((value, index) => value !== other[index]);
    return at !== -1 && (one[at] ?? 0) > (other[at] ?? 0);
  };
  return scores.reduce((best, next) => (isBetter(next.score, best.score) ? next : best)).delimiter;
}

function scoreOf(head: string, delimiter: Delimiter): readonly number[] {
  const all = firstRecords(head, delimiter);
  // Above the header may be titles.
  const lines = all.slice(Math.max(0, all.findIndex(isFilled)));
  const header = lines[0] ?? [];
  const isEven = header.length > 1 && lines.every(({ length }) => length === header.length);
  return [isEven ? 1 : 0, isEven ? header.filter(isKnownHeader).length : 0, header.length];
}

/** The first complete records; at least the header, also if its line is not complete. */
function firstRecords(head: string, delimiter: Delimiter): string[][] {
  const reader = new CsvReader(delimiter);
  const records: string[][] = [];
  for (const { cells } of reader.push(head)) {
    records.push(cells);
    if (records.length === FIRST_RECORDS) break;
  }
  if (records.length > 0) return records;
  const [line = ''] = head
    .trimStart()
    .replace(/"[^"]*"/g, '')
    .split(/[\r\n]/, 1);
  return [line.split(delimiter)];
}

/** Whether the beginning of a text is long enough to detect the delimiter: a line with one is complete, or ten lines are. */
export function hasHeader(head: string): boolean {
  const lines = head.trimStart().split(/[\r\n]+/, FIRST_RECORDS + 1);
  return lines.length > FIRST_RECORDS || lines.slice(0, -1).some((line) => /[,;\t|]/.test(line));
}
