import type { App } from '../app/app.ts';
import { openOutput, writesToTerminal } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyOf, boolean, integer, jsonSchema, list, object, text, textOrNull } from '../cli/schemas.ts';
import { toJson } from '../util/json.ts';

const OPTION = object({
  name: text,
  short: textOrNull,
  flags: text,
  description: text,
  type: { enum: ['boolean', 'string', 'integer', 'array'] },
  'choices?': list(text),
  'default?': {},
  'environment?': text,
});

const ARGUMENT = object({
  name: text,
  description: text,
  required: boolean,
  variadic: boolean,
  'choices?': list(text),
});

const COMMAND = object({
  name: text,
  summary: text,
  'details?': text,
  'arguments?': list(ARGUMENT),
  'options?': list(OPTION),
  examples: list(text),
  'commands?': list({ type: 'object', description: 'a command, in the same form' }),
  'global_options?': list(text),
  'input?': jsonSchema,
  'output?': jsonSchema,
  'dry_run?': jsonSchema,
  'progress?': jsonSchema,
  'error?': jsonSchema,
});

const PROGRAM = object({
  name: text,
  version: text,
  commands: list(COMMAND),
  options: list(OPTION),
  error: jsonSchema,
  exit_codes: list(object({ exit: integer, kind: text, codes: list(object({ code: text, meaning: text })) })),
  environment: list(object({ name: text, meaning: text })),
});

export function registerSchema(program: CliCommand, app: App): void {
  program
    .command('schema')
    .about(
      'Print the command tree as JSON',
      'Print the whole command tree, or one command with its input and output JSON Schema, as JSON.',
    )
    .argument('[command...]', 'Command, such as find or config set')
    .completeWith('command', 'command')
    .usesOptions('json', 'file')
    .overrideOption('--format', { choices: ['json'], defaultText: 'json' })
    .outputSchema(anyOf(PROGRAM, COMMAND))
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
