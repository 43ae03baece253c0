import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { helpText, TOPICS, textWidth } from '../cli/help.ts';

export function registerHelp(program: CliCommand, app: App): void {
  program
    .command('help')
    .about('Show help for a command or topic', 'Topics: environment, exit-codes, formats.')
    .argument('[command...]', 'Command, or environment, exit-codes, formats')
    .completeWith('command', 'topic')
    .examples('restaurant help find', 'restaurant help exit-codes')
    .action(async (words: string[]) => {
      const { findCommand } = await import('../cli/introspect.ts');
      const [word = ''] = words;
      const topic = words.length === 1 && Object.hasOwn(TOPICS, word) ? TOPICS[word] : undefined;
      const text = topic?.(textWidth(app.helpWidth)) ?? helpText(findCommand(program, words), app.helpWidth);
      await app.context.stdout.write(text);
    });
}
