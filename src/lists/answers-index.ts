const INITIAL_SIZE = 1024;
const NONE = -1;

/**
 * Finds lines by key in a few bytes per entry: of a key, only a hash of 32 bits is kept, so the caller checks what it
 * finds. The seed makes collisions unpredictable.
 */
class Postings {
  readonly #seed: number;
  #count = 0;
  #heads = new Int32Array(INITIAL_SIZE).fill(NONE);
  #hashes = new Int32Array(INITIAL_SIZE);
  #lines = new Int32Array(INITIAL_SIZE);
  #shapes = new Uint16Array(INITIAL_SIZE);
  /** The entry before in the same slot of `#heads`. */
  #before = new Int32Array(INITIAL_SIZE);

  constructor(seed: number) {
    this.#seed = seed;
  }

  add(key: string, line: number, shape: number): void {
    if (this.#count === this.#lines.length) this.#grow();
    const hash = this.#hash(key);
    this.#hashes[this.#count] = hash;
    this.#lines[this.#count] = line;
    this.#shapes[this.#count] = shape;
    this.#link(this.#count);
    this.#count += 1;
  }

  /** The lines of a key, and possibly others. */
  find(key: string): { readonly line: number; readonly shape: number }[] {
    const hash = this.#hash(key);
    const found: { line: number; shape: number }[] = [];
    for (let at = this.#heads[this.#slot(hash)] ?? NONE; at !== NONE; at = this.#before[at] ?? NONE) {
      if (this.#hashes[at] === hash)
        found.push({ line: this.#lines[at] ?? 0, shape: this.#shapes[at] ?? NO_SHAPE });
    }
    return found;
  }

  #slot(hash: number): number {
    return hash & (this.#heads.length - 1);
  }

  #link(entry: number): void {
    const slot = this.#slot(this.#hashes[entry] ?? 0);
    this.#before[entry] = this.#heads[slot] ?? NONE;
    this.#heads[slot] = entry;
  }

  #grow(): void {
    const size = this.#lines.length * 2;
    const larger = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const copy = new Int32Array(size);
      copy.set(old);
      return copy;
    };
    this.#hashes = larger(this.#hashes);
    this.#lines = larger(this.#lines);
    const shapes = new Uint16Array(size);
    shapes.set(this.#shapes);
    this.#shapes = shapes;
    this.#before = larger(this.#before);
    this.#heads = new Int32Array(size).fill(NONE);
    for (let entry = 0; entry < this.#count; entry += 1) this.#link(entry);
  }

  /** FNV-1a, with the finalizer of MurmurHash3, because the slot is its low bits. */
  #hash(key: string): number {
    let hash = this.#seed;
    for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) ^ (hash >>> 16);
  }
}

/** The place of a line in the file, in bytes, and what orders it: its time, then its id. */
export interface IndexedLine {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly offset: number;
  readonly length: number;
  /** A number for the members that the line has about the key by which it was found; {@link NO_SHAPE} if unknown. */
  readonly shape: number;
}

export interface LineKey {
  readonly key: string;
  /** Of two lines with one key and shape, the newer one says all that the older one does. */
  readonly shape?: string | undefined;
}

export const NO_SHAPE = 0;
const MAX_SHAPES = 65_535;

/** The lines of an answers file by id and by key. The texts stay in the file. */
export class AnswersIndex {
  readonly #postings: Postings;
  readonly #ids: string[] = [];
  readonly #times: number[] = [];
  readonly #offsets: number[] = [];
  readonly #lengths: number[] = [];
  readonly #shapes = new Map<string, number>();

  constructor(seed: number) {
    this.#postings = new Postings(seed);
  }

  get size(): number {
    return this.#ids.length;
  }

  add({ id, at, offset, length }: Omit<IndexedLine, 'shape'>, keys: readonly LineKey[]): void {
    const line = this.#ids.length;
    this.#ids.push(id);
    this.#times.push(at);
    this.#offsets.push(offset);
    this.#lengths.push(length);
    for (const { key, shape } of keys) this.#postings.add(key, line, this.#shapeOf(shape));
    this.#postings.add(idKey(id), line, NO_SHAPE);
  }

  #shapeOf(shape: string | undefined): number {
    if (shape === undefined) return NO_SHAPE;
    const known = this.#shapes.get(shape);
    if (known !== undefined || this.#shapes.size >= MAX_SHAPES) return known ?? NO_SHAPE;
    this.#shapes.set(shape, this.#shapes.size + 1);
    return this.#shapes.size;
  }

  /** The lines of a key, and possibly others; the newest first, each once. */
  find(key: string): IndexedLine[] {
    return inOrder(this.#postings.find(key).map(({ line, shape }) => this.#line(line, shape)));
  }

  *all(): Generator<IndexedLine> {
    for (let line = 0; line < this.size; line += 1) yield this.#line(line, NO_SHAPE);
  }

  findId(id: string): IndexedLine | undefined {
    return this.find(idKey(id)).find((line) => line.id === id);
  }

  #line(line: number, shape: number): IndexedLine {
    return {
      id: this.#ids[line] ?? '',
      at: this.#times[line] ?? 0,
      offset: this.#offsets[line] ?? 0,
      length: this.#lengths[line] ?? 0,
      shape,
    };
  }
}

const idKey = (id: string): string => `id ${id}`;

type LineDate = Pick<IndexedLine, 'id' | 'at'>;

/** Whether a line comes after another: a later time, or the same and a larger id. */
export const isLater = (one: LineDate, other: LineDate): boolean =>
  one.at > other.at || (one.at === other.at && one.id > other.id);

/** Copies of a line have its id and time. */
function inOrder(lines: IndexedLine[]): IndexedLine[] {
  if (lines.length < 2) return lines;
  const sorted = lines.sort((a, b) => (isLater(a, b) ? -1 : Number(a.id !== b.id || a.at !== b.at)));
  return sorted.filter(({ id, at }, place) => id !== sorted[place - 1]?.id || at !== sorted[place - 1]?.at);
}
