import { Command } from 'commander';

/** Global options come in groups; a command names the groups it obeys, and refuses the others. */
export type OptionGroup =
  | 'service'
  | 'request'
  | 'cache'
  | 'preview'
  | 'json'
  | 'records'
  | 'file'
  | 'general';

/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A command with what help, schema, completion and the documents are made from. */
export class CliCommand extends Command {
  /** Command lines that work as they stand, without the `$`. */
  exampleLines: string[] = [];
  /** Groups of global options that this command obeys. */
  uses: readonly OptionGroup[] = ['general'];
  /** What `--json` prints. */
  outputSchema: JsonSchema | undefined;
  /** More to say below the options. */
  details = '';

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Names the groups of global options that the command obeys; `general` always. */
  obeys(...groups: OptionGroup[]): this {
    this.uses = [...groups, 'general'];
    return this;
  }

  examples(...lines: string[]): this {
    this.exampleLines = lines;
    return this;
  }

  /** Says what `--json` prints. */
  prints(schema: JsonSchema): this {
    this.outputSchema = schema;
    return this;
  }

  says(details: string): this {
    this.details = details;
    return this;
  }

  /** The subcommands, as what they are. */
  get children(): readonly CliCommand[] {
    return this.commands as readonly CliCommand[];
  }

  /** The words that call it: `config set`. Empty for the program itself. */
  get path(): string {
    const parent = this.parent as CliCommand | null;
    if (parent === null) return '';
    return `${parent.path} ${this.name()}`.trim();
  }
}
