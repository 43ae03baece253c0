import type { App } from '../app/app.ts';
import { checkOutput, writeResult } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { CHANGE, list, object } from '../cli/schemas.ts';
import { changesIn, knownNames } from '../lists/changes.ts';
import { namedBy, notSaved, openSaved } from '../lists/saved.ts';
import { CHANGE_COLUMNS, type Change, changesPresentation } from '../output/render/changes.ts';
import { parseSince, type Since } from '../settings/values.ts';

export function registerChanges(command: CliCommand, app: App): void {
  command
    .about('Print what changed in saved restaurants', 'Sends no request.')
    .argument('[id...]', 'ID or its beginning, or name')
    .completeWith('id', 'saved')
    .valueOption('--since <t>', 'Only changes since 7d ago, or 2026-11-01', {
      read: parseSince,
      example: '7d',
    })
    .usesOptions('service', 'json', 'records', 'file')
    .outputSchema(object({ changes: list(CHANGE) }))
    .examples('restaurant changes --since 7d', 'restaurant changes --since 2026-11-01 --json')
    .notes(
      'A change is a field that differs between two answers about a restaurant, or gone if the service no longer knows ' +
        'it. restaurant saved --refresh asks again.',
    )
    .action((words: string[], { since }: { since?: Since }) => printChanges(app, words, since));
}

async function printChanges(app: App, words: readonly string[], since: Since | undefined): Promise<void> {
  await checkOutput(app, 'changes', CHANGE_COLUMNS);
  const now = app.context.now();
  const start = since === undefined ? 0 : (since.at ?? now - since.ago);
  const answers = openSaved(app, 'read');
  const names = words.length === 0 ? [] : knownNames(answers);
  const ids = words.flatMap((word) => {
    const found = namedBy(word, names);
    if (found.length === 0) throw notSaved(word);
    return found.map(({ id }) => id);
  });
  const changes: Change[] = changesIn(answers, { start, ...(words.length > 0 && { ids }) });
  await writeResult(app, { changes }, async () => changesPresentation(changes, now));
  if (changes.length === 0) await app.notes.note('no changes');
}
