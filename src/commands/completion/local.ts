import type { App } from '../../app/app.ts';
import type { Candidate } from './candidate.ts';

const LONGEST_ABOUT = 60;
/** What can stand in a line as it is, whatever the shell. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N}_.:@/+ -]{0,127}$/u;

/** Values that came from outside: those that are harmless, with what is told of them cleaned. */
async function harmless(candidates: readonly Candidate[]): Promise<Candidate[]> {
  const known = candidates.filter(({ value }) => PLAIN.test(value));
  if (known.every(({ about }) => about === '')) return known;
  const { cleanLine, truncate } = await import('../../util/text.ts');
  return known.map(({ value, about }) => ({ value, about: truncate(cleanLine(about), LONGEST_ABOUT) }));
}

/** The rows of the last find, where it asked the service of this line: their numbers, with `ids` their ids too. */
export async function lastRows(app: App, ids: boolean): Promise<Candidate[]> {
  const { lastResults } = await import('../../app/last-results.ts');
  const rows = lastResults(app);
  const numbers = rows.map(({ name }, index) => ({ value: String(index + 1), about: name }));
  const named = rows.map(({ id, name }) => ({ value: id, about: name }));
  return harmless(ids ? [...numbers, ...named] : numbers);
}

/** The names of the saved logins. */
export async function profileNames(app: App): Promise<Candidate[]> {
  const names = Object.keys(app.config().profiles ?? {});
  return harmless(names.map((value) => ({ value, about: '' })));
}

/** The tools that the service listed some time ago; without such a list the documented ones. */
export async function knownTools(app: App): Promise<Candidate[]> {
  const { cachedTools } = await import('../../app/tool-lists.ts');
  const { DOCUMENTED_TOOLS } = await import('../../client/documented.ts');
  const tools = cachedTools(app) ?? DOCUMENTED_TOOLS;
  return harmless(
    tools.map(({ name, description = '' }) => ({ value: String(name), about: String(description) })),
  );
}
