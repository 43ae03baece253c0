import type { OnProblem } from '../row.ts';

export interface DecodedText {
  /** Whether there is a byte order mark, which is not part of the pieces, or an encoding other than UTF-8. */
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
/** Number of bytes from which an encoding is detected: at the start, and before an invalid byte. */
const HEAD_BYTES = 4;
const TAIL_BYTES = 3;
/** First bytes of ZIP files (.xlsx, .ods) and of the container format of .xls. */
const WORKBOOKS = ['PK\x03\x04', '\xd0\xcf\x11\xe0'];
const REPLACEMENT = '\ufffd';

export function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/**
 * Decodes UTF-8, UTF-16 with a byte order mark, or the given encoding.
 * @param encoding WHATWG label; a byte order mark takes precedence
 * @param onProblem called with the line of an invalid byte, where the pieces end
 */
export async function decodeText(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  onProblem: OnProblem,
): Promise<DecodedText> {
  const source = chunks[Symbol.asyncIterator]();
  const head = await readHead(source);
  const mark = MARKS.find((each) => each.bytes.every((byte, index) => head[index] === byte));
  const first = mark === undefined ? head : head.subarray(mark.bytes.length);
  const utf16 = mark === undefined && encoding === undefined ? utf16Order(head) : undefined;

  async function* decode(label: string): AsyncGenerator<string> {
    if (utf16 !== undefined) return onProblem({ line: 1, what: 'is UTF-16, not UTF-8', encoding: utf16 });
    // The strict decoder finds invalid bytes; the text of the lenient one gives their line.
    const strict = new TextDecoder(label, { fatal: true, ignoreBOM: true });
    const lenient = new TextDecoder(label, { ignoreBOM: true });
    let line = 1;
    let tail: Uint8Array = new Uint8Array();
    for (let next: Uint8Array | undefined = first; ; next = (await source.next()).value) {
      const text = lenient.decode(next, { stream: next !== undefined });
      try {
        strict.decode(next, { stream: next !== undefined });
      } catch {
        const [before = ''] = text.split(REPLACEMENT, 1);
        const bytes = Buffer.concat(next === undefined ? [tail] : [tail, next]);
        return onProblem({
          line: line + countLines(before),
          what: `is not ${label === 'utf-8' ? 'UTF-8' : label}`,
          ...(label === 'utf-8' && { encoding: likelyEncoding(bytes) }),
        });
      }
      line += countLines(text);
      if (text !== '') yield text;
      if (next === undefined) return;
      tail = next.subarray(-TAIL_BYTES);
    }
  }

  return {
    bom: mark !== undefined || new TextDecoder(encoding).encoding !== 'utf-8',
    isWorkbook: WORKBOOKS.includes(head.toString('latin1', 0, 4)),
    pieces: decode(mark?.label ?? encoding ?? 'utf-8'),
  };
}

async function readHead(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await source.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

/** Detects UTF-16 without a byte order mark: in Latin text, every other byte is zero. */
function utf16Order([a, b, c, d]: Uint8Array): string | undefined {
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return 'utf-16le';
  return a === 0 && b !== 0 && c === 0 && d !== 0 ? 'utf-16be' : undefined;
}

const countLines = (text: string): number => text.split('\n').length - 1;

/** Returns Windows-1252 if most non-ASCII letters are single, as in Latin text; undefined if they form words. */
function likelyEncoding(bytes: Buffer): string | undefined {
  const runs = bytes.toString('latin1').match(/[\x80-\xff]+/g) ?? [];
  const letters = runs.reduce((sum, run) => sum + run.length, 0);
  return letters < runs.length * 2 ? 'windows-1252' : undefined;
}
