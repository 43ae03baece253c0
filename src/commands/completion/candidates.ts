import type { App } from '../../app/app.ts';
import { lastRestaurants } from '../../app/last-results.ts';
import { cachedTools } from '../../app/responses.ts';
import type { CliCommand, CliOption, Completer } from '../../cli/command.ts';
import { TOPICS } from '../../cli/help.ts';
import { HELP_OPTION, optionsOf } from '../../cli/options.ts';
import { DOCUMENTED_TOOLS, TOOL_NAME } from '../../client/tools.ts';
import { savedIfReadable } from '../../lists/saved.ts';
import { SETTING_NAMES, SETTINGS } from '../../settings/catalog.ts';
import { cleanLine, truncate } from '../../util/text.ts';

export interface Completion {
  readonly value: string;
  readonly description: string;
}

export interface Completions {
  readonly candidates: readonly Completion[];
  /** If files can be completed, too: the end of the word, which is the start of the path. */
  readonly path?: string | undefined;
}

interface CursorContext {
  readonly command: CliCommand;
  readonly operands: readonly string[];
  readonly option: CliOption | undefined;
  readonly prefix: string;
  readonly text: string;
  readonly afterDoubleDash: boolean;
  readonly typed: ReadonlySet<string>;
}

/** Marks the end of the word at the cursor, so that it can be found in what commander parsed. */
const CURSOR = '\0';

/**
 * Determines what the user is typing.
 * @param words the words before the cursor's, without the program's name
 * @param current the word at the cursor, up to the cursor
 */
export async function parseCursor(
  words: readonly string[],
  current: string,
  program: CliCommand,
): Promise<CursorContext> {
  await program.loadTree();
  for (const option of program.tree.flatMap(({ options }) => options)) option.argParser((text) => text);
  // No action runs.
  program.setOptionValue('help', true);
  await program.parseAsync([...words, current + CURSOR], { from: 'user' }).catch(() => {});
  const command = program.innermost;
  const all = [...program.typed, ...(command === program ? [] : command.typed)];
  const open = all.find(({ text }) => text?.endsWith(CURSOR));
  const value = open?.text?.slice(0, -1);
  return {
    command,
    operands: command.args.filter((word) => !word.endsWith(CURSOR)),
    option: open?.option,
    prefix: value === undefined ? '' : current.slice(0, current.length - value.length),
    text: value ?? current,
    afterDoubleDash: words.includes('--'),
    typed: new Set(all.map(({ option }) => option.long)),
  };
}

const MAX_DESCRIPTION = 60;
const HARMLESS = /^[\p{L}\p{N}][\p{L}\p{N}_.:@/+ -]{0,127}$/u;

const plain = (values: readonly string[], description = ''): Completion[] =>
  values.map((value) => ({ value, description }));

const commandsOf = (commands: readonly CliCommand[]): Completion[] =>
  commands.map((command) => ({ value: command.name(), description: command.summary() }));

/** Lists the completions. Sends no requests. Does not filter, because each shell matches in its own way. */
export function listCompletions(context: CursorContext, program: CliCommand, app: App): Completions {
  const { command, option, prefix, text, operands, afterDoubleDash } = context;
  if (option !== undefined) {
    // Shells replace the whole word, so each candidate starts with the part before the value.
    const { candidates, path } = complete(completerOfOption(option, command, program), context, app);
    return { candidates: candidates.map((each) => ({ ...each, value: prefix + each.value })), path };
  }
  if (!afterDoubleDash && text.startsWith('-')) return { candidates: options(context) };
  const { registeredArguments: args } = command;
  const own = args[operands.length];
  const argument = own ?? (args.at(-1)?.variadic === true ? args.at(-1) : undefined);
  const name = argument?.name() ?? '';
  const completer = command.completers.get(name) ?? fileCompleter(name);
  // Free text. If no argument is expected, or only optional ones, an option can follow.
  if (completer !== undefined || own !== undefined) return complete(completer, context, app);
  if (operands.length === 0 && command.children.length > 0) {
    return { candidates: commandsOf(command.children) };
  }
  return { candidates: afterDoubleDash ? [] : options(context) };
}

