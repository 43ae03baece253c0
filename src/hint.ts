/**
 * A word of a command: text, which is quoted where it is printed; a value for the user to fill in, such as `<city>`; or
 * text that contains a variable of the shell in place of a secret.
 */
export type Word =
  | string
  | { readonly slot: string }
  | { readonly before: string; readonly variable: string; readonly after: string };

/** Options by long name: `true` for a flag, else a value or several. */
export type CommandOptions = Readonly<Record<string, true | Word | readonly Word[]>>;

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Word;
  readonly stdout?: Word;
  readonly pipe?: Command;
}

/** A command of this program, which also gets the service options of this run (`--profile`, `--base-url`, …). */
interface OwnCommand extends Surroundings {
  readonly words: readonly Word[];
}

export interface SameCommand extends Surroundings {
  readonly again: CommandOptions;
  readonly without?: readonly string[];
  readonly operands?: readonly Word[];
  /** A file, wherever the command line names it: alone, or after `@`. */
  readonly renamed?: { readonly from: string; readonly to: string };
}

interface SystemCommand extends Surroundings {
  /** As on POSIX systems, with its options: `mkdir -p`. */
  readonly program: string;
  readonly operands: readonly Word[];
}

/** A part of a command: arguments to use in place of others. */
interface Fragment extends Surroundings {
  readonly fragment: readonly Word[];
}

export type Command = OwnCommand | SameCommand | SystemCommand | Fragment;

/** A piece of advice, a command to run, or both: printed as `text: command`. */
export interface Advice {
  readonly text?: string;
  readonly command?: Command;
}

export type Hint = Advice | readonly Advice[];

/** A note or warning: text, or pieces with commands. */
export type Message = string | Hint;

/** The command line of a run, as far as it may be printed. */
export interface TypedLine {
  readonly command: readonly string[];
  readonly operands: readonly Word[];
  readonly options: readonly TypedOption[];
}

export interface TypedOption {
  readonly flag: string;
  readonly value?: Word | undefined;
  /** Long names of the options that it cannot be used with. */
  readonly rivals?: readonly string[];
}

export const adviceOf = (hint: Hint): readonly Advice[] => [hint].flat();

export const slot = (name: string): Word => ({ slot: name });

/** A command of this program: `restaurant('lookup', id, '--fields', 'basic')`. */
export const restaurant = (...words: readonly Word[]): Command => ({ words });

/** The command line of this run with other options: `again({ '--force': true })`. */
export const again = (
  options: CommandOptions = {},
  changes: Pick<SameCommand, 'without' | 'operands' | 'renamed'> & Surroundings = {},
): Command => ({ again: options, ...changes });

/** A command of the system: `system('mkdir -p', folder)`. */
export const system = (program: string, ...operands: readonly Word[]): Command => ({ program, operands });

/** A part of a command, such as one argument: `fragment('-f', 'name=Nopa')`. */
export const fragment = (...words: readonly Word[]): Command => ({ fragment: words });
