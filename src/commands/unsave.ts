import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import { namedBy, nameOf, SEE_SAVED, savedStore } from '../app/saved.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, text } from '../cli/schemas.ts';
import { AppError, usage } from '../errors.ts';
import { restaurant } from '../hint.ts';
import { cleanLine } from '../util/text.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

export function registerUnsave(command: CliCommand, app: App): void {
  command
    .about('Remove saved restaurants', 'Their recorded changes stay.')
    .argument('<id...>', 'ID or its beginning, or name')
    .completeWith('id', 'saved')
    .usesOptions('json')
    .outputSchema(object({ removed: list(object({ id: text, name: text })) }))
    .examples('restaurant unsave Nopa')
    .action((words: string[]) => unsave(app, words));
}

async function unsave(app: App, words: readonly string[]): Promise<void> {
  const store = savedStore(app);
  const all = store.read().map((one) => ({ id: one.id, name: nameOf(one) }));
  const removed = [...new Set(words.map((word) => findNamed(word, all)))];
  const ids = removed.map(({ id }) => id);
  await store.update((restaurants) => ({ restaurants: restaurants.filter(({ id }) => !ids.includes(id)) }));
  await writeText(app, { removed }, () =>
    removed.map(({ name }) => `${cleanLine(name)} is no longer saved\n`).join(''),
  );
}

function findNamed(word: string, all: readonly Named[]): Named {
  const [found, other, ...more] = namedBy(word, all);
  if (found === undefined) throw new AppError('not_found', `'${word}' is not saved`, { hint: SEE_SAVED });
  if (other === undefined) return found;
  const named = [found, other].map(({ id, name }) => `${cleanLine(name)} (${id})`).join(', ');
  const rest = more.length === 0 ? '' : ` and ${more.length} more`;
  throw usage(`'${word}' matches several saved restaurants: ${named}${rest}`, {
    command: restaurant('unsave', found.id),
  });
}
