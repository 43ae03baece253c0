import type { OnProblem } from './row.ts';

export interface DecodedText {
  /** Whether it begins with a byte order mark, which is not in the pieces. */
  readonly bom: boolean;
  /** Whether the bytes are a workbook or another archive, which is not text. */
  readonly isWorkbook: boolean;
  readonly pieces: AsyncGenerator<string>;
}

const MARKS = [
  { label: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { label: 'utf-16le', bytes: [0xff, 0xfe] },
  { label: 'utf-16be', bytes: [0xfe, 0xff] },
] as const;
/** A character of UTF-8 has at most four bytes, so at most three of them wait for the next chunk. */
const MAX_OPEN_BYTES = 3;
/** ZIP, as in .xlsx and .ods, and the container of .xls. */
const WORKBOOKS = ['PK\x03\x04', '\xd0\xcf\x11\xe0'];
const REPLACEMENT = '\ufffd';

/** Whether a label of the WHATWG Encoding Standard is known. */
export function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/**
 * Decodes UTF-8, UTF-16 with a byte order mark, and any encoding that is named.
 * @param encoding WHATWG label; a byte order mark takes precedence
 * @param onProblem receives the line where the bytes are something else; the pieces end there
 */
export async function decodeText(
  bytes: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  onProblem: OnProblem,
): Promise<DecodedText> {
  const source = bytes[Symbol.asyncIterator]();
  const head = await readHead(source);
  const mark = MARKS.find((each) => each.bytes.every((byte, index) => head[index] === byte));
  const utf16 = mark === undefined && encoding === undefined ? utf16Order(head) : undefined;
  if (utf16 !== undefined) onProblem({ line: 1, what: 'is UTF-16, not UTF-8', encoding: utf16 });
  const label = mark?.label ?? encoding ?? 'utf-8';
  const first = mark === undefined ? head : head.subarray(mark.bytes.length);
  return {
    bom: mark !== undefined,
    isWorkbook: WORKBOOKS.includes(head.toString('latin1', 0, 4)),
    pieces: utf16 === undefined ? decode(first, source, label, onProblem) : noText(),
  };
}

async function* noText(): AsyncGenerator<string> {}

/** The first bytes: enough to recognize an encoding, where there are so many. */
async function readHead(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length <= MAX_OPEN_BYTES) {
    const { value, done } = await source.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

/** UTF-16 by the zero in every other byte that Latin text has. */
function utf16Order([a, b, c, d]: Uint8Array): string | undefined {
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return 'utf-16le';
  return a === 0 && b !== 0 && c === 0 && d !== 0 ? 'utf-16be' : undefined;
}

async function* decode(
  first: Buffer,
  source: AsyncIterator<Uint8Array>,
  label: string,
  onProblem: OnProblem,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  let line = 1;
  let open: Buffer = Buffer.alloc(0);
  for (let next: Uint8Array | undefined = first; ; next = (await source.next()).value) {
    let text: string;
    try {
      text = next === undefined ? decoder.decode() : decoder.decode(next, { stream: true });
    } catch {
      const rest = Buffer.concat([open, next ?? Buffer.alloc(0)]);
      const before = new TextDecoder(label).decode(rest).split(REPLACEMENT, 1)[0] ?? '';
      const known = label === 'utf-8' ? 'UTF-8' : label;
      return onProblem({
        line: line + countLines(before),
        what: `is not ${known}`,
        ...(label === 'utf-8' && { encoding: likelyEncoding(rest) }),
      });
    }
    line += countLines(text);
    if (text !== '') yield text;
    if (next === undefined) return;
    open = openBytes(Buffer.concat([open, next.subarray(-MAX_OPEN_BYTES)]));
  }
}

const countLines = (text: string): number => text.split('\n').length - 1;

/** The bytes from the last lead byte of UTF-8 on: what may be an unfinished character. */
function openBytes(bytes: Buffer): Buffer {
  const last = bytes.subarray(-MAX_OPEN_BYTES);
  const lead = last.findLastIndex((byte) => byte >= 0xc0);
  return lead === -1 ? Buffer.alloc(0) : last.subarray(lead);
}

/** Windows-1252 where most letters beyond ASCII come alone, as in Latin text; undefined where they come in words. */
function likelyEncoding(bytes: Buffer): string | undefined {
  const runs = bytes.toString('latin1').match(/[\x80-\xff]+/g) ?? [];
  const letters = runs.reduce((sum, run) => sum + run.length, 0);
  return letters < runs.length * 2 ? 'windows-1252' : undefined;
}
