import type { RowQuery } from '../match/columns.ts';
import type { Span } from '../write/row-file.ts';

/** The text of finished results by their query, so that equal queries are requested once. */
export interface Memo {
  get(key: string): string | undefined;
  /** Keeps a text; the first one of a key stays. @param span its place in the output */
  set(key: string, text: string, span: Span): void;
}

/** The key of a row's result; undefined where nothing is searched. */
export function queryKey(query: RowQuery): string | undefined {
  switch (query.kind) {
    case 'search':
      return `search\0${query.name}\0${query.city}`;
    case 'lookup':
      return `row\0${query.id}`;
    case 'none':
      return undefined;
  }
}

/** The key of a restaurant's details, whichever row requested them. */
export const detailsKey = (id: string): string => `details\0${id}`;

/** Texts that are read from the output file again, so that only their places are in memory. */
export function fileMemo(read: (span: Span) => string): Memo {
  const spans = new Map<string, Span>();
  return {
    get(key) {
      const span = spans.get(key);
      return span === undefined ? undefined : read(span);
    },
    set(key, _text, span) {
      if (!spans.has(key)) spans.set(key, span);
    },
  };
}

/** Characters that are kept where the output cannot be read again. */
const MAX_CHARACTERS = 8_000_000;

/** The texts that were used last. */
export function memoryMemo(maxCharacters = MAX_CHARACTERS): Memo {
  const texts = new Map<string, string>();
  let size = 0;
  return {
    get(key) {
      const text = texts.get(key);
      if (text === undefined) return undefined;
      texts.delete(key);
      texts.set(key, text);
      return text;
    },
    set(key, text) {
      if (texts.has(key)) return;
      texts.set(key, text);
      size += key.length + text.length;
      for (const [oldest, old] of texts) {
        if (size <= maxCharacters) return;
        texts.delete(oldest);
        size -= oldest.length + old.length;
      }
    },
  };
}
