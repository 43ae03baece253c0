import type { App } from '../../app/app.ts';
import { restaurantsOf } from '../../app/last-results.ts';
import { seenResults } from '../../app/seen-results.ts';
import { usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { MIN_BEGINNING, namedBy, savedIfReadable, severalNamed } from '../../lists/saved.ts';
import { cleanLine } from '../../util/text.ts';

const MAX_NAMED = 3;
const MIN_NAME = 3;

/** Completes the beginning of an id, as git does: one of the ids seen before that starts with it. @throws {AppError} `usage` */
export function completeId(app: App, beginning: string): string {
  const results = restaurantsOf({ rows: seenResults(app).restaurants });
  const seen = new Map([...savedIfReadable(app), ...results].map(({ id, name }) => [id, name]));
  if (beginning.length < MIN_BEGINNING || seen.has(beginning)) return beginning;
  const matches = [...seen].filter(([id]) => id.startsWith(beginning));
  const [[first = beginning] = [], ...others] = matches;
  if (others.length === 0) return first;
  const named = matches.slice(0, MAX_NAMED).map(([id, name]) => `${id} (${cleanLine(name)})`);
  const more = matches.length > MAX_NAMED ? ` and ${matches.length - MAX_NAMED} more` : '';
  throw usage(`'${beginning}' is the beginning of ${matches.length} IDs: ${named.join(', ')}${more}`, {
    command: again({}, { operands: [first] }),
  });
}

/** The saved restaurant with this name or part of a name. @throws {AppError} `usage` for several */
export function savedId(app: App, word: string): string | undefined {
  const [only, ...others] = word.length < MIN_NAME ? [] : namedBy(word, savedIfReadable(app), 'name');
  if (only !== undefined && others.length > 0) throw severalNamed(word, [only, ...others]);
  return only?.id;
}
