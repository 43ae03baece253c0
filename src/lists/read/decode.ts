import { attempt } from '../../errors.ts';
import type { OnProblem, Problem } from '../row.ts';

export type FileKind = 'xlsx' | 'xls' | 'parquet';

export interface DecodedText {
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
export async function decodeText(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  onProblem: OnProblem,
): Promise<DecodedText> {
  const source = chunks[Symbol.asyncIterator]();
  const head = await readHead(source);
  const mark = MARKS.find((each) => each.bytes.every((byte, index) => head[index] === byte));
  const utf16 = mark === undefined && encoding === undefined ? utf16Order(head) : undefined;
  const rest = withFirst(head.subarray(mark?.bytes.length ?? 0), source);
  return {
    bom: mark !== undefined || new TextDecoder(encoding).encoding !== 'utf-8',
    chunks: rest,
    kind: [...KINDS].find(([start]) => head.toString('latin1', 0, 4) === start)?.[1],
    pieces: decode(rest, utf16, mark?.label ?? encoding ?? 'utf-8', onProblem),
  };
}

async function* withFirst<T>(first: T, source: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
}

/** @param utf16 the byte order of UTF-16 without a byte order mark, which is not decoded */
async function* decode(
  chunks: AsyncIterable<Uint8Array>,
  utf16: string | undefined,
  label: string,
  onProblem: OnProblem,
): AsyncGenerator<string> {
  if (utf16 !== undefined) return onProblem({ line: 1, what: 'is UTF-16, not UTF-8', encoding: utf16 });
  const decoder = new StrictDecoder(label);
  for await (const chunk of chunks) {
    yield decoder.decode(chunk);
    if (decoder.problem !== undefined) return onProblem(decoder.problem);
  }
  yield decoder.decode();
  if (decoder.problem !== undefined) onProblem(decoder.problem);
}

/** Decodes text up to the chunk with an invalid byte. */
class StrictDecoder {
  problem: Problem | undefined;
  readonly #label: string;
  readonly #strict: InstanceType<typeof TextDecoder>;
  readonly #lenient: InstanceType<typeof TextDecoder>;
  #line = 1;
  #tail: Uint8Array = new Uint8Array();

  constructor(label: string) {
    this.#label = label;
    this.#strict = new TextDecoder(label, { fatal: true, ignoreBOM: true });
    this.#lenient = new TextDecoder(label, { ignoreBOM: true });
  }

  /** @param chunk undefined at the end */
  decode(chunk?: Uint8Array): string {
    const stream = chunk !== undefined;
    const text = this.#lenient.decode(chunk, { stream });
    try {
      this.#strict.decode(chunk, { stream });
    } catch {
      this.problem = this.#problemIn(text, chunk);
      return '';
    }
    this.#line += countLines(text);
    if (chunk !== undefined) this.#tail = chunk.subarray(-TAIL_BYTES);
    return text;
  }

  #problemIn(text: string, chunk: Uint8Array = new Uint8Array()): Problem {
    const [before = ''] = text.split(REPLACEMENT, 1);
    const line = this.#line + countLines(before);
    if (this.#label !== 'utf-8') return { line, what: `is not ${this.#label}` };
    return { line, what: 'is not UTF-8', encoding: likelyEncoding(Buffer.concat([this.#tail, chunk])) };
  }
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
