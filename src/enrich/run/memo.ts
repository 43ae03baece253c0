import { hash } from 'node:crypto';
import type { Searchable } from '../match/columns.ts';
import type { Plan } from './plan.ts';

/** Stores the texts of finished results by query, so that equal queries are requested once. */
export interface Memo {
  get(key: string): string | undefined;
  /** Stores a text, unless there is one for the key. @param offset where the text begins in the output */
  set(key: string, text: string, offset: number): void;
}

/** 96 bits are enough to distinguish queries. A longer slice would keep the whole digest in memory. */
const digest = (text: string): string => hash('sha256', text, 'binary').slice(0, 12);

/** Returns the key of a query. Equal queries have equal keys. */
export const queryKey = (query: Searchable): string =>
  digest(query.kind === 'search' ? `search\0${query.name}\0${query.city}` : `row\0${query.id}`);

/** Returns the key of a restaurant's details. */
export const detailsKey = (id: string): string => digest(`details\0${id}`);

/**
 * Finds the queries that occur more than once in a list. Only their results are stored, so a long list of different rows
 * needs little memory.
 * @returns a function that returns whether the query with a key is repeated; for a stream, always true
 * @throws {AppError} `bad_input`; the signal's reason
 */
export async function repeatedQueries(
  { rows, total, columns }: Pick<Plan, 'rows' | 'total' | 'columns'>,
  signal: AbortSignal,
): Promise<(key: string) => boolean> {
  if (total === undefined) return () => true;
  const numberOf = (key: string): number => Buffer.from(key, 'latin1').readUInt32LE();
  const numbers = new Uint32Array(total);
  let count = 0;
  for await (const row of rows()) {
    signal.throwIfAborted();
    const query = columns.query(row);
    if (query.kind !== 'none') numbers[count++] = numberOf(queryKey(query));
  }
  const sorted = numbers.subarray(0, count).sort();
  const repeated = new Set(sorted.filter((number, index) => number === sorted[index - 1]));
  return (key) => repeated.has(numberOf(key));
}

/** Creates a memo for an output that can be read again. Keeps only the key and the offset of each text in memory. */
export function createOffsetMemo(read: (offset: number) => string | undefined): Memo {
  const offsets = new Map<string, number>();
  return {
    get(key) {
      const offset = offsets.get(key);
      return offset === undefined ? undefined : read(offset);
    },
    set(key, _text, offset) {
      if (!offsets.has(key)) offsets.set(key, offset);
    },
  };
}

/** Maximum number of characters in a memo. If there are more, it is cleared. */
const MAX_CHARACTERS = 8_000_000;

/** Creates a memo for an output that cannot be read again. */
export function createTextMemo(): Memo {
  const texts = new Map<string, string>();
  let size = 0;
  return {
    get: (key) => texts.get(key),
    set(key, text) {
      if (texts.has(key)) return;
      size += text.length;
      if (size > MAX_CHARACTERS) {
        texts.clear();
        size = text.length;
      }
      texts.set(key, text);
    },
  };
}
