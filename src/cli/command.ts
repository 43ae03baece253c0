import { Command, Option } from 'commander';
import { AppError } from '../errors.ts';
import { type Advice, type Command as CommandLine, type Hint, restaurant, type TypedLine } from '../hint.ts';
import type { OptionGroup, Setting } from '../settings/catalog.ts';
import { oneOf, parseValue, wholeNumber } from '../settings/values.ts';

/** Groups of global options that consist of smaller groups. */
export const PARTS = {
  service: ['address', 'profile', 'demo'],
  preview: ['dry-run', 'curl'],
  json: ['json', 'format'],
  records: ['jq', 'csv', 'columns'],
  file: ['output', 'force'],
} as const;
type Parts = typeof PARTS;

type OptionGroups = keyof Parts | OptionGroup;

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The values that completion offers for a word: a fixed list, or a kind that the program looks up. `at-file` is a file
 * after `@`; `<file>` and `<path>` are always completed as files.
 */
export type Completer =
  | readonly string[]
  | 'file'
  | 'at-file'
  | 'command'
  | 'topic'
  | 'profile'
  | 'row'
  | 'saved'
  | 'setting'
  | 'setting-value'
  | 'tool';

/** An option, with metadata that commander does not keep. Its description contains the choices and the default. */
export class CliOption extends Option {
  declare readonly long: string;
  isInteger = false;
  setting: Setting<unknown> | undefined;
  /** Reads a value. Default: any text is valid. @throws {Error} with the expected form */
  read: ((text: string) => unknown) | undefined;
  /** A valid value, if it has no choices. */
  example: string | undefined;
  /** Attribute names of the options that it cannot be used with, of this command or of the program. */
  rivals: readonly string[] = [];
  readonly about: string;

  constructor(flags: string, about: string, choices?: readonly string[], defaultText?: string) {
    const notes = [choices?.join(', '), defaultText && `default: ${defaultText}`].filter(Boolean);
    super(flags, notes.length === 0 ? about : `${about} (${notes.join('; ')})`);
    this.about = notes.length === 0 || choices === undefined ? this.description : about;
    if (choices !== undefined) this.argChoices = [...choices];
  }

  /** Checked for a whole line, in check.ts. Commander checks the options of one command. */
  override conflicts(names: string | readonly string[]): this {
    this.rivals = [names].flat();
    return this;
  }

  /** @throws {AppError} `usage` naming the option */
  parse(text: string): unknown {
    const { read = (each: string) => each, long, setting } = this;
    return parseValue(read, text, () => ({
      name: long,
      flag: true,
      isUrl: setting !== undefined && isUrl(long),
    }));
  }
}

const isUrl = (long: string): boolean => ['--base-url', '--endpoint', '--shared-state'].includes(long);

interface ValueFacts {
  readonly choices?: readonly string[];
  readonly range?: readonly [min: number, max: number];
  /** Parses any other value. Default: any text. @throws {Error} with the expected form */
  readonly read?: (text: string) => unknown;
  readonly default?: unknown;
  readonly defaultText?: string;
  readonly conflicts?: readonly string[];
  /** A valid value, for the hint of an invalid one. Default: the nearest choice, or the default. */
  readonly example?: string;
}

export interface OptionOverride extends Pick<ValueFacts, 'choices' | 'defaultText'> {
  readonly description?: string;
  readonly default?: string;
}

export const invalidValue = (text: string, error: unknown, facts: LineFacts): LineError =>
  new LineError('value', error instanceof Error ? error.message : String(error), text, {
    ...facts,
    hint: error instanceof AppError ? error.details.hint : undefined,
  });

/** Options that choose the format of the output: only one of them can have an effect. */
const FORMAT_FLAGS: readonly string[] = ['--json', '--format', '--open'];

type Load = (command: CliCommand) => Promise<void>;

/** The facts about a command before it is loaded. */
export interface CommandTraits {
  /** Options of a run that a hint with this command repeats. */
  readonly hintOptions?: readonly string[];
  readonly needsService?: true;
  /** It changes nothing, so that an option or an argument may be left out. */
  readonly isReading?: true;
  readonly isEndless?: true;
}

interface LineOption {
  readonly option: CliOption;
  readonly text: string | undefined;
}

interface LineFacts {
  readonly option?: CliOption | undefined;
  readonly argument?: string;
  readonly hint?: Hint | undefined;
}