const fileCompleter = (name: string): Completer | undefined =>
  ['file', 'path'].includes(name) ? 'file' : undefined;

function completerOfOption(
  option: CliOption,
  command: CliCommand,
  program: CliCommand,
): Completer | undefined {
  const { long } = option;
  const [, placeholder = ''] = /<(\w+)>/.exec(option.flags) ?? [];
  const { argChoices } = optionsOf(command).find((each) => each.long === long) ?? option;
  const completer = command.completers.get(long) ?? program.completers.get(long);
  return argChoices ?? completer ?? fileCompleter(placeholder);
}

function complete(completer: Completer | undefined, context: CursorContext, app: App): Completions {
  const { text } = context;
  if (completer === 'file') return { candidates: [], path: text };
  if (completer === 'at-file') return { candidates: [], path: /^(?:[^=]*=)?@(.*)/s.exec(text)?.[1] };
  return { candidates: cleaned(valuesOf(completer, context, app)) };
}

function valuesOf(
  completer: Exclude<Completer, 'file' | 'at-file'> | undefined,
  context: CursorContext,
  app: App,
): Completion[] {
  const { text, operands } = context;
  const [first] = operands;
  switch (completer) {
    case undefined:
      return [];
    case 'command': {
      const childOf = (command: CliCommand | undefined, word: string): CliCommand | undefined =>
        command?.children.find((child) => child.name() === word);
      return commandsOf(operands.reduce(childOf, context.command.root)?.children ?? []);
    }
    case 'topic': {
      const topics = first === undefined ? Object.keys(TOPICS) : [];
      return [...valuesOf('command', context, app), ...plain(topics, 'help topic')];
    }
    case 'profile':
      return plain(Object.keys(app.config.file().profiles ?? {}));
    case 'row':
      return lastRows(app, text !== '');
    case 'saved':
      return savedIfReadable(app).map(({ id, name }) => ({ value: id, description: name }));
    case 'setting':
      return SETTING_NAMES.map((value) => ({ value, description: SETTINGS[value].description }));
    case 'setting-value':
      // A setting has the values of the global option that sets it.
      if (first === 'profile') return valuesOf('profile', context, app);
      return plain(context.command.root.options.find(({ long }) => long === `--${first}`)?.argChoices ?? []);
    case 'tool':
      // The tools in the cached list, else the documented ones.
      return (cachedTools(app) ?? DOCUMENTED_TOOLS)
        .map(({ name, description = '' }) => ({ value: String(name), description: String(description) }))
        .filter(({ value }) => TOOL_NAME.test(value));
    default:
      return plain(completer);
  }
}

function options({ command, typed }: CursorContext): Completion[] {
  const { root } = command;
  const own = command === root ? [] : command.options;
  // Before the command, every global option is allowed.
  const shared = command.isGroup ? root.options : optionsOf(command);
  return [...new Set([...own, ...shared, HELP_OPTION])]
    .filter(({ long, defaultValue }) => !typed.has(long) || Array.isArray(defaultValue))
    .flatMap(({ long, short, description }) =>
      [long, short].flatMap((flag) => (flag == null ? [] : [{ value: flag, description }])),
    );
}

const cleaned = (candidates: readonly Completion[]): Completion[] =>
  candidates
    .filter(({ value }) => HARMLESS.test(value))
    .map(({ value, description }) => ({
      value,
      description: truncate(cleanLine(description), MAX_DESCRIPTION),
    }));

/**
 * Returns the row numbers of the last search of this service, with the names; and, if `withIds`, the ids. Equal names
 * get a part of the id, because zsh merges candidates with equal descriptions and loses their order.
 */
function lastRows(app: App, withIds: boolean): Completion[] {
  const rows = lastRestaurants(app).map(({ id, name }, index, all) => {
    const isUnique = all.every((other) => other.id === id || other.name !== name);
    return { id, row: String(index + 1), description: isUnique ? name : `${name} (${id.slice(0, 8)})` };
  });
  return [
    ...rows.map(({ row, description }) => ({ value: row, description })),
    ...(withIds ? rows.map(({ id, description }) => ({ value: id, description })) : []),
  ];
}
