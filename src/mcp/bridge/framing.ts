import { stringifyExact } from '../../util/exact-json.ts';

/** Largest line that is read, in bytes. */
export const MAX_LINE_BYTES = 20 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/** One line of input: its text, or why it has none. */
export type Line = { readonly text: string } | { readonly problem: string };

/** Cuts a stream of bytes into lines. */
export interface LineReader {
  /** Takes the next bytes, cut anywhere. @returns the lines that they complete */
  push(chunk: Uint8Array): Line[];
  /** The stream is over. @returns what is left, where it ended without a line break */
  end(): Line[];
}

/**
 * Reads newline-delimited messages (MCP, stdio transport). Lines end with LF or CRLF, blank ones are left out. A line
 * that is no UTF-8 or longer than `maxBytes` is a problem of its own; those behind it are read as ever.
 */
export function lineReader(maxBytes: number = MAX_LINE_BYTES): LineReader {
  let parts: Uint8Array[] = [];
  let size = 0;

  function keep(part: Uint8Array): void {
    size += part.length;
    // What is too long is counted, not kept.
    if (size > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  }

  function take(): Line[] {
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
        keep(chunk.subarray(from, at));
        lines.push(...take());
        from = at + 1;
      }
      // A copy: whoever gave the chunk may use its memory again.
      keep(chunk.slice(from));
      return lines;
    },
    end: take,
  };
}

/** LF is no part of any longer UTF-8 sequence, so a line can be decoded by itself. */
function decode(bytes: Uint8Array): Line[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.trim() === '' ? [] : [{ text }];
  } catch {
    return [{ problem: 'the line is not UTF-8' }];
  }
}

/** A message as a line. JSON escapes the line breaks inside it. */
export function toLine(message: unknown): string {
  return `${stringifyExact(message)}\n`;
}
