// The one CSV codec of the program (RFC 4180). The rows that `enrich` has written are compared byte by byte when a run
// is resumed, so how a cell is quoted must not change with the version of a library.

export const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** A record with the line on which it begins, counted from 1. LF, CRLF and CR end a line. */
export interface CsvRecord {
  readonly cells: string[];
  readonly line: number;
}

/**
 * One cell, quoted only where a program could split it: some split at every delimiter that they know, whatever the
 * header shows.
 */
export function encodeCell(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record without its line break. */
export function encodeRecord(cells: readonly string[], delimiter: string): string {
  // One empty cell alone would be a blank line, which readers skip.
  return cells.length === 1 && cells[0] === '' ? '""' : cells.map(encodeCell).join(delimiter);
}

/** The cells of one record; a line break at its end is not needed. */
export function decodeRecord(record: string, delimiter: string): string[] {
  const reader = new CsvReader(delimiter);
  const [first] = [...reader.push(record), ...reader.end()];
  return first?.cells ?? [''];
}

/** A record that cannot be read; those before it were returned. */
export class CsvError extends Error {
  /** Line on which the record begins. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const MIB = 1024 * 1024;

const unescapeQuotes = (quoted: string): string => quoted.replaceAll('""', '"');

type State = 'start' | 'plain' | 'quoted' | 'closed';

/**
 * Reads records from text that arrives in pieces, in time that grows with the length of the text alone. Blank lines are
 * skipped. A quote inside a plain cell, and what follows a closing quote, is text.
 */
export class CsvReader {
  readonly #delimiter: number;
  readonly #maxLength: number;
  #state: State = 'start';
  #cells: string[] = [];
  /** The cell so far, without the piece that is being read; the quotes of a quoted one are still doubled. */
  #cell = '';
  /** Characters of the record before the piece that is being read. */
  #length = 0;
  #line = 1;
  /** Line on which the record begins. */
  #first = 1;
  /** Whether the last character was a return, so that a line feed does not end another line. */
  #afterReturn = false;

  /** @param maxLength longest record, in characters */
  constructor(delimiter: string, maxLength = Number.POSITIVE_INFINITY) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#maxLength = maxLength;
  }

  /** The records that end in this piece. @throws {CsvError} for a record that is too long */
  *push(text: string): Generator<CsvRecord> {
    let from = 0;
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#state === 'quoted') {
        if (code === QUOTE && text.charCodeAt(at + 1) === QUOTE) {
          at += 1;
          this.#afterReturn = false;
        } else if (code === QUOTE) {
          this.#cell += text.slice(from, at);
          this.#state = 'closed';
          this.#afterReturn = false;
        } else if (code === LINE_FEED || code === RETURN) this.#countLine(code);
        else this.#afterReturn = false;
        continue;
      }
      if (code === QUOTE) {
        this.#afterReturn = false;
        if (this.#state === 'plain') continue;
        // The second of two quotes that are in two pieces.
        if (this.#state === 'closed') this.#cell += '""';
        from = at + 1;
        this.#state = 'quoted';
        continue;
      }
      if (code === this.#delimiter) {
        this.#endCell(text, from, at);
        from = at + 1;
        this.#afterReturn = false;
      } else if (code === LINE_FEED || code === RETURN) {
        const cells = this.#endRecord(text, from, at);
        if (cells !== undefined) yield { cells, line: this.#first };
        this.#countLine(code);
        this.#first = this.#line;
        this.#length = 0;
        from = at + 1;
        start = from;
      } else if (this.#state !== 'plain') {
        if (this.#state === 'closed') this.#cell = `"${unescapeQuotes(this.#cell)}"`;
        this.#state = 'plain';
        this.#afterReturn = false;
        from = at;
      }
    }
    if (this.#state === 'plain' || this.#state === 'quoted') this.#cell += text.slice(from);
    this.#length += text.length - start;
    if (this.#length > this.#maxLength) throw this.#tooLong();
  }

  /** The last record, where no line break ends it. @throws {CsvError} for a quote that is never closed */
  end(): CsvRecord[] {
    if (this.#state === 'quoted') throw new CsvError(this.#first, 'opens a quote that is never closed');
    const cells = this.#endRecord('', 0, 0);
    return cells === undefined ? [] : [{ cells, line: this.#first }];
  }

  /** Ends a cell: what is kept of it, and the text between two offsets where it is plain. */
  #endCell(text: string, from: number, to: number): void {
    this.#cells.push(
      this.#state === 'plain' ? this.#cell + text.slice(from, to) : unescapeQuotes(this.#cell),
    );
    this.#cell = '';
    this.#state = 'start';
  }

  #endRecord(text: string, from: number, to: number): string[] | undefined {
    if (this.#state === 'start' && this.#cells.length === 0) return undefined;
    this.#endCell(text, from, to);
    const cells = this.#cells;
    this.#cells = [];
    return cells;
  }

  #countLine(code: number): void {
    if (code === RETURN || !this.#afterReturn) this.#line += 1;
    this.#afterReturn = code === RETURN;
  }

  #tooLong(): CsvError {
    const size = `${Math.floor(this.#maxLength / MIB)} MiB`;
    const what = this.#state === 'quoted' ? 'opens a quote that is never closed, or is' : 'is';
    return new CsvError(this.#first, `${what} longer than ${size}`);
  }
}
