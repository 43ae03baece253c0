// The one CSV codec of the program (RFC 4180). The rows that `enrich` has written are compared byte by byte when a run
// is resumed, so the quoting of cells must not depend on the version of a library.

export const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** A record, and the line on which it begins, counted from 1. LF, CRLF, and CR end a line. */
export interface CsvRecord {
  readonly cells: string[];
  readonly line: number;
}

/** Formats a cell. It is quoted only if a program could split it, because many programs split at any delimiter. */
export function encodeCell(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Formats a record, without its line break. */
export function encodeRecord(cells: readonly string[], delimiter: string): string {
  // A single empty cell would become a blank line, which parsers skip.
  return cells.length === 1 && cells[0] === '' ? '""' : cells.map(encodeCell).join(delimiter);
}

/** Returns the cells of one record; a line break at its end is not needed. */
export function decodeRecord(record: string, delimiter: string): string[] {
  const reader = new CsvReader(delimiter);
  const [first] = [...reader.push(record), ...reader.end()];
  return first?.cells ?? [''];
}

const MIB = 1024 * 1024;

/** The error for an invalid record. The records before it have been returned. */
export class CsvError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Parses records from text that arrives in pieces, in linear time. Blank lines are skipped. A quote inside an unquoted
 * cell is text, and so is everything after a closing quote.
 */
export class CsvReader {
  readonly #delimiter: string;
  readonly #maxLength: number;
  /** Matches ordinary text, or a single special character. */
  readonly #token: RegExp;
  /** The position in a cell: before it, in unquoted or quoted text, or after a quote that may close it. */
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  #cells: string[] = [];
  #cell = '';
  /** Characters of the record so far. */
  #length = 0;
  #line = 1;
  #firstLine = 1;
  /** Whether the last character was a carriage return, so that a line feed does not end another line. */
  #afterReturn = false;

  /** @param maxLength maximum length of a record, in characters */
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
    // Before a cell, a quote opens it. After a closing quote, it is the second of two quotes that stand for one.
    if (this.#state !== 'start') this.#cell += '"';
    if (this.#state !== 'plain') this.#state = 'quoted';
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  /** Ends a line. @returns its record, or nothing for a blank line */
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
