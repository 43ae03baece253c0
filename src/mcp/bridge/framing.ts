import { stringifyExact } from '../../util/exact-json.ts';

/** Maximum size of a line, in bytes. */
export const MAX_LINE_BYTES = 20 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/** One line of input: its text, or the reason why it has none. */
export type Line = { readonly text: string } | { readonly problem: string };

/** Splits a stream of bytes into lines. */
export interface LineReader {
  /** Takes the next bytes, split anywhere. @returns the lines that they complete */
  push(chunk: Uint8Array): Line[];
  /** Ends the stream. @returns the last line when it has no line break */
  end(): Line[];
}

/**
 * Reads newline-delimited messages (MCP, stdio transport). Lines end with LF or CRLF; blank lines are skipped. A line
 * that is not UTF-8 or is longer than `maxBytes` is reported as a problem, and reading continues with the next line.
 */
export function lineReader(maxBytes: number = MAX_LINE_BYTES): LineReader {
  let parts: Uint8Array[] = [];
  let size = 0;

  function add(part: Uint8Array): void {
    size += part.length;
    // A line that is too long is counted, not stored.
    if (size > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  }

  function takeLine(): Line[] {
    const bytes = Buffer.concat(parts);
    const tooLong = size > maxBytes;
    parts = [];
    size = 0;
    if (tooLong) return [{ problem: `the line is longer than ${maxBytes} bytes` }];
    return decode(bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes);
  }

  return {
    push(chunk) {
      const lines: Line[] = [];
      let from = 0;
      for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
        add(chunk.subarray(from, at));
        lines.push(...takeLine());
        from = at + 1;
      }
      // A copy, because the caller may reuse the chunk's memory.
      add(chunk.slice(from));
      return lines;
    },
    end: takeLine,
  };
}

/** LF is never part of a longer UTF-8 sequence, so each line can be decoded separately. */
function decode(bytes: Uint8Array): Line[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.trim() === '' ? [] : [{ text }];
  } catch {
    return [{ problem: 'the line is not UTF-8' }];
  }
}

/** Formats a message as a line. JSON escapes line breaks inside it. */
export function toLine(message: unknown): string {
  return `${stringifyExact(message)}\n`;
}
