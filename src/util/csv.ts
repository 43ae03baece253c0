// The one CSV codec of the program (RFC 4180). The rows that `enrich` has written are compared byte by byte when a run
// is resumed, so how a cell is quoted must not change with the version of a library.

export const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** A record with the line on which it begins, counted from 1. LF, CRLF and CR end a line. */
export interface CsvRecord {
  readonly cells: string[];
  readonly line: number;
}

/** Formats a cell. It is quoted only if some program could split it: many split at any delimiter. */
export function encodeCell(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Formats a record, without its line break. */
export function encodeRecord(cells: readonly string[], delimiter: string): string {
  // One empty cell alone would be a blank line, which readers skip.
  return cells.length === 1 && cells[0] === '' ? '""' : cells.map(encodeCell).join(delimiter);
}

/** Returns the cells of one record; a line break at its end is not needed. */
export function decodeRecord(record: string, delimiter: string): string[] {
  const reader = new CsvReader(delimiter);
  const [first] = [...reader.push(record), ...reader.end()];
  return first?.cells ?? [''];
}

const MIB = 1024 * 1024;

/** A record that cannot be read; those before it were returned. */
export class CsvError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Reads records from text that arrives in pieces, in time that grows with the length of the text alone. Blank lines are
 * skipped. A quote inside a plain cell, and what follows a closing quote, is text.
 */
export class CsvReader {
  readonly #delimiter: string;
  readonly #maxLength: number;
  /** Runs of ordinary text, and single characters with a meaning. */
  readonly #token: RegExp;
  /** Where the reader is in a cell: in front of it, in plain or quoted text, or behind a quote that may close it. */
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  #cells: string[] = [];
  #cell = '';
  /** Characters of the record so far. */
  #length = 0;
  #line = 1;
  #firstLine = 1;
  /** Whether the last character was a return, so that a line feed does not end another line. */
  #afterReturn = false;

  /** @param maxLength longest record, in characters */
  constructor(delimiter: string, maxLength = Number.POSITIVE_INFINITY) {
    this.#delimiter = delimiter;
    this.#maxLength = maxLength;
    this.#token = new RegExp(`[^"\\r\\n${delimiter}]+|["\\r\\n${delimiter}]`, 'g');
  }

  /** Returns the records that end in this piece. @throws {CsvError} for a record that is too long */
  *push(text: string): Generator<CsvRecord> {
    for (const [token] of text.matchAll(this.#token)) {
      const isBreak = token === '\n' || token === '\r';
      if (isBreak && !(token === '\n' && this.#afterReturn)) this.#line += 1;
      this.#afterReturn = token === '\r';
      this.#length += token.length;
      if (this.#length > this.#maxLength) throw this.#tooLong();
      if (token === '"') {
        this.#readQuote();
      } else if (this.#state === 'quoted') {
        this.#cell += token;
      } else if (token === this.#delimiter) {
        this.#endCell();
      } else if (isBreak) {
        yield* this.#endRecord();
      } else {
        if (this.#state === 'closed') this.#cell = `"${this.#cell}"`;
        this.#state = 'plain';
        this.#cell += token;
      }
    }
  }

  /** Returns the last record, if no line break ends it. @throws {CsvError} for a quote that is never closed */
  end(): CsvRecord[] {
    if (this.#state === 'quoted') throw new CsvError(this.#firstLine, 'opens a quote that is never closed');
    return this.#endRecord();
  }

  #readQuote(): void {
    if (this.#state === 'quoted') {
      this.#state = 'closed';
      return;
    }
    // In front of a cell it opens it; behind a closing quote it is the second of two, which are one quote of the text.
    if (this.#state !== 'start') this.#cell += '"';
    if (this.#state !== 'plain') this.#state = 'quoted';
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  /** Ends a line. @returns its record; none if it is blank */
  #endRecord(): CsvRecord[] {
    const line = this.#firstLine;
    this.#firstLine = this.#line;
    this.#length = 0;
    if (this.#state === 'start' && this.#cells.length === 0) return [];
    this.#endCell();
    const cells = this.#cells;
    this.#cells = [];
    return [{ cells, line }];
  }

  #tooLong(): CsvError {
    const size = `${Math.floor(this.#maxLength / MIB)} MiB`;
    const what = this.#state === 'quoted' ? 'opens a quote that is never closed, or is' : 'is';
    return new CsvError(this.#firstLine, `${what} longer than ${size}`);
  }
}
