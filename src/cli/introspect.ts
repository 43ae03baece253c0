import type { Argument, Option } from 'commander';
import { CODES, EXIT_CODES } from '../errors.ts';
import { OTHER_VARIABLES, SETTING_NAMES, SETTINGS, type Setting } from '../settings/catalogue.ts';
import { VERSION } from '../version.ts';
import type { CliCommand, JsonSchema } from './command.ts';
import { CliOption } from './option.ts';
import { optionsOf, settingOf } from './options.ts';
import { ERROR_OUTPUT, PREVIEW_OUTPUT } from './schemas.ts';
import { unknownCommandError } from './usage.ts';

/** An option as plain data. */
export interface OptionFacts {
  name: string;
  short: string | null;
  flags: string;
  description: string;
  type: 'boolean' | 'string' | 'integer' | 'array';
  choices?: readonly string[];
  default?: unknown;
  environment?: string;
}

/** An argument as plain data. */
interface ArgumentFacts {
  name: string;
  description: string;
  required: boolean;
  variadic: boolean;
  choices?: readonly string[];
}

/** A command as plain data. */
export interface CommandFacts {
  name: string;
  summary: string;
  /** More about it, in paragraphs; one that is indented keeps its lines. */
  details?: string;
  arguments?: ArgumentFacts[];
  options?: OptionFacts[];
  examples: string[];
  commands?: CommandFacts[];
  global_options?: string[];
  /** Arguments and options by name, without the dashes. */
  input?: JsonSchema;
  /** Schema of the output of `--json`. */
  output?: JsonSchema;
  /** Schema of the output of `--dry-run`. */
  dry_run?: JsonSchema;
  /** A line on stderr of long work. */
  progress?: JsonSchema;
  /** The line on stderr of a failure. */
  error?: JsonSchema;
}

function describeOption(option: Option): OptionFacts {
  const long = option.long ?? option.flags;
  const { argChoices: choices } = option;
  const type = typeOf(option);
  const setting = settingOf(long);
  const entry = setting === undefined ? undefined : (SETTINGS[setting] as Setting<unknown>);
  const here = option instanceof CliOption ? option.commandDefault : undefined;
  const fallback = here ?? entry?.default ?? (option.negate ? undefined : option.defaultValue);
  return {
    name: long,
    short: option.short ?? null,
    flags: option.flags,
    description: option.description,
    type,
    ...(choices === undefined ? {} : { choices }),
    ...(fallback === undefined
      ? {}
      : { default: type === 'integer' ? Number(fallback) : type === 'string' ? String(fallback) : fallback }),
    ...(entry === undefined ? {} : { environment: entry.env }),
  };
}

function typeOf(option: Option): OptionFacts['type'] {
  if (Array.isArray(option.defaultValue)) return 'array';
  if (option instanceof CliOption && option.isInteger) return 'integer';
  return option.required || option.optional ? 'string' : 'boolean';
}

function argumentFacts(command: CliCommand, argument: Argument): ArgumentFacts {
  const offer = command.completers.get(argument.name());
  return {
    name: argument.name(),
    description: argument.description,
    required: argument.required,
    variadic: argument.variadic,
    ...(Array.isArray(offer) ? { choices: offer } : {}),
  };
}

/** One command as data; with its JSON Schemas when they are wanted. */
export function describeCommand(program: CliCommand, command: CliCommand, whole = false): CommandFacts {
  const children = command.children.map((child) => describeCommand(program, child, whole));
  const shared = command.isGroup ? [] : optionsOf(command);
  return {
    name: command.path,
    summary: command.summary() || command.description(),
    ...(command.details === '' ? {} : { details: command.details }),
    examples: command.exampleLines,
    ...(children.length > 0 ? { commands: children } : {}),
    // The input schema describes the arguments and options: each is printed once.
    ...(whole && !command.isGroup
      ? schemasOf(command, shared)
      : {
          arguments: command.registeredArguments.map((argument) => argumentFacts(command, argument)),
          options: command.options.map(describeOption),
          global_options: shared.map((option) => option.long ?? option.flags),
        }),
  };
}

/** The JSON Schemas (2020-12) of what a command takes and prints. */
function schemasOf(command: CliCommand, shared: readonly Option[]): Partial<CommandFacts> {
  const { jsonOutput: output, jsonProgress: progress, optionGroups } = command;
  return {
    input: inputSchema(command, shared),
    ...(output === undefined ? {} : { output }),
    // The requests; other commands say in another way what they would do.
    ...(optionGroups.includes('curl') ? { dry_run: PREVIEW_OUTPUT } : {}),
    ...(progress === undefined ? {} : { progress }),
    ...(optionGroups.includes('json') ? { error: ERROR_OUTPUT } : {}),
  };
}

/** The arguments and options of a command. */
function inputSchema(command: CliCommand, shared: readonly Option[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const argument of command.registeredArguments) {
    const { name, description, variadic, choices } = argumentFacts(command, argument);
    const one = { type: 'string', ...(choices === undefined ? {} : { enum: choices }) };
    properties[name] = { ...(variadic ? { type: 'array', items: one } : one), description };
  }
  for (const option of [...command.options, ...shared].map(describeOption)) {
    const { type, flags, description, choices, default: fallback, environment } = option;
    properties[option.name.slice(2)] = {
      ...(type === 'array' ? { type, items: { type: 'string' } } : { type }),
      description,
      flags,
      ...(environment === undefined ? {} : { environment }),
      ...(choices === undefined ? {} : { enum: choices }),
      ...(fallback === undefined ? {} : { default: fallback }),
    };
  }
  const required = command.registeredArguments.filter((each) => each.required).map((each) => each.name());
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The whole tree as data. */
export function describeProgram(program: CliCommand): Record<string, unknown> {
  return {
    name: program.name(),
    version: VERSION,
    commands: program.children.map((child) => describeCommand(program, child)),
    options: program.options.map((option) => describeOption(option)),
    error: ERROR_OUTPUT,
    exit_codes: [
      { exit: 0, kind: 'success', codes: [] },
      ...Object.entries(EXIT_CODES).map(([kind, exit]) => ({
        exit,
        kind,
        codes: Object.entries(CODES).flatMap(([code, entry]) =>
          entry.kind === kind ? [{ code, meaning: entry.meaning }] : [],
        ),
      })),
    ],
    environment: [
      ...SETTING_NAMES.map((name) => ({ name: SETTINGS[name].env, meaning: SETTINGS[name].description })),
      ...OTHER_VARIABLES.map(([name, meaning]) => ({ name, meaning })),
    ],
  };
}

/** The command that the words name. @throws {AppError} `usage` */
export function findCommand(program: CliCommand, words: readonly string[]): CliCommand {
  return words
    .flatMap((word) => word.split(' '))
    .reduce<CliCommand>((parent, word) => {
      const child = parent.children.find((each) => each.name() === word);
      if (child === undefined) throw unknownCommandError(word, parent);
      return child;
    }, program);
}
