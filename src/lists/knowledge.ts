import type { Answers } from './answers.ts';
import { Decisions } from './decisions.ts';
import type { Knowledge } from './resolve.ts';
import type { RowKey } from './row-key.ts';

/** The answers of a file with the decisions that apply to the rows of a list. @param rows read if there are decisions */
export function knowledgeOf(answers: Answers, rows: () => Iterable<RowKey>): Knowledge {
  let decisions: Decisions | undefined;
  return {
    find: (query) => answers.find(query),
    lookup: (id, level) => answers.lookup(id, level),
    about: (id) => answers.about(id),
    decision(row) {
      if (decisions === undefined && answers.decisions().length === 0) return undefined;
      decisions ??= new Decisions(answers, rows());
      return decisions.of(row);
    },
  };
}
