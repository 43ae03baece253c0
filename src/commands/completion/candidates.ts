import type { App } from '../../app/app.ts';
import type { CliCommand, Completer } from '../../cli/command.ts';
import { HELP_OPTION } from '../../cli/help.ts';
import type { Option } from '../../cli/option.ts';
import { optionsOf, settingOf } from '../../cli/options.ts';
import { TOPICS } from '../../cli/topics.ts';
import { SETTING_NAMES, SETTINGS } from '../../settings/catalogue.ts';
import type { CursorContext } from './parse.ts';

/** A word that can be completed at the cursor. */
export interface Candidate {
  readonly value: string;
  /** For shells that show it. */
  readonly description: string;
}

/** Candidates for the word at the cursor. */
export interface Completions {
  readonly candidates: readonly Candidate[];
  /** Where files can be completed too: the number of characters of the word before their paths. */
  readonly filesAfter?: number;
}

const MAX_DESCRIPTION = 60;
/** Arguments that are files. */
const FILE_NAMES: readonly string[] = ['file', 'path'];
/** Text that is harmless on a command line, whatever the shell. */
const HARMLESS = /^[\p{L}\p{N}][\p{L}\p{N}_.:@/+ -]{0,127}$/u;
/** Names that the MCP specification allows for a tool; others may imitate one. */
const TOOL_NAME = /^[A-Za-z0-9][\w./:-]{0,127}$/;
const NONE: Completions = { candidates: [] };

const withoutDescriptions = (values: readonly string[]): Completions => ({
  candidates: values.map((value) => ({ value, description: '' })),
});

const ofCommands = (commands: readonly CliCommand[]): Candidate[] =>
  commands.map((command) => ({
    value: command.name(),
    description: command.summary() || command.description(),
  }));

const fileCompleter = (name: string): Completer | undefined =>
  FILE_NAMES.includes(name) ? 'file' : undefined;

/** Lists what can be completed. Reads local files at most; does not filter, because each shell matches in its own way. */
export async function listCompletions(
  context: CursorContext,
  program: CliCommand,
  app: App,
): Promise<Completions> {
  const { command, option, text, operands, afterDoubleDash } = context;
  if (option !== undefined) return withPrefix(context, await optionValues(option, context, program, app));
  if (!afterDoubleDash && text.startsWith('-')) return { candidates: options(context, program) };
  const { registeredArguments: args } = command;
  const argument = args[operands.length] ?? (args.at(-1)?.variadic === true ? args.at(-1) : undefined);
  if (argument !== undefined) {
    const completer = command.completers.get(argument.name()) ?? fileCompleter(argument.name());
    if (completer !== undefined) return complete(completer, context, program, app);
    // Free text; more of it is optional, so that an option can follow as well.
    if (args[operands.length] !== undefined) return NONE;
  }
  const children = operands.length === 0 ? ofCommands(command.children) : [];
  if (children.length > 0) return { candidates: children };
  // Where no word is expected, an option can follow.
  return { candidates: afterDoubleDash ? [] : options(context, program) };
}

/** Puts the prefix of the word before each candidate, because shells replace the whole word. */
function withPrefix({ prefix }: CursorContext, { candidates, filesAfter }: Completions): Completions {
  return {
    candidates: candidates.map(({ value, description }) => ({ value: prefix + value, description })),
    ...(filesAfter === undefined ? {} : { filesAfter: [...prefix].length + filesAfter }),
  };
}

async function optionValues(
  option: Option,
  context: CursorContext,
  program: CliCommand,
  app: App,
): Promise<Completions> {
  const { command } = context;
  const here = optionsOf(command).find(({ long }) => long === option.long) ?? option;
  if (here.argChoices !== undefined) return withoutDescriptions(here.argChoices);
  const long = option.long ?? '';
  const [, placeholder = ''] = /<(\w+)>/.exec(option.flags) ?? [];
  const completer =
    command.completers.get(long) ?? program.completers.get(long) ?? fileCompleter(placeholder);
  return completer === undefined ? NONE : complete(completer, context, program, app);
}

