import { CsvError, type InfoRecord, parse } from 'csv-parse';
import { AppError } from '../../errors.ts';
import { LineCounter } from './line-counter.ts';
import { PlainLines, type PlainRow } from './plain-lines.ts';
import type { CellRow, OnProblem } from './row.ts';

export const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

export interface DelimitedOptions {
  /** Undefined: as the header line shows. */
  readonly delimiter: Delimiter | undefined;
  readonly onProblem: OnProblem;
}

export interface Delimited {
  readonly header: readonly string[];
  readonly delimiter: Delimiter;
  /** The rows behind the header, padded to its length. */
  readonly rows: AsyncGenerator<CellRow>;
}

/** Longest row that is read, in bytes; an unclosed quote swallows no more. */
const LONGEST_ROW = 16 * 1024 * 1024;
/** How far the header line is looked for. */
const LONGEST_HEADER = 1024 * 1024;

/**
 * Reads a CSV or TSV (RFC 4180; line ends LF, CRLF and CR, also mixed; blank lines are passed over).
 * @param chunks UTF-8 without a byte order mark
 * @returns undefined where there is no header row
 */
export async function openDelimited(
  chunks: AsyncIterable<Buffer>,
  options: DelimitedOptions,
): Promise<Delimited | undefined> {
  const { head, all } = await peekHeader(chunks);
  const delimiter = options.delimiter ?? detectDelimiter(head);
  const records = readRecords(all, delimiter, options.onProblem);
  const first = await records.next();
  if (first.done === true) return undefined;
  const header = first.value.cells;
  return { header, delimiter, rows: padded(records, header.length, options.onProblem) };
}

/** The delimiter that stands most often in the header line, outside of quotes; of equals comma, semicolon, tab. */
export function detectDelimiter(header: string): Delimiter {
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const char of header.trimStart()) {
    if (char === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (char === '\n' || char === '\r') break;
    else if (counts.has(char)) counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  return DELIMITERS.reduce((best, next) => ((counts.get(next) ?? 0) > (counts.get(best) ?? 0) ? next : best));
}

/** Reads as far as the first line break, and gives back all the same. */
async function peekHeader(
  chunks: AsyncIterable<Buffer>,
): Promise<{ head: string; all: AsyncGenerator<Buffer> }> {
  const source = chunks[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  let size = 0;
  for (let more = true; more && size < LONGEST_HEADER; ) {
    const { value, done } = await source.next();
    if (done === true) break;
    held.push(value);
    size += value.length;
    more = !/\S[\s\S]*[\r\n]/.test(value.toString('latin1'));
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* held;
    for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
  }
  return { head: Buffer.concat(held).toString('utf8'), all: all() };
}

async function* padded(
  records: AsyncGenerator<PlainRow>,
  width: number,
  onProblem: OnProblem,
): AsyncGenerator<CellRow> {
  for await (const { cells, line } of records) {
    if (cells.length > width) {
      onProblem({ line, what: `has ${cells.length} fields, the header has ${width}` });
      continue;
    }
    while (cells.length < width) cells.push('');
    yield { kind: 'cells', line, cells };
  }
}

/** Reads what is plain as it stands, and the rest with the parser. */
async function* readRecords(
  chunks: AsyncIterator<Buffer>,
  delimiter: Delimiter,
  onProblem: OnProblem,
): AsyncGenerator<PlainRow> {
  const plain = new PlainLines(delimiter);
  try {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      const rows = plain.push(next.value);
      if (rows === undefined) return yield* parseRecords(plain, chunks, delimiter, onProblem);
      yield* rows;
    }
    yield* plain.end();
  } finally {
    await chunks.return?.();
  }
}

/** Runs the parser over the bytes. Rows in front of a fault come through. */
async function* parseRecords(
  { line, rest }: PlainLines,
  chunks: AsyncIterator<Buffer>,
  delimiter: Delimiter,
  onProblem: OnProblem,
): AsyncGenerator<PlainRow> {
  const lines = new LineCounter(line);
  let found: PlainRow[] = [];
  let end = 0;
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_ROW,
    // Taken here and not from the stream, which drops what it holds when a fault follows.
    on_record: (cells: string[], { bytes }: InfoRecord) => {
      found.push({ cells, line: lines.lineFrom(end) });
      end = bytes;
      return null;
    },
  });
  let failed: Error | undefined;
  parser.on('error', (error) => {
    failed ??= error;
  });
  for (let chunk: Buffer | undefined = rest; chunk !== undefined; chunk = (await chunks.next()).value) {
    const bytes = chunk;
    lines.push(bytes);
    await settled((done) => parser.write(bytes, done));
    yield* found;
    found = [];
    if (failed !== undefined) break;
  }
  if (failed === undefined) await settled((done) => parser.end(done));
  yield* found;
  if (failed !== undefined) onProblem({ line: lines.lineFrom(end), what: describe(failed) });
}

/** Waits for a step of a stream; its failure is told by the event `error`, which precedes this. */
function settled(step: (done: () => void) => unknown): Promise<void> {
  return new Promise((resolve) => {
    step(() => setImmediate(resolve));
  });
}

function describe(fault: Error): string {
  if (!(fault instanceof CsvError)) throw new AppError('unexpected', fault.message, { cause: fault });
  switch (fault.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'opens a quote that is never closed';
    case 'CSV_MAX_RECORD_SIZE':
      return 'opens a quote that is never closed, or begins a row of more than 16 MiB';
    default:
      return 'cannot be read as CSV';
  }
}
