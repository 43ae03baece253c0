import type { Argument, Option } from 'commander';
import { OTHER_VARIABLES, SETTING_NAMES, SETTINGS } from '../config/catalogue.ts';
import { CODES, EXIT_CODES } from '../errors.ts';
import { VERSION } from '../version.ts';
import type { CliCommand, JsonSchema } from './command.ts';
import { CliOption } from './option.ts';
import { obeyedOptions, settingOf } from './options.ts';
import { unknownCommand } from './suggest.ts';

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

/** A command as plain data. */
export interface CommandFacts {
  name: string;
  summary: string;
  /** More about it, in paragraphs; one that is indented keeps its lines. */
  details?: string;
  arguments: { name: string; description: string; required: boolean; variadic: boolean }[];
  options: OptionFacts[];
  examples: string[];
  commands?: CommandFacts[];
  global_options?: string[];
  input?: JsonSchema;
  output?: JsonSchema;
}

function optionFacts(option: Option): OptionFacts {
  const long = option.long ?? option.flags;
  const { argChoices: choices } = option;
  const setting = settingOf(long);
  const entry = setting === undefined ? undefined : (SETTINGS[setting] as { env: string; fallback?: string });
  const fallback = entry?.fallback ?? (option.negate ? undefined : option.defaultValue);
  return {
    name: long,
    short: option.short ?? null,
    flags: option.flags,
    description: option.description,
    type: typeOf(option),
    ...(choices === undefined ? {} : { choices }),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(entry === undefined ? {} : { environment: entry.env }),
  };
}

function typeOf(option: Option): OptionFacts['type'] {
  if (Array.isArray(option.defaultValue)) return 'array';
  if (option instanceof CliOption && option.isInteger) return 'integer';
  return option.required || option.optional ? 'string' : 'boolean';
}

const argumentFacts = (argument: Argument) => ({
  name: argument.name(),
  description: argument.description,
  required: argument.required,
  variadic: argument.variadic,
});

/** One command as data; with its JSON Schemas when they are wanted. */
export function describeCommand(program: CliCommand, command: CliCommand, whole = false): CommandFacts {
  const children = command.children.map((child) => describeCommand(program, child, whole));
  const shared = command.isGroup ? [] : obeyedOptions(program, command);
  return {
    name: command.path,
    summary: command.summary() || command.description(),
    ...(command.details === '' ? {} : { details: command.details }),
    arguments: command.registeredArguments.map(argumentFacts),
    options: command.options.map(optionFacts),
    examples: command.exampleLines,
    ...(children.length > 0 ? { commands: children } : {}),
    global_options: shared.map((option) => option.long ?? option.flags),
    ...(whole ? { input: inputSchema(command, shared) } : {}),
    ...(whole && command.outputSchema !== undefined ? { output: command.outputSchema } : {}),
  };
}

/** The arguments and options of a command as a JSON Schema (2020-12). */
function inputSchema(command: CliCommand, shared: readonly Option[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const argument of command.registeredArguments) {
    const one = { type: 'string', description: argument.description };
    properties[argument.name()] = argument.variadic ? { type: 'array', items: { type: 'string' } } : one;
  }
  for (const option of [...command.options, ...shared].map(optionFacts)) {
    const { type, description, choices } = option;
    properties[option.name.replace(/^--(no-)?/, '')] = {
      ...(type === 'array' ? { type, items: { type: 'string' } } : { type }),
      description,
      ...(choices === undefined ? {} : { enum: choices }),
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
    options: program.options.map((option) => optionFacts(option)),
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
      ...SETTING_NAMES.map((name) => ({ name: SETTINGS[name].env, meaning: SETTINGS[name].about })),
      ...OTHER_VARIABLES.map(([name, meaning]) => ({ name, meaning })),
    ],
  };
}

/** The command that the words name. @throws {AppError} `usage` */
export function commandNamed(program: CliCommand, words: readonly string[]): CliCommand {
  return words
    .flatMap((word) => word.split(' '))
    .reduce<CliCommand>((parent, word) => {
      const child = parent.children.find((each) => each.name() === word);
      if (child === undefined) throw unknownCommand(word, parent);
      return child;
    }, program);
}
