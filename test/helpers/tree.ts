import { fileURLToPath } from 'node:url';
import { runCli } from './program.ts';

const TREE = fileURLToPath(new URL('../../scripts/tree.js', import.meta.url));

/** An option as `restaurant schema` prints it. */
export interface SchemaOption {
  readonly name: string;
  readonly short: string | null;
  readonly flags: string;
  readonly description: string;
  readonly type: 'boolean' | 'string' | 'integer' | 'array';
  readonly choices?: readonly string[];
  readonly default?: unknown;
}

/** A command as `restaurant schema` prints it. */
export interface SchemaCommand {
  /** The full name, such as `config get`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly {
    name: string;
    description: string;
    required: boolean;
    variadic: boolean;
    choices?: readonly string[];
  }[];
  readonly options: readonly SchemaOption[];
  readonly examples: readonly string[];
  readonly commands?: readonly SchemaCommand[];
  readonly global_options: readonly string[];
}

/** Output of `restaurant schema`. */
export interface Schema {
  readonly name: string;
  readonly version: string;
  readonly commands: readonly SchemaCommand[];
  readonly options: readonly SchemaOption[];
  readonly exit_codes: readonly { exit: number; kind: string; codes: readonly { code: string }[] }[];
  readonly environment: readonly { name: string; meaning: string }[];
}

/** Returns the command tree as the program describes it, so that the tests need no list of commands. */
export async function readTree(): Promise<Schema> {
  const { exit, stdout, stderr } = await runCli(['schema']);
  if (exit !== 0) throw new Error(`schema failed: ${stderr}`);
  const { completeTree } = await import(TREE);
  return completeTree(JSON.parse(stdout), async (words: readonly string[]) =>
    JSON.parse((await runCli(['schema', ...words])).stdout),
  );
}

/** Returns the options of a command, including global ones as they apply to it. */
export async function optionsOf(tree: Schema, command: SchemaCommand): Promise<SchemaOption[]> {
  const shared = tree.options.filter(({ name }) => command.global_options.includes(name));
  if (shared.length === 0) return [...command.options];
  const { input } = JSON.parse((await runCli(['schema', ...wordsOf(command)])).stdout);
  return [...command.options, ...shared].map(({ choices: _, ...option }) => {
    const { description = option.description, enum: choices } = input.properties[option.name.slice(2)];
    return { ...option, description, ...(choices === undefined ? {} : { choices }) };
  });
}

/** Returns all commands, groups included. */
export const everyCommand = (commands: readonly SchemaCommand[]): SchemaCommand[] =>
  commands.flatMap((command) => [command, ...everyCommand(command.commands ?? [])]);

/** Returns whether a command only has subcommands. */
export const isGroup = (command: SchemaCommand): boolean =>
  command.commands !== undefined && command.global_options.length === 0;

/** Returns the words of a command's name. */
export const wordsOf = ({ name }: Pick<SchemaCommand, 'name'>): string[] => name.split(' ');
