import { isUtf8 } from 'node:buffer';
import type { OnProblem } from './row.ts';

const BOM = [0xef, 0xbb, 0xbf] as const;
/** A sequence of UTF-8 has at most four bytes, so at most three of them wait for the next chunk. */
const LONGEST = 4;

export interface TextBytes {
  /** Whether a byte order mark stood in front; it is no part of the chunks. */
  readonly bom: boolean;
  /** Bytes that are UTF-8 as a whole, in pieces that may end inside a character. */
  readonly chunks: AsyncIterable<Buffer>;
}

/**
 * Lets UTF-8 through and nothing else.
 * @param onProblem told the line where it is something else; the chunks end there
 */
export async function openUtf8(bytes: AsyncIterable<Uint8Array>, onProblem: OnProblem): Promise<TextBytes> {
  const source = bytes[Symbol.asyncIterator]();
  const head = await readHead(source);
  const utf16 = looksLikeUtf16(head);
  if (utf16) onProblem({ line: 1, what: 'is UTF-16, not UTF-8' });
  const bom = BOM.every((byte, place) => head[place] === byte);
  return {
    bom,
    chunks: utf16 ? nothing() : checked(bom ? head.subarray(BOM.length) : head, source, onProblem),
  };
}

/** The first bytes, as many as a judgement needs where there are so many. */
async function readHead(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < LONGEST) {
    const { value, done } = await source.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

/** By its byte order mark, or by the zero in every other byte that Latin text has there. */
function looksLikeUtf16([a, b, c, d]: Uint8Array): boolean {
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return true;
  return (a !== 0 && b === 0 && c !== 0 && d === 0) || (a === 0 && b !== 0 && c === 0 && d !== 0);
}

async function* nothing(): AsyncGenerator<Buffer> {}

async function* checked(
  first: Buffer,
  source: AsyncIterator<Uint8Array>,
  onProblem: OnProblem,
): AsyncGenerator<Buffer> {
  let line = 1;
  let open: Buffer = Buffer.alloc(0);
  for (let next: Uint8Array | undefined = first; next !== undefined; next = (await source.next()).value) {
    const chunk: Buffer = open.length === 0 ? Buffer.from(next) : Buffer.concat([open, next]);
    const whole = chunk.subarray(0, wholeLength(chunk));
    if (!isUtf8(whole)) return onProblem({ line: faultLine(whole, line), what: 'is not UTF-8' });
    line += countLines(whole);
    open = chunk.subarray(whole.length);
    if (whole.length > 0) yield whole;
  }
  if (open.length > 0) onProblem({ line, what: 'is not UTF-8' });
}

/** Length without an unfinished character at the end. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back < LONGEST && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}

function faultLine(bytes: Buffer, firstLine: number): number {
  let line = firstLine;
  for (let start = 0; start < bytes.length; line += 1) {
    const next = bytes.indexOf(0x0a, start);
    const end = next === -1 ? bytes.length : next + 1;
    if (!isUtf8(bytes.subarray(start, end))) return line;
    start = end;
  }
  return line;
}
