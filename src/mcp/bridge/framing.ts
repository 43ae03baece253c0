import { decodeUtf8 } from '../../util/json.ts';

const MAX_LINE_BYTES = 20 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

export type BridgeLine = { readonly text: string } | { readonly problem: string };

/** Lines end with LF or CRLF; blank ones are skipped. After one that is too long or not UTF-8, reading continues. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<BridgeLine> {
  const line = new PartialLine(maxBytes);
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      line.add(chunk.subarray(from, at));
      yield* line.take();
      from = at + 1;
    }
    line.add(chunk.subarray(from));
  }
  yield* line.take();
}

class PartialLine {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    this.#size += part.length;
    // A line that is too long is counted, not stored.
    if (this.#size > this.#maxBytes) this.#parts = [];
    else this.#parts.push(part);
  }

  /** @returns nothing for a blank line */
  take(): BridgeLine[] {
    const problem = `the line is longer than ${this.#maxBytes} bytes`;
    const line = this.#size > this.#maxBytes ? { problem } : decode(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return 'text' in line && line.text.trim() === '' ? [] : [line];
  }
}

function decode(parts: readonly Uint8Array[]): BridgeLine {
  const bytes = Buffer.concat(parts);
  const text = decodeUtf8(bytes.subarray(0, bytes.at(-1) === CR ? -1 : bytes.length));
  return text === undefined ? { problem: 'the line is not UTF-8' } : { text };
}

export function toLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}
