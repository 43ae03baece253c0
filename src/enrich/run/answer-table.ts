import { hash } from 'node:crypto';

/** A place in the output file. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

const FIRST_CAPACITY = 1024;
const FULLEST = 0.8;
const MOST_MISSED = 1024;

/**
 * Where in the output the answer to each query stands. Twenty bytes a query, so that a long list needs little memory:
 * a hash of 64 bits, an offset, a length; open addressing.
 */
export class AnswerTable {
  #capacity = FIRST_CAPACITY;
  #size = 0;
  #high = new Uint32Array(FIRST_CAPACITY);
  #low = new Uint32Array(FIRST_CAPACITY);
  #offsets = new Float64Array(FIRST_CAPACITY);
  /** 0: the place is free. */
  #lengths = new Uint32Array(FIRST_CAPACITY);
  /** Hashes of the last queries that were not there: their answers are on the way. */
  #missed = new Map<string, [number, number]>();

  /** How many queries it knows. */
  get size(): number {
    return this.#size;
  }

  get(query: string): Span | undefined {
    const hash = hashOf(query);
    const place = this.#placeOf(...hash);
    const length = this.#lengths[place] ?? 0;
    if (length > 0) return { offset: this.#offsets[place] ?? 0, length };
    if (this.#missed.size >= MOST_MISSED) this.#missed.clear();
    this.#missed.set(query, hash);
    return undefined;
  }

  /** Keeps the place of an answer; the first one stays. @param span of a length above 0 */
  set(query: string, { offset, length }: Span): void {
    if (this.#size >= this.#capacity * FULLEST) this.#grow();
    const hash = this.#missed.get(query) ?? hashOf(query);
    this.#missed.delete(query);
    this.#put(...hash, offset, length);
  }

  #put(high: number, low: number, offset: number, length: number): void {
    const place = this.#placeOf(high, low);
    if (this.#lengths[place] !== 0) return;
    this.#high[place] = high;
    this.#low[place] = low;
    this.#offsets[place] = offset;
    this.#lengths[place] = length;
    this.#size += 1;
  }

  /** The place that holds the hash, or the free one where it belongs. */
  #placeOf(high: number, low: number): number {
    let place = low % this.#capacity;
    while (this.#lengths[place] !== 0 && (this.#high[place] !== high || this.#low[place] !== low)) {
      place = (place + 1) % this.#capacity;
    }
    return place;
  }

  #grow(): void {
    const [high, low, offsets, lengths] = [this.#high, this.#low, this.#offsets, this.#lengths];
    this.#capacity *= 2;
    this.#size = 0;
    this.#high = new Uint32Array(this.#capacity);
    this.#low = new Uint32Array(this.#capacity);
    this.#offsets = new Float64Array(this.#capacity);
    this.#lengths = new Uint32Array(this.#capacity);
    for (const [place, length] of lengths.entries()) {
      if (length > 0) this.#put(high[place] ?? 0, low[place] ?? 0, offsets[place] ?? 0, length);
    }
  }
}

function hashOf(query: string): [number, number] {
  const digest = hash('sha256', query, 'buffer');
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}
