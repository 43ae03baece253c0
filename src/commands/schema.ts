import type { App } from '../app/app.ts';
import type { CliCommand, JsonSchema } from '../cli/command.ts';
import { boolean, jsonSchema, list, object, text, textOrNull } from '../cli/schemas.ts';

const OPTION = object(
  {
    name: text,
    short: textOrNull,
    flags: text,
    description: text,
    type: { enum: ['boolean', 'string', 'integer', 'array'] },
    choices: list(text),
    default: {},
    environment: text,
  },
  ['name', 'short', 'flags', 'description', 'type'],
);

const COMMAND = object(
  {
    name: text,
    summary: text,
    details: text,
    arguments: list(
      object({ name: text, description: text, required: boolean, variadic: boolean, choices: list(text) }, [
        'name',
        'description',
        'required',
        'variadic',
      ]),
    ),
    options: list(OPTION),
    examples: list(text),
    commands: list({ type: 'object', description: 'a command, in the same form' }),
    global_options: list(text),
    input: jsonSchema,
    output: jsonSchema,
    dry_run: jsonSchema,
    progress: jsonSchema,
    error: jsonSchema,
  },
  ['name', 'summary', 'examples'],
);

/** Schema of what `schema` prints: the program, or one command. */
const SCHEMA_OUTPUT: JsonSchema = {
  anyOf: [
    object({
      name: text,
      version: text,
      commands: list(COMMAND),
      options: list(OPTION),
      error: jsonSchema,
      exit_codes: list(
        object({ exit: { type: 'integer' }, kind: text, codes: list(object({ code: text, meaning: text })) }),
      ),
      environment: list(object({ name: text, meaning: text })),
    }),
    COMMAND,
  ],
};

/** Adds `schema` to the program. */
export function registerSchema(program: CliCommand, app: App): void {
  program
    .command('schema')
    .summary('Print the command tree as JSON')
    .description(
      'Print the whole command tree, or one command with its input and output JSON Schema, as JSON.',
    )
    .argument('[command...]', 'Command, such as find or config set')
    .completeWith('command', 'command')
    .usesOptions('json', 'file')
    .overrideOption('--format', { choices: ['json'], defaultText: 'json' })
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
