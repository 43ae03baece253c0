import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { helpText, textWidth } from '../cli/help.ts';

/** Adds `help` to the program. */
export function registerHelp(program: CliCommand, app: App): void {
  program
    .command('help')
    .summary('Show help for a command or topic')
    .description('Show help for a command, or for a topic: environment, exit-codes, formats.')
    .argument('[command...]', 'Command, or environment, exit-codes, formats')
    .completeWith('command', 'topic')
    .examples('restaurant help find', 'restaurant help exit-codes')
    .action(async (words: string[]) => {
      await app.context.stdout.write(await textFor(program, app, words));
    });
}

async function textFor(program: CliCommand, app: App, words: readonly string[]): Promise<string> {
  const { TOPICS } = await import('../cli/topics.ts');
  const [word = ''] = words;
  const topic = words.length === 1 && Object.hasOwn(TOPICS, word) ? TOPICS[word] : undefined;
  if (topic !== undefined) return topic(textWidth(app.helpWidth));
  const { findCommand } = await import('../cli/introspect.ts');
  return helpText(findCommand(program, words), app.helpWidth);
}
