import type { App } from '../app/app.ts';
import { checkOutput } from '../app/output.ts';
import { writeOutput, writesToTerminal } from '../app/output-file.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyObject, anyOf, integer, list, object, text } from '../cli/schemas.ts';
import { hintOfFailure } from '../errors.ts';
import { toJson } from '../util/json.ts';

const PROGRAM = object({
  name: text,
  version: text,
  about: text,
  groups: anyObject,
  commands: list(anyObject),
  options: list(anyObject),
  error: { type: 'object', description: 'a JSON Schema' },
  dry_run: { type: 'object', description: 'the JSON Schema of requests that --dry-run prints' },
  exit_codes: list(
    object({
      exit: integer,
      kind: text,
      'meaning?': text,
      codes: list(object({ code: text, meaning: text })),
    }),
  ),
  environment: list(object({ name: text, meaning: text })),
});

const COMMAND = { ...anyObject, description: 'a command with the JSON Schemas of its input and output' };

export function registerSchema(command: CliCommand, app: App): void {
  command
    .about('Print the command tree as JSON')
    .argument('[command...]', 'Command, such as find or config set')
    .completeWith('command', 'command')
    .usesOptions('json', 'file')
    .overrideOption('--format', { choices: ['json'], defaultText: 'json' })
    .outputSchema(anyOf(PROGRAM, COMMAND))
    .examples('restaurant schema', 'restaurant schema find', 'restaurant schema config set')
    .action(async (words: string[]) => {
      await checkOutput(app, 'document');
      const facts = await describe(words, command.root);
      await writeOutput(app, `${toJson(facts, writesToTerminal(app))}\n`);
    });
  command.suggest = () => hintOfFailure(() => describe(command.args, command.root));
}

/** @throws {AppError} `usage` for words that name no command */
async function describe(words: readonly string[], program: CliCommand): Promise<Record<string, unknown>> {
  await program.loadTree();
  const { describeCommand, describeProgram } = await import('../cli/introspect.ts');
  const { findCommand } = await import('../cli/usage.ts');
  return words.length === 0 ? describeProgram(program) : describeCommand(findCommand(program, words));
}
