// The one CSV codec of the program (RFC 4180). The rows that `enrich` has written are compared byte by byte when a run
// is resumed, so the quoting of cells must not depend on the version of a library.

export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

export interface CsvRecord {
  readonly cells: string[];
  /** The line on which it begins, from 1. LF, CRLF, and CR end a line. */
  readonly line: number;
  /** Its row in a spreadsheet, from 1: a cell with line breaks is in one row. */
  readonly row: number;
  /** The record as received, without its line break. */
  readonly text: string;
  /** The line break; empty at the end of the text. */
  readonly end: string;
}

/** Quotes a cell if a program could split it. Many programs split at comma, semicolon, and tab, whatever the delimiter. */
function encodeCell(text: string, delimiter: string): string {
  const isSplit = /[",;\t\r\n]/.test(text) || text.includes(delimiter);
  return isSplit ? `"${text.replaceAll('"', '""')}"` : text;
}

export function encodeRecord(cells: readonly string[], delimiter: string): string {
  // A single empty cell would become a blank line, which parsers skip.
  return cells.length === 1 && cells[0] === ''
    ? '""'
    : cells.map((cell) => encodeCell(cell, delimiter)).join(delimiter);
}

export function decodeRecord(record: string, delimiter: string): string[] {
  const reader = new CsvReader(delimiter);
  const [first] = [...reader.push(record), ...reader.end()];
  return first?.cells ?? [''];
}

const MIB = 1024 * 1024;

/** The error for an invalid record. The records before it have been returned. */
export class CsvError extends Error {
  readonly line: number;
  readonly row: number;

  constructor({ line, row }: Pick<CsvRecord, 'line' | 'row'>, message: string) {
    super(message);
    this.line = line;
    this.row = row;
  }
}

/** The position in a cell: before it, in unquoted or quoted text, or after a quote that may close it. */
type CellState = 'start' | 'plain' | 'quoted' | 'closed';

/** The state after a quote. In unquoted text it is text; after a closing quote, it is the second of two that mean one. */
const AFTER_QUOTE: Readonly<Record<CellState, CellState>> = {
  start: 'quoted',
  plain: 'plain',
  quoted: 'closed',
  closed: 'quoted',
};

export function splitRecord(record: string, delimiter: string): string[] {
  const cells: string[] = [];
  let state: CellState = 'start';
  let start = 0;
  for (let at = 0; at < record.length; at += 1) {
    const char = record[at];
    if (char === '"') state = AFTER_QUOTE[state];
    else if (state !== 'quoted' && char === delimiter) {
      cells.push(record.slice(start, at));
      start = at + 1;
      state = 'start';
    } else if (state !== 'quoted') state = 'plain';
  }
  return [...cells, record.slice(start)];
}

/**
 * Parses records from text that arrives in pieces, in linear time. Blank lines are skipped. Blanks after a closing quote
 * are ignored. Other text there makes the quotes text, as is a quote inside an unquoted cell.
 */
export class CsvReader {
  readonly #delimiter: string;
  readonly #maxLength: number;
  /** Matches ordinary text, or a single special character or line break. */
  readonly #token: RegExp;
  #state: CellState = 'start';
  #cells: string[] = [];
  #cell = '';
  #blanks = '';
  #text = '';
  /** A carriage return at the end of a piece, which a line feed may follow. */
  #return = '';
  #line = 1;
  #firstLine = 1;
  #row: number;

  /** @param maxLength of a record, in characters. @param firstRow of the first record, in a spreadsheet */
  constructor(delimiter: string, maxLength = Number.POSITIVE_INFINITY, firstRow = 1) {
    this.#row = firstRow;
    this.#delimiter = delimiter;
    this.#maxLength = maxLength;
    this.#token = new RegExp(`[^"\\r\\n${delimiter}]+|\\r\\n|["\\r\\n${delimiter}]`, 'g');
  }

  /** Returns the records that end in this piece. @throws {CsvError} for a record that is too long */
  push(piece: string): Generator<CsvRecord> {
    const text = this.#return + piece;
    this.#return = text.endsWith('\r') ? '\r' : '';
    return this.#read(this.#return === '' ? text : text.slice(0, -1));
  }

  /** Returns the last records. @throws {CsvError} for a quote that is never closed */
  end(): CsvRecord[] {
    const records = [...this.#read(this.#return)];
    if (this.#state === 'quoted') throw new CsvError(this.#place, 'opens a quote that is never closed');
    const last = this.#endRecord('');
    return last === undefined ? records : [...records, last];
  }

  *#read(piece: string): Generator<CsvRecord> {
    let start = 0;
    for (const { 0: token, index } of piece.matchAll(this.#token)) {
      const isBreak = token === '\n' || token === '\r\n' || token === '\r';
      if (isBreak) this.#line += 1;
      if (this.#text.length + index + token.length - start > this.#maxLength) throw this.#tooLong();
      if (!isBreak || this.#state === 'quoted') {
        this.#readToken(token);
        continue;
      }
      this.#text += piece.slice(start, index);
      start = index + token.length;
      const record = this.#endRecord(token);
      if (record !== undefined) yield record;
    }
    this.#text += piece.slice(start);
  }

  #readToken(token: string): void {
    if (token === '"') this.#readQuote();
    else if (this.#state === 'quoted') this.#cell += token;
    else if (token === this.#delimiter) this.#endCell();
    else if (this.#state === 'closed' && token.trim() === '') this.#blanks += token;
    else this.#readText(token);
  }

  #readQuote(): void {
    if (this.#blanks !== '') this.#readText('"');
    else {
      if (this.#state === 'plain' || this.#state === 'closed') this.#cell += '"';
      this.#state = AFTER_QUOTE[this.#state];
    }
  }

  #readText(text: string): void {
    if (this.#state === 'closed') this.#cell = `"${this.#cell}"${this.#blanks}`;
    this.#blanks = '';
    this.#state = 'plain';
    this.#cell += text;
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
    this.#blanks = '';
    this.#state = 'start';
  }

  /** Ends a line. @returns its record; undefined for a blank line */
  #endRecord(end: string): CsvRecord | undefined {
    const [{ line, row }, text] = [this.#place, this.#text];
    this.#firstLine = this.#line;
    this.#row += 1;
    this.#text = '';
    if (this.#state === 'start' && this.#cells.length === 0) return undefined;
    this.#endCell();
    // An array that grows cell by cell has room for 17, and a list keeps its rows.
    const cells = this.#cells.slice();
    this.#cells = [];
    return { cells, line, row, text, end };
  }

  get #place(): Pick<CsvRecord, 'line' | 'row'> {
    return { line: this.#firstLine, row: this.#row };
  }

  #tooLong(): CsvError {
    const size = `${Math.floor(this.#maxLength / MIB)} MiB`;
    const what = this.#state === 'quoted' ? 'opens a quote that is never closed, or is' : 'is';
    return new CsvError(this.#place, `${what} longer than ${size}`);
  }
}
