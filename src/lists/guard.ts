import { LEVELS } from '../client/tools.ts';
import { usage } from '../errors.ts';
import { again, slot } from '../hint.ts';
import { formatNumber } from '../util/format.ts';
import { findKey, lookupKey } from './answer-lines.ts';
import type { Answers } from './answers.ts';
import type { ListState } from './list-state.ts';
import { searchesFor } from './match/searches.ts';
import type { Question } from './resolve.ts';

const MIN_ANSWERS = 20;
const MIN_SHARE = 10;

/** Stops a run that would ask for everything again by mistake. @throws {AppError} `usage` */
export function assertSameList(state: ListState, answers: Answers): void {
  if (answers.size < MIN_ANSWERS) return;
  const known = new Set<string>();
  for (const question of state.questions()) {
    for (const key of answeredKeys(state, answers, question)) known.add(key);
    if (known.size * MIN_SHARE >= answers.size) return;
  }
  const total = countAnswers(answers);
  if (total < MIN_ANSWERS || known.size * MIN_SHARE >= total) return;
  throw usage(
    `only ${formatNumber(known.size)} of ${formatNumber(total)} answers in ${answers.path} belong to rows of this list: another list, column, or city?`,
    [
      { text: 'write another file', command: again({ '--output': slot('file') }) },
      { text: 'or share the answers on purpose', command: again({ '--answers': answers.path }) },
    ],
  );
}

function* answeredKeys(state: ListState, answers: Answers, question: Question): Generator<string> {
  const { name = '', city = '' } = question.key;
  if (name !== '' && city !== '') {
    for (const query of searchesFor({ name, city }))
      if (answers.find(query) !== undefined) yield findKey(query);
  }
  const id = state.resolve(question).result.restaurant?.service_id;
  if (id === undefined) return;
  for (const level of LEVELS) if (answers.lookup(id, level) !== undefined) yield lookupKey(id, level);
}

function countAnswers(answers: Answers): number {
  const keys = new Set<string>();
  for (const line of answers.lines()) {
    if ('find' in line) keys.add(findKey(line.find));
    if ('lookup' in line) keys.add(lookupKey(line.lookup.id, line.lookup.fields));
  }
  return keys.size;
}
