import type { App } from '../app/app.ts';
import { openOutput, writesToTerminal } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyObject } from '../cli/schemas.ts';
import { toJson } from '../util/json.ts';

export function registerSchema(program: CliCommand, app: App): void {
  program
    .command('schema')
    .about('Print the command tree as JSON')
    .argument('[command...]', 'Command, such as find or config set')
    .completeWith('command', 'command')
    .usesOptions('json', 'file')
    .overrideOption('--format', { choices: ['json'], defaultText: 'json' })
    .outputSchema({
      ...anyObject,
      description: 'the command tree, or a command with the JSON Schemas of its input and output',
    })
    .examples('restaurant schema', 'restaurant schema find', 'restaurant schema config set')
    .action(async (words: string[]) => {
      const { findCommand, describeCommand, describeProgram } = await import('../cli/introspect.ts');
      const facts =
        words.length === 0
          ? describeProgram(program)
          : describeCommand(program, findCommand(program, words), true);
      const target = openOutput(app);
      await target.write(`${toJson(facts, writesToTerminal(app))}\n`);
      await target.finish();
    });
}
