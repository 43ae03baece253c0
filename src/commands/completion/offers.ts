import type { App } from '../../app/app.ts';
import type { CliCommand, Completer } from '../../cli/command.ts';
import { HELP_OPTION } from '../../cli/help.ts';
import type { Option } from '../../cli/option.ts';
import { optionsOf, settingOf } from '../../cli/options.ts';
import { TOPICS } from '../../cli/topics.ts';
import { SETTING_NAMES, SETTINGS } from '../../settings/catalogue.ts';
import type { Candidate, Offered } from './candidate.ts';
import { knownTools, lastRows, profileNames } from './local.ts';
import type { Place } from './place.ts';

const FILE_NAMES: readonly string[] = ['file', 'path'];
const NOTHING: Offered = { candidates: [] };

const plain = (values: readonly string[]): Offered => ({
  candidates: values.map((value) => ({ value, about: '' })),
});

/** What could stand at the cursor. Reads local files at most; filters nothing, as shells match in their own way. */
export async function offersAt(place: Place, program: CliCommand, app: App): Promise<Offered> {
  const { command, option, text, operands, ended } = place;
  if (option !== undefined) return behindHead(place, await valuesOf(option, place, program, app));
  if (!ended && text.startsWith('-')) return { candidates: options(place, program) };
  const children = operands.length === 0 ? described(command.children) : [];
  const { registeredArguments: args } = command;
  const argument = args[operands.length] ?? (args.at(-1)?.variadic === true ? args.at(-1) : undefined);
  if (argument !== undefined) {
    const offer = command.completers.get(argument.name()) ?? fileOffer(argument.name());
    return offer === undefined ? plain([]) : valuesFor(offer, place, program, app);
  }
  if (children.length > 0) return { candidates: children };
  // Where no word can stand, an option can.
  return { candidates: ended ? [] : options(place, program) };
}

/** The same with the head of the word before each, as shells replace the whole word. */
function behindHead({ head }: Place, { candidates, filesBehind }: Offered): Offered {
  return {
    candidates: candidates.map(({ value, about }) => ({ value: head + value, about })),
    ...(filesBehind === undefined ? {} : { filesBehind: [...head].length + filesBehind }),
  };
}

const described = (commands: readonly CliCommand[]): Candidate[] =>
  commands.map((command) => ({ value: command.name(), about: command.summary() || command.description() }));

const fileOffer = (name: string): Completer | undefined => (FILE_NAMES.includes(name) ? 'file' : undefined);

async function valuesOf(option: Option, place: Place, program: CliCommand, app: App): Promise<Offered> {
  const here = optionsOf(place.command).find(({ long }) => long === option.long) ?? option;
  if (here.argChoices !== undefined) return plain(here.argChoices);
  const long = option.long ?? '';
  const [, placeholder = ''] = /<(\w+)>/.exec(option.flags) ?? [];
  const offer = place.command.completers.get(long) ?? program.completers.get(long) ?? fileOffer(placeholder);
  return offer === undefined ? NOTHING : valuesFor(offer, place, program, app);
}

async function valuesFor(offer: Completer, place: Place, program: CliCommand, app: App): Promise<Offered> {
  const { text, operands } = place;
  switch (offer) {
    case 'file':
      return { candidates: [], filesBehind: 0 };
    case 'at-file': {
      const [head] = /^([^=]*=)?@/.exec(text) ?? [];
      return { candidates: [], ...(head === undefined ? {} : { filesBehind: [...head].length }) };
    }
    case 'command':
      return { candidates: described(commandAt(program, operands)) };
    case 'topic': {
      const topics = Object.keys(TOPICS).map((value) => ({ value, about: 'a topic' }));
      const commands = described(commandAt(program, operands));
      return { candidates: operands.length === 0 ? [...commands, ...topics] : commands };
    }
    case 'profile':
      return { candidates: await profileNames(app) };
    case 'row':
      return { candidates: await lastRows(app, text !== '') };
    case 'setting': {
      const settable = SETTING_NAMES.filter((name) => SETTINGS[name].file !== 'none');
      return { candidates: settable.map((value) => ({ value, about: SETTINGS[value].description })) };
    }
    case 'setting-value':
      return settingValues(operands[0], place, program, app);
    case 'tool':
      return { candidates: await knownTools(app) };
    default:
      return plain(offer);
  }
}

/** What a setting may be: what the global option that sets it may be. */
async function settingValues(
  name: string | undefined,
  place: Place,
  program: CliCommand,
  app: App,
): Promise<Offered> {
  const option = program.options.find((each) => settingOf(each.long ?? '') === name);
  return name === undefined || option === undefined ? NOTHING : valuesOf(option, place, program, app);
}

/** The commands below the one that the words name. */
function commandAt(program: CliCommand, words: readonly string[]): readonly CliCommand[] {
  return words.reduce<readonly CliCommand[]>(
    (commands, word) => commands.find((each) => each.name() === word)?.children ?? [],
    program.children,
  );
}

/** The options that may come next: those that were not given, or may be given again. */
function options({ command, given }: Place, program: CliCommand): Candidate[] {
  const own = command === program ? [] : command.options;
  // Before the command they are all in place.
  const shared = command.isGroup ? program.options : optionsOf(command);
  const open = [...own, ...shared, HELP_OPTION].filter(
    ({ hidden, long, defaultValue }) => !hidden && (!given.has(long ?? '') || Array.isArray(defaultValue)),
  );
  return open.flatMap(({ long, short, description }) =>
    [long, short].flatMap((flag) => (flag == null ? [] : [{ value: flag, about: description }])),
  );
}
