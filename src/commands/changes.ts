import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { App } from '../app/app.ts';
import { inputPath } from '../app/input.ts';
import { checkOutput, writeResult } from '../app/output.ts';
import { fullPath } from '../app/output-file.ts';
import type { CliCommand } from '../cli/command.ts';
import { CHANGE, list, object } from '../cli/schemas.ts';
import { type AppError, failure } from '../errors.ts';
import { again } from '../hint.ts';
import { type Answers, openAnswers } from '../lists/answers.ts';
import { changesIn, knownNames } from '../lists/changes.ts';
import { ANSWERS_ENDING, answersPathOf } from '../lists/open-answers.ts';
import { openSaved, stayWithSavedDemo } from '../lists/saved.ts';
import { viewFormatOf } from '../lists/views/outputs.ts';
import { CHANGE_COLUMNS, type Change, changesPresentation } from '../output/render/changes.ts';
import { parseSince, type Since } from '../settings/values.ts';
import { matching, notSaved, partOfName } from './lookup/select.ts';

export function registerChanges(command: CliCommand, app: App): void {
  command
    .about('Print what changed in saved restaurants, or in a list', 'Sends no request.')
    .argument('[id...]', 'Output file of enrich, or ID or name of a saved restaurant')
    .completeWith('id', 'saved')
    .valueOption('--since <t>', 'Only changes since 7d ago, yesterday, or 2026-11-01', {
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
  const start = since?.(now) ?? 0;
  const { answers, named } = await openAbout(app, words);
  const names = named.length === 0 ? [] : knownNames(answers);
  const ids = named.flatMap((word) => {
    const found = matching(word, names);
    if (found.length === 0)
      throw (
        partOfName(word, names, words, 'not_found') ??
        (words === named ? notSaved(word) : notInList(word, words[0] ?? ''))
      );
    return found.map(({ id }) => id);
  });
  const changes: Change[] = changesIn(answers, { start, ...(named.length > 0 && { ids }) });
  await writeResult(app, { changes }, async () => changesPresentation(changes, now));
  if (changes.length === 0) await app.notes.note('no changes');
}

/** A first word that names a file, by its extension or because it is there, is a list. */
async function openAbout(
  app: App,
  words: readonly string[],
): Promise<{ answers: Answers; named: readonly string[] }> {
  const [file = '', ...named] = words;
  const path = file === '' ? '' : fullPath(app.context, file);
  const exists = path !== '' && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (!exists && viewFormatOf(file) === undefined) {
    await stayWithSavedDemo(app);
    return { answers: openSaved(app, 'read'), named: words };
  }
  const real = inputPath(app, file);
  const answersPath = file.endsWith(ANSWERS_ENDING)
    ? real
    : answersPathOf([{ name: file, path: real, exists }]);
  if (!existsSync(answersPath))
    throw failure('bad_input', `${file} has no answers: there is no ${basename(answersPath)}`, {
      text: 'for saved restaurants',
      command: again({}, { operands: named }),
    });
  const answers = openAnswers(answersPath, {
    ...{ service: undefined, access: 'read', context: app.context },
    warn: (message) => void app.notes.warn(message, true),
  });
  app.cleanup.add(async () => answers.close());
  return { answers, named };
}

const notInList = (word: string, file: string): AppError =>
  failure('not_found', `'${word}' is not in ${file}`, { command: again({}, { operands: [file] }) });