/** A fault in a line that commander could parse. */
export class LineError extends AppError {
  readonly wrong: 'dash' | 'stray' | 'bareFormat' | 'foreign' | 'value' | 'conflict' | 'format';
  readonly word: string;
  readonly option: CliOption | undefined;
  readonly argument: string | undefined;

  constructor(wrong: LineError['wrong'], message: string, word: string, facts: LineFacts = {}) {
    super('usage', message, { hint: facts.hint });
    this.wrong = wrong;
    this.word = word;
    this.option = facts.option;
    this.argument = facts.argument;
  }
}

/** A command, with the metadata from which help, schema, completion, and the documentation are generated. */
export class CliCommand extends Command {
  declare readonly options: readonly CliOption[];
  /** Command lines that work as written, without the `$`. */
  exampleLines: string[] = [];
  optionGroups: readonly OptionGroup[] = ['general'];
  jsonOutput: JsonSchema | undefined;
  /** Schema of the JSON lines on stderr while it runs. */
  jsonProgress: JsonSchema | undefined;
  details = '';
  /** Completers of its arguments and options, by argument name or long flag. */
  readonly completers = new Map<string, Completer>();
  readonly optionOverrides = new Map<string, OptionOverride>();
  /** Its options in the command line, in order. Global options are those of the program. */
  readonly typed: LineOption[] = [];
  asks: () => boolean = () => false;
  /** Returns how a line that was not typed is suggested: with what it needs first, or with a city. Default: as it is. */
  suggest: (isGuess: boolean) => Hint | undefined | Promise<Hint | undefined> = () => undefined;
  /** Of the program: the innermost command that the command line names. */
  innermost: CliCommand = this;
  /** The words that it parses: of the program, the whole command line. */
  words: readonly string[] = [];
  /** Of the program: the first invalid value. */
  invalid: LineError | undefined;
  /** Of the program: whether its command does nothing. */
  isTrial = false;
  /** Of the program: what words of other tools were taken as. */
  takenAs: readonly string[] = [];
  #traits: CommandTraits = {};
  #acts = false;
  #load: Load | undefined;

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  override createOption(flags: string, description = ''): CliOption {
    return new CliOption(flags, description);
  }

  /** Called by commander. */
  missingArgument(name: string): void {
    const { missingArgument } = Command.prototype as unknown as {
      missingArgument(this: Command, name: string): void;
    };
    if (!this.asks()) missingArgument.call(this, name);
  }

  override addOption(option: CliOption): this {
    // Before commander's own listener, which throws for an invalid value.
    this.on(`option:${option.name()}`, (text?: string) => this.typed.push({ option, text }));
    return super.addOption(option);
  }

  override parseOptions(words: string[]): ReturnType<Command['parseOptions']> {
    this.root.innermost = this;
    this.words = words;
    return super.parseOptions(words);
  }

  get line(): TypedLine {
    const { innermost } = this;
    const typed = [...this.typed, ...(innermost === this ? [] : innermost.typed)];
    return {
      command: innermost.path.split(' ').filter((name) => name !== ''),
      operands: innermost.args,
      options: typed.map(({ option, text }) => ({
        flag: option.long,
        value: text,
        rivals: innermost.#rivalsOf(option),
      })),
    };
  }

