import type { App } from '../../app/app.ts';
import { restaurantsOf, seenResults, serviceName } from '../../app/last-results.ts';
import { MIN_BEGINNING, namesOf, savedIfReadable } from '../../app/saved.ts';
import { usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { cleanLine } from '../../util/text.ts';

const MAX_NAMED = 3;

/** Completes the beginning of an id, as git does: one of the ids seen before that starts with it. @throws {AppError} `usage` */
export function completeId(app: App, beginning: string): string {
  const saved = savedIfReadable(app).filter(({ service }) => service === serviceName(app));
  const results = restaurantsOf({ rows: seenResults(app).restaurants });
  const seen = new Map([...namesOf(saved), ...results].map(({ id, name }) => [id, name]));
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
