const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
/** A longer line is left to the parser, which knows how long one may be. */
const LONGEST_LINE = 1024 * 1024;

export interface PlainRow {
  readonly cells: string[];
  readonly line: number;
}

/**
 * Reads the rows of a CSV up to the first quote. Without quotes a row is a line and a cell what stands between two
 * delimiters, for which no parser is needed: it takes a tenth of the time.
 */
export class PlainLines {
  readonly #delimiter: string;
  #line = 1;
  #open: Buffer = Buffer.alloc(0);

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  /** The line on which {@link rest} begins. */
  get line(): number {
    return this.#line;
  }

  /** The bytes behind the last whole line. */
  get rest(): Buffer {
    return this.#open;
  }

  /**
   * The rows that end in these bytes; blank lines are passed over.
   * @returns undefined at a quote or a very long line: {@link rest}, which then holds these bytes too, takes a parser
   */
  push(chunk: Buffer): PlainRow[] | undefined {
    const bytes = this.#open.length === 0 ? chunk : Buffer.concat([this.#open, chunk]);
    this.#open = bytes;
    if (chunk.includes(QUOTE)) return undefined;
    // A return at the very end may be half a line break.
    const sure = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
    const cut = 1 + Math.max(sure.lastIndexOf(LINE_FEED), sure.lastIndexOf(RETURN));
    if (bytes.length - cut > LONGEST_LINE) return undefined;
    this.#open = bytes.subarray(cut);
    return this.#rowsOf(bytes.toString('utf8', 0, cut));
  }

  /** The last row, where no line break ends it. */
  end(): PlainRow[] {
    const text = this.#open.toString('utf8');
    this.#open = Buffer.alloc(0);
    return this.#rowsOf(`${text}\n`);
  }

  #rowsOf(text: string): PlainRow[] {
    const rows: PlainRow[] = [];
    const lines = text.includes('\r') ? text.split(/\r\n|\n|\r/) : text.split('\n');
    // Behind the last line break there is none.
    lines.pop();
    for (const line of lines) {
      if (line !== '') rows.push({ cells: line.split(this.#delimiter), line: this.#line });
      this.#line += 1;
    }
    return rows;
  }
}