  #rivalsOf(option: CliOption): string[] {
    const isRival = (one: CliOption, other: CliOption): boolean => one.rivals.includes(other.attributeName());
    const others = [...this.options, ...this.root.options].filter(
      (other) => isRival(option, other) || isRival(other, option),
    );
    return [...(FORMAT_FLAGS.includes(option.long) ? FORMAT_FLAGS : []), ...others.map(({ long }) => long)];
  }

  findOption(flag: string): CliOption | undefined {
    return [...this.options, ...this.root.options].find(({ long, short }) => flag === long || flag === short);
  }

  lazyCommand(name: string, group: string, traits: CommandTraits = {}, load: Load): void {
    const command = this.command(name).helpGroup(group) as CliCommand;
    command.#traits = traits;
    command.#load = load;
  }

  reads(): this {
    this.#traits = { ...this.#traits, isReading: true };
    return this;
  }

  get isReading(): boolean {
    return this.#traits.isReading === true;
  }

  get isEndless(): boolean {
    return this.#traits.isEndless === true;
  }

  traitsOfCommand(name: string): CommandTraits {
    const child = this.children.find((each) => each.name() === name);
    return child === undefined ? {} : child.#traits;
  }

  async load(): Promise<void> {
    const load = this.#load;
    this.#load = undefined;
    await load?.(this);
  }

  async loadTree(): Promise<void> {
    for (const child of this.children) await child.load();
  }

  about(summary: string, more?: string): this {
    return this.summary(summary).description(more === undefined ? `${summary}.` : `${summary}. ${more}`);
  }

  choiceArgument<T extends string>(name: string, choices: readonly T[]): this {
    const origin = () => ({ name: `<${name}>`, flag: true });
    const read = (text: string): T | undefined =>
      this.#try(text, () => parseValue(oneOf(choices), text, origin), { argument: name });
    return this.argument(`<${name}>`, choices.join(', '), read).completeWith(name, choices);
  }

  valueOption(flags: string, about: string, facts: ValueFacts = {}): this {
    const { choices = [], range, default: value, defaultText = value } = facts;
    const text = defaultText === undefined ? '' : String(defaultText);
    const option = new CliOption(flags, about, facts.choices, text);
    option.isInteger = range !== undefined;
    option.conflicts([...(facts.conflicts ?? [])]);
    option.read = facts.choices ? oneOf(choices) : ((range && wholeNumber(...range)) ?? facts.read);
    option.example = facts.example ?? value?.toString();
    if (option.read !== undefined) option.argParser((typed) => this.#tryOption(option, typed));
    return this.addOption(value === undefined ? option : option.default(value));
  }

  /** An invalid value is reported when the whole line is parsed, so that the hint can correct the whole line. */
  #try<T>(text: string, read: () => T, facts: LineFacts): T | undefined {
    try {
      return read();
    } catch (error) {
      this.root.invalid ??= invalidValue(text, error, facts);
      return undefined;
    }
  }

  #tryOption(option: CliOption, text: string): unknown {
    return this.#try(text, () => option.parse(text), { option });
  }

  listOption(flags: string, about: string, read?: CliOption['read']): this {
    const option = new CliOption(flags, about);
    option.read = read;
    option.argParser((text: string, earlier: unknown[]) => [...earlier, this.#tryOption(option, text)]);
    return this.addOption(option.default([]));
  }

  /** The options of a command that paces its requests. They override the settings of the same names. */
  quotaOptions(): this {
    return this.valueOption('--per-minute <n>', 'Maximum requests per minute; 0 = no limit', {
      range: [0, 1e6],
      defaultText: '100',
      example: '100',
    }).valueOption('--per-day <n>', 'Maximum requests per day; 0 = no limit', {
      range: [0, 1e9],
      defaultText: '2000',
      example: '2000',
    });
  }

  asksWhen(asks: () => boolean): this {
    this.asks = asks;
    return this;
  }

  usesOptions(...groups: OptionGroups[]): this {
    const parts: Partial<Record<OptionGroups, readonly OptionGroups[]>> = PARTS;
    const all = groups.flatMap((group) => parts[group] ?? [group]) as OptionGroup[];
    this.optionGroups = [...all, 'general'];
    return this;
  }

  override action(run: Parameters<Command['action']>[0]): this {
    this.#acts = true;
    return super.action(run);
  }

  examples(...lines: string[]): this {
    this.exampleLines = lines;
    return this;
  }

  outputSchema(schema: JsonSchema): this {
    this.jsonOutput = schema;
    return this;
  }

  progressSchema(schema: JsonSchema): this {
    this.jsonProgress = schema;
    return this;
  }

  completeWith(name: string, offer: Completer): this {
    this.completers.set(name, offer);
    return this;
  }

  overrideOption(flag: string, option: OptionOverride): this {
    this.optionOverrides.set(flag, option);
    return this;
  }

  notes(details: string): this {
    this.details = details;
    return this;
  }

  get isGroup(): boolean {
    return this.children.length > 0 && !this.#acts;
  }

  get children(): readonly CliCommand[] {
    return this.commands as readonly CliCommand[];
  }

  get root(): CliCommand {
    return (this.parent as CliCommand | null)?.root ?? this;
  }

  get ownHelp(): { readonly command: CommandLine } {
    return { command: restaurant(...this.path.split(' ').filter((name) => name !== ''), '--help') };
  }

  get seeHelp(): Advice {
    return { text: 'for help', ...this.ownHelp };
  }

  get tree(): readonly CliCommand[] {
    return [this, ...this.children.flatMap(({ tree }) => tree)];
  }

  /** The words that run it, such as `config set`. Empty for the program itself. */
  get path(): string {
    const parent = this.parent as CliCommand | null;
    if (parent === null) return '';
    return `${parent.path} ${this.name()}`.trim();
  }
}
