// The output is read again when a run goes on, byte by byte, so its writing is our own: a library's next version
// could quote differently.

const LINE_FEED = 0x0a;
const QUOTE = 0x22;

/** One cell (RFC 4180), quoted only where it must be. */
export function encodeCell(text: string, delimiter: string): string {
  const quoted = text.includes(delimiter) || /["\r\n]/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record without its line break. */
export function encodeRecord(cells: readonly string[], delimiter: string): string {
  return cells.map((cell) => encodeCell(cell, delimiter)).join(delimiter);
}

/** The cells of a record that {@link encodeRecord} wrote; a line break at its end is not needed. */
export function decodeRecord(record: string, delimiter: string): string[] {
  const cells: string[] = [];
  for (let at = 0; ; ) {
    const quoted = record.startsWith('"', at);
    const end = quoted ? closingQuote(record, at + 1) + 1 : cellEnd(record, at, delimiter);
    const raw = record.slice(at, end);
    cells.push(quoted ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (!record.startsWith(delimiter, end)) return cells;
    at = end + delimiter.length;
  }
}

function closingQuote(record: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = record.indexOf('"', at);
    if (at === -1) return record.length;
    if (record[at + 1] !== '"') return at;
  }
}

function cellEnd(record: string, from: number, delimiter: string): number {
  const next = record.indexOf(delimiter, from);
  if (next !== -1) return next;
  return record.endsWith('\n') ? record.length - 1 : record.length;
}

/**
 * Finds the ends of records in bytes that come piece by piece: a line feed outside of quotes. Bytes inside quotes
 * count by their parity, so a cut at any place is told from an end.
 */
export class RecordEnds {
  #quoted = false;
  readonly #quotes: boolean;

  /** @param quotes false where a record is a line, as in NDJSON */
  constructor(quotes: boolean) {
    this.#quotes = quotes;
  }

  /** Offsets just behind each record that ends in these bytes. */
  *in(bytes: Uint8Array): Generator<number> {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE && this.#quotes) this.#quoted = !this.#quoted;
      else if (byte === LINE_FEED && !this.#quoted) yield at + 1;
    }
  }
}