async function complete(
  completer: Completer,
  context: CursorContext,
  program: CliCommand,
  app: App,
): Promise<Completions> {
  const { text, operands } = context;
  switch (completer) {
    case 'file':
      return { candidates: [], filesAfter: 0 };
    case 'at-file': {
      const [prefix] = /^([^=]*=)?@/.exec(text) ?? [];
      return { candidates: [], ...(prefix === undefined ? {} : { filesAfter: [...prefix].length }) };
    }
    case 'command':
      return { candidates: ofCommands(childrenAt(program, operands)) };
    case 'topic': {
      const topics = Object.keys(TOPICS).map((value) => ({ value, description: 'help topic' }));
      const commands = ofCommands(childrenAt(program, operands));
      return { candidates: operands.length === 0 ? [...commands, ...topics] : commands };
    }
    case 'profile':
      return cleaned(Object.keys(app.config().profiles ?? {}).map((value) => ({ value, description: '' })));
    case 'row':
      return cleaned(await lastRows(app, text !== ''));
    case 'setting': {
      const settable = SETTING_NAMES;
      return {
        candidates: settable.map((value) => ({ value, description: SETTINGS[value].description })),
      };
    }
    case 'setting-value': {
      // A setting has the values of the global option that sets it.
      const option = program.options.find((each) => settingOf(each.long ?? '') === operands[0]);
      if (operands[0] === undefined || option === undefined) return NONE;
      return option.argChoices === undefined
        ? optionValues(option, context, program, app)
        : withoutDescriptions(option.argChoices);
    }
    case 'tool':
      return cleaned(await knownTools(app));
    default:
      return withoutDescriptions(completer);
  }
}

/** Returns the subcommands of the command that the words name. */
function childrenAt(program: CliCommand, words: readonly string[]): readonly CliCommand[] {
  return words.reduce<readonly CliCommand[]>(
    (commands, word) => commands.find((each) => each.name() === word)?.children ?? [],
    program.children,
  );
}

/** Returns the options that can follow: those not given yet, and those that can be repeated. */
function options({ command, given }: CursorContext, program: CliCommand): Candidate[] {
  const own = command === program ? [] : command.options;
  // Before the command, every global option is allowed.
  const shared = command.isGroup ? program.options : optionsOf(command);
  const open = [...own, ...shared, HELP_OPTION].filter(
    ({ hidden, long, defaultValue }) => !hidden && (!given.has(long ?? '') || Array.isArray(defaultValue)),
  );
  return open.flatMap(({ long, short, description }) =>
    [long, short].flatMap((flag) => (flag == null ? [] : [{ value: flag, description }])),
  );
}

/** Removes values from outside that are not harmless, and cleans the descriptions of the others. */
async function cleaned(candidates: readonly Candidate[]): Promise<Completions> {
  const known = candidates.filter(({ value }) => HARMLESS.test(value));
  if (known.every(({ description }) => description === '')) return { candidates: known };
  const { cleanLine, truncate } = await import('../../util/text.ts');
  return {
    candidates: known.map(({ value, description }) => ({
      value,
      description: truncate(cleanLine(description), MAX_DESCRIPTION),
    })),
  };
}

/**
 * Returns the row numbers of the last search of this service, with the names; with `withIds` its ids too. Equal names
 * get a part of their id: zsh merges candidates with equal descriptions and loses their order.
 */
async function lastRows(app: App, withIds: boolean): Promise<Candidate[]> {
  const { lastResults } = await import('../../app/last-results.ts');
  const rows = lastResults(app);
  const numbers = rows.map(({ id, name }, index) => {
    const isUnique = rows.every((other) => other.id === id || other.name !== name);
    return { value: String(index + 1), description: isUnique ? name : `${name} (${id.slice(0, 8)})` };
  });
  const ids = rows.map(({ id }, index) => ({ value: id, description: numbers[index]?.description ?? '' }));
  return withIds ? [...numbers, ...ids] : numbers;
}

/** Returns the tools of the cached list, else the documented ones. */
async function knownTools(app: App): Promise<Candidate[]> {
  const { cachedTools } = await import('../../app/responses.ts');
  const { DOCUMENTED_TOOLS } = await import('../../client/types.ts');
  const tools = cachedTools(app) ?? DOCUMENTED_TOOLS;
  return tools
    .map(({ name, description = '' }) => ({ value: String(name), description: String(description) }))
    .filter(({ value }) => TOOL_NAME.test(value));
}
