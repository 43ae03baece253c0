import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { helpText, TOPICS, topicText } from '../cli/help.ts';
import { ourWords, VERBS } from '../cli/words.ts';
import { hintOfFailure, usage } from '../errors.ts';
import { restaurant } from '../hint.ts';
import { nearestOnes } from '../util/nearest.ts';

export function registerHelp(command: CliCommand, app: App): void {
  command
    .about('Show help for a command or topic', 'Topics: environment, exit-codes, formats, options.')
    .argument('[command...]', 'Command or topic')
    .completeWith('command', 'topic')
    .examples('restaurant help find', 'restaurant help exit-codes')
    .action(async (words: string[]) => app.context.stdout.write(await textFor(words, command.root, app)));
  command.suggest = () => hintOfFailure(() => textFor(command.args, command.root, app));
}

/** @throws {AppError} `usage` for words that name no command and no topic */
async function textFor(words: readonly string[], program: CliCommand, app: App): Promise<string> {
  await program.loadTree();
  const { findCommand } = await import('../cli/usage.ts');
  const typed = words.length === 1 ? (words[0] ?? '') : '';
  const names = program.children.map((child) => child.name());
  const near = names.includes(typed) ? [] : nearestOnes(typed, Object.keys(TOPICS));
  const [word = typed] = ourWords(VERBS, 'help', typed);
  if (near[0] !== undefined && near[0] !== word) {
    throw usage(`unknown topic '${typed}'`, {
      text: 'did you mean',
      command: restaurant('help', near[0]),
    });
  }
  return Object.hasOwn(TOPICS, word)
    ? topicText(word, app.terminal.helpWidth)
    : helpText(findCommand(program, words), app);
}
