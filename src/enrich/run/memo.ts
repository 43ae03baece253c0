import { hash } from 'node:crypto';
import { AppError } from '../../errors.ts';
import type { Searchable } from '../match/columns.ts';

/** The text of finished results by their query, so that equal queries are requested once. */
export interface Memo {
  get(key: string): string | undefined;
  /** Keeps a text; the first one of a key stays. @param offset where it begins in the output */
  set(key: string, text: string, offset: number): void;
}

/** The key of a row's result. */
export const queryKey = (query: Searchable): string =>
  query.kind === 'search' ? `search\0${query.name}\0${query.city}` : `row\0${query.id}`;

/** The key of a restaurant's details, whichever row requested them. */
export const detailsKey = (id: string): string => `details\0${id}`;

/**
 * Texts that are read from the output file again, so that only a digest of each key and an offset are in memory.
 * @param read returns the text at an offset; undefined where the file ends before it does
 */
export function fileMemo(read: (offset: number) => string | undefined): Memo {
  const offsets = new OffsetTable();
  const digest = (key: string): Buffer => hash('sha256', key, 'buffer');
  return {
    get(key) {
      const offset = offsets.get(digest(key));
      if (offset === undefined) return undefined;
      const text = read(offset);
      if (text !== undefined) return text;
      throw new AppError('io_error', 'the output was cut by another program during the run');
    },
    set: (key, _text, offset) => offsets.add(digest(key), offset),
  };
}

/** Bytes of a digest that are kept, and of a slot: the digest and the offset plus one, as a double; 0 in an empty slot. */
const DIGEST = 16;
const SLOT = DIGEST + 8;

/**
 * Offsets by digest, in a hash table with open addressing. It is one buffer outside of the JavaScript heap, because V8
 * lets garbage grow to several times the size of the objects that are in use.
 */
class OffsetTable {
  #slots = Buffer.alloc(1024 * SLOT);
  #used = 0;

  get(digest: Buffer): number | undefined {
    const stored = this.#stored(this.#find(digest));
    return stored === 0 ? undefined : stored - 1;
  }

  /** Adds an offset; the first one of a digest stays. */
  add(digest: Buffer, offset: number): void {
    const at = this.#find(digest);
    if (this.#stored(at) !== 0) return;
    digest.copy(this.#slots, at, 0, DIGEST);
    this.#slots.writeDoubleLE(offset + 1, at + DIGEST);
    this.#used += 1;
    if (this.#used * SLOT * 2 > this.#slots.length) this.#grow();
  }

  #stored(at: number): number {
    return this.#slots.readDoubleLE(at + DIGEST);
  }

  /** Returns where the slot of a digest begins, or the empty one that it would take. */
  #find(digest: Buffer): number {
    let at = (digest.readUInt32LE() * SLOT) % this.#slots.length;
    while (this.#stored(at) !== 0 && digest.compare(this.#slots, at, at + DIGEST, 0, DIGEST) !== 0)
      at = (at + SLOT) % this.#slots.length;
    return at;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = Buffer.alloc(old.length * 2);
    this.#used = 0;
    for (let at = 0; at < old.length; at += SLOT) {
      const stored = old.readDoubleLE(at + DIGEST);
      if (stored !== 0) this.add(old.subarray(at, at + DIGEST), stored - 1);
    }
  }
}

/** Characters that are kept where the output cannot be read again. */
const MAX_CHARACTERS = 8_000_000;

/** Texts in memory. When they are too many, all are dropped. */
export function memoryMemo(maxCharacters = MAX_CHARACTERS): Memo {
  const texts = new Map<string, string>();
  let size = 0;
  return {
    get: (key) => texts.get(key),
    set(key, text) {
      size += key.length + text.length;
      if (size > maxCharacters) {
        texts.clear();
        size = key.length + text.length;
      }
      if (!texts.has(key)) texts.set(key, text);
    },
  };
}
