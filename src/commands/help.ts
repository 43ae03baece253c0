import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { helpText, TOPICS, topicText } from '../cli/help.ts';
import { OTHER_TOPICS, ownWords } from '../cli/synonyms.ts';
import { usage } from '../errors.ts';
import { restaurant } from '../hint.ts';
import { nearest } from '../util/nearest.ts';

export function registerHelp(command: CliCommand, app: App): void {
  command
    .about('Show help for a command or topic', 'Topics: environment, exit-codes, formats, options.')
    .argument('[command...]', 'Command or topic')
    .completeWith('command', 'topic')
    .examples('restaurant help find', 'restaurant help exit-codes')
    .action(async (words: string[]) => {
      const program = command.root;
      await program.loadTree();
      const { findCommand } = await import('../cli/introspect.ts');
      const word = words.length === 1 ? (words[0] ?? '') : '';
      const topics = Object.keys(TOPICS);
      const [near] = program.children.some((each) => each.name() === word)
        ? []
        : [...ownWords(OTHER_TOPICS, word), ...nearest(word, topics, 1)];
      if (near !== undefined && near !== word) {
        throw usage(`unknown topic '${word}'`, { text: 'did you mean', command: restaurant('help', near) });
      }
      const text = topics.includes(word)
        ? topicText(word, app.terminal.helpWidth)
        : helpText(findCommand(program, words, app), app);
      await app.context.stdout.write(text);
    });
}
