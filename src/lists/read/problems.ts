import { type AppError, failure } from '../../errors.ts';
import { again, slot } from '../../hint.ts';
import { type OnProblem, type Problem, placeText } from '../row.ts';
import type { Input } from './input.ts';

/** Maximum number of lines that an error lists, and of those listed with their problem. */
const MAX_NAMED = 40;
const MAX_EXPLAINED = 3;

export class Problems {
  readonly #named: Problem[];
  count: number;

  constructor(...problems: readonly Problem[]) {
    this.#named = [...problems];
    this.count = problems.length;
  }

  add(problem: Problem): void {
    this.count += 1;
    if (this.#named.length < MAX_NAMED) this.#named.push(problem);
  }

  /** The likely encoding of the list, if it has bytes in another one than expected. */
  get encoding(): string | undefined {
    return this.#named.find(({ encoding }) => encoding !== undefined)?.encoding;
  }

  toError({ name, file }: Input): AppError {
    const named = this.#named;
    const explained = named
      .slice(0, MAX_EXPLAINED)
      .map((problem) => `line ${placeText(problem)} ${problem.what}`);
    const others = named.slice(MAX_EXPLAINED).map(placeText);
    const also =
      others.length === 0 ? '' : `; also ${others.length === 1 ? 'line' : 'lines'} ${others.join(', ')}`;
    const rest = this.count > named.length ? `, … (${this.count} in all)` : '';
    const bytes = named.find((problem) => 'encoding' in problem);
    const likely = bytes?.encoding === undefined ? '' : `; it is probably ${bytes.encoding}`;
    const correct = file
      ? { text: 'nothing was sent; correct these lines, then check', command: again({ '--dry-run': true }) }
      : { text: 'correct this line and send the list again; for a file, --dry-run lists all such lines' };
    return failure(
      'bad_input',
      `${name}: ${explained.join('; ')}${also}${rest}${likely}`,
      bytes === undefined
        ? correct
        : { command: again({ '--encoding': bytes.encoding ?? slot('encoding') }) },
    );
  }
}

/** Stops reading a stream at its first problem. */
export const stopAt =
  (input: Input): OnProblem =>
  (problem) => {
    throw new Problems(problem).toError(input);
  };
