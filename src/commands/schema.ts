import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { SCHEMA_OUTPUT } from '../cli/schemas.ts';

/** Adds `schema` to the program. */
export function registerSchema(program: CliCommand, app: App): void {
  program
    .command('schema')
    .summary('the command tree as JSON')
    .description(
      'Print the whole command tree, or one command with its input and output JSON Schema, as JSON.',
    )
    .argument('[command...]', 'one command, such as find or config set')
    .completeWith('command', 'command')
    .usesOptions('json', 'file')
    .outputSchema(SCHEMA_OUTPUT)
    .examples('restaurant schema', 'restaurant schema find', 'restaurant schema config set')
    .action(async (words: string[]) => {
      const { findCommand, describeCommand, describeProgram } = await import('../cli/introspect.ts');
      const { toJson } = await import('../util/json.ts');
      const { writesToTerminal } = await import('../app/output.ts');
      const { openOutput } = await import('../app/output.ts');
      const facts =
        words.length === 0
          ? describeProgram(program)
          : describeCommand(program, findCommand(program, words), true);
      const sink = openOutput(app);
      await sink.write(`${toJson(facts, writesToTerminal(app))}\n`);
      await sink.finish();
    });
}
