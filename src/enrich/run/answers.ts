import type { RowQuery } from '../match/columns.ts';
import { AnswerTable, type Span } from './answer-table.ts';

/** What was found for earlier rows, so that equal queries are asked once. The text is the `rest` of a written row. */
export interface Answers {
  recall(query: string): string | undefined;
  /** @param span where the text stands in the output */
  remember(query: string, rest: string, span: Span): void;
}

/** The name under which the answer to a row is kept; undefined where nothing is asked. */
export function cacheKey(ask: RowQuery): string | undefined {
  switch (ask.kind) {
    case 'search':
      return `search\0${ask.name}\0${ask.city}`;
    case 'lookup':
      return `row\0${ask.id}`;
    case 'none':
      return undefined;
  }
}

/** The name under which the details of a restaurant are kept, whatever row asked for them. */
export const detailsQuery = (id: string): string => `details\0${id}`;

/** Answers that stand in the output file, and are read from there again. */
export function answersInFile(read: (span: Span) => string): Answers {
  const table = new AnswerTable();
  return {
    recall(query) {
      const span = table.get(query);
      return span === undefined ? undefined : read(span);
    },
    remember: (query, _rest, span) => table.set(query, span),
  };
}

/** Characters that are held where the output cannot be read again. */
const MOST_HELD = 8_000_000;

/** Answers in memory: the last ones used. */
export function answersInMemory(most = MOST_HELD): Answers {
  const held = new Map<string, string>();
  let size = 0;
  return {
    recall(query) {
      const rest = held.get(query);
      if (rest === undefined) return undefined;
      held.delete(query);
      held.set(query, rest);
      return rest;
    },
    remember(query, rest) {
      if (held.has(query)) return;
      held.set(query, rest);
      size += query.length + rest.length;
      for (const [oldest, text] of held) {
        if (size <= most) return;
        held.delete(oldest);
        size -= oldest.length + text.length;
      }
    },
  };
}
