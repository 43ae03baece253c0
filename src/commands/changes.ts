import type { App } from '../app/app.ts';
import { checkJqFilter, checkOutputOptions, writeResult } from '../app/output.ts';
import { namedBy, savedStore } from '../app/saved.ts';
import type { CliCommand } from '../cli/command.ts';
import { CHANGE, list, object } from '../cli/schemas.ts';
import { CHANGE_COLUMNS, changesPresentation } from '../output/render/changes.ts';
import { parseSince, type Since } from '../settings/values.ts';

export function registerChanges(command: CliCommand, app: App): void {
  command
    .about('Print the recorded changes of saved restaurants', 'Sends no request.')
    .argument('[id...]', 'ID or its beginning, or name')
    .completeWith('id', 'saved')
    .valueOption('--since <t>', 'Only changes since 7d ago, or 2026-11-01', {
      read: parseSince,
    })
    .usesOptions('json', 'records', 'file')
    .outputSchema(object({ changes: list(CHANGE) }))
    .examples('restaurant changes --since 7d', 'restaurant changes --since 2026-11-01 --json')
    .notes('restaurant saved --refresh records changes. restaurant status shows where they are kept.')
    .action((words: string[], { since }: { since?: Since }) => printChanges(app, words, since));
}

async function printChanges(app: App, words: readonly string[], since: Since | undefined): Promise<void> {
  checkOutputOptions(app, CHANGE_COLUMNS);
  await checkJqFilter(app);
  const now = app.context.now();
  const start = since === undefined ? 0 : (since.at ?? now - since.ago);
  const all = savedStore(app).changes();
  const named = new Set(words.flatMap((word) => namedBy(word, all)));
  const changes = all.filter(
    (change) => Date.parse(change.when) >= start && (words.length === 0 || named.has(change)),
  );
  await writeResult(app, { changes }, async () => changesPresentation(changes, now));
  if (changes.length === 0) await app.notes.note('no recorded changes');
}
