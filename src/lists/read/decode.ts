import { attempt } from '../../errors.ts';
import { prepend } from '../../util/async.ts';
import type { OnProblem } from '../row.ts';

export type FileKind = 'xlsx' | 'xls' | 'parquet';

interface DecodedText {
  /** Whether there is a byte order mark, which is not part of the pieces, or an encoding other than UTF-8. */
  readonly bom: boolean;
  /** The kind of a file that is not text; then `chunks` has its bytes. */
  readonly kind: FileKind | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
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
/** First bytes of ZIP files, of the container format of .xls and of workbooks with a password, and of Parquet files. */
const KINDS = new Map([
  ['PK\x03\x04', 'xlsx'],
  ['\xd0\xcf\x11\xe0', 'xls'],
  ['PAR1', 'parquet'],
] as const);
const REPLACEMENT = '\ufffd';

export const isEncoding = (label: string): boolean => attempt(() => new TextDecoder(label)) !== undefined;

/**
 * Decodes UTF-8, UTF-16 with a byte order mark, or the given encoding.
 * @param encoding WHATWG label; a byte order mark takes precedence
 * @param onProblem called with the line of an invalid byte, where the pieces end
 */
export async function decodeChunks(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  onProblem: OnProblem,
): Promise<DecodedText> {
  const source = chunks[Symbol.asyncIterator]();
  const head = await readHead(source);
  const mark = MARKS.find((each) => each.bytes.every((byte, index) => head[index] === byte));
  const utf16 = mark === undefined && encoding === undefined ? utf16Order(head) : undefined;
  const rest = prepend([head.subarray(mark?.bytes.length ?? 0)], source);
  return {
    bom: mark !== undefined || new TextDecoder(encoding).encoding !== 'utf-8',
    chunks: rest,
    kind: [...KINDS].find(([start]) => head.toString('latin1', 0, 4) === start)?.[1],
    pieces: decode(rest, utf16, mark?.label ?? encoding ?? 'utf-8', onProblem),
  };
}

/** @param utf16 the byte order of UTF-16 without a byte order mark, which is not decoded */
async function* decode(
  chunks: AsyncIterable<Uint8Array>,
  utf16: string | undefined,
  label: string,
  onProblem: OnProblem,
): AsyncGenerator<string> {
  if (utf16 !== undefined) return onProblem({ line: 1, what: 'is UTF-16, not UTF-8', encoding: utf16 });
  const strict = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  const lenient = new TextDecoder(label, { ignoreBOM: true });
  let line = 1;
  let tail: Uint8Array = new Uint8Array();
  for await (const chunk of withEnd(chunks)) {
    const stream = chunk !== undefined;
    const text = lenient.decode(chunk, { stream });
    if (attempt(() => strict.decode(chunk, { stream })) === undefined) {
      const [before = ''] = text.split(REPLACEMENT, 1);
      const bytes = Buffer.concat([tail, chunk ?? new Uint8Array()]);
      const encoding = label === 'utf-8' ? { encoding: likelyEncoding(bytes) } : {};
      const what = `is not ${label === 'utf-8' ? 'UTF-8' : label}`;
      return onProblem({ line: line + countLines(before), what, ...encoding });
    }
    line += countLines(text);
    tail = chunk?.subarray(-TAIL_BYTES) ?? tail;
    yield text;
  }
}

async function* withEnd<T>(chunks: AsyncIterable<T>): AsyncGenerator<T | undefined> {
  yield* chunks;
  yield undefined;
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
