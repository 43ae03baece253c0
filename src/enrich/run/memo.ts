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
  const offsets = new Map<string, number>();
  const digest = (key: string): string => hash('sha256', key, 'binary');
  return {
    get(key) {
      const offset = offsets.get(digest(key));
      if (offset === undefined) return undefined;
      const text = read(offset);
      if (text !== undefined) return text;
      throw new AppError('io_error', 'the output was cut by another program during the run');
    },
    set(key, _text, offset) {
      const short = digest(key);
      if (!offsets.has(short)) offsets.set(short, offset);
    },
  };
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
