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
    .offers('command', 'command')
    .obeys('json', 'file')
    .prints(SCHEMA_OUTPUT)
    .examples('restaurant schema', 'restaurant schema find', 'restaurant schema config set')
    .action(async (words: string[]) => {
      const { commandNamed, describeCommand, describeProgram } = await import('../cli/introspect.ts');
      const { toJson } = await import('../output/json.ts');
      const { toTerminal } = await import('../app/emit.ts');
      const { openSink } = await import('../app/sink.ts');
      const facts =
        words.length === 0
          ? describeProgram(program)
          : describeCommand(program, commandNamed(program, words), true);
      const sink = openSink(app);
      await sink.write(`${toJson(facts, toTerminal(app))}\n`);
      await sink.done();
    });
}
