import type { Argument, Option } from 'commander';
import { exitCodes } from '../errors.ts';
import { OTHER_VARIABLES, SETTING_NAMES, SETTINGS } from '../settings/catalog.ts';
import { VERSION } from '../version.ts';
import type { CliCommand, JsonSchema } from './command.ts';
import { CliOption } from './command.ts';
import { HELP_OPTION } from './help.ts';
import { optionsOf } from './options.ts';
import { ERROR_OUTPUT, PREVIEW_OUTPUT } from './schemas.ts';
import { unknownCommandError } from './usage.ts';

function typeOf(option: Option): 'array' | 'integer' | 'string' | 'boolean' {
  if (Array.isArray(option.defaultValue)) return 'array';
  if (option instanceof CliOption && option.isInteger) return 'integer';
  return option.required ? 'string' : 'boolean';
}

const CONVERSIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  integer: Number,
  string: String,
};

function describeOption(option: Option) {
  const type = typeOf(option);
  const setting = option instanceof CliOption ? option.setting : undefined;
  const value = option.negate ? undefined : (option.defaultValue ?? setting?.default);
  return {
    name: option.long ?? option.flags,
    short: option.short ?? null,
    flags: option.flags,
    description: option.description,
    type,
    choices: option.argChoices,
    default: value === undefined ? undefined : (CONVERSIONS[type]?.(value) ?? value),
    environment: setting?.env,
  };
}

function describeArgument(command: CliCommand, argument: Argument) {
  const completer = command.completers.get(argument.name());
  return {
    name: argument.name(),
    description: argument.description,
    required: argument.required,
    variadic: argument.variadic,
    choices: Array.isArray(completer) ? completer : undefined,
  };
}

/** Describes a command and its subcommands as data. @param schemas with JSON Schemas instead of lists of options */
export function describeCommand(
  program: CliCommand,
  command: CliCommand,
  schemas = false,
): Record<string, unknown> {
  const { children, isGroup, jsonOutput, jsonProgress, optionGroups } = command;
  const shared = isGroup ? [] : optionsOf(command);
  const facts = {
    name: command.path,
    summary: command.summary() || command.description(),
    details: command.details || undefined,
    examples: command.exampleLines,
    commands:
      children.length > 0 ? children.map((child) => describeCommand(program, child, schemas)) : undefined,
  };
  if (schemas && !isGroup) {
    return {
      ...facts,
      input: inputSchema(command, shared),
      output: jsonOutput,
      // The schema of previewed requests. Commands without --curl print something else with --dry-run.
      dry_run: optionGroups.includes('curl') ? PREVIEW_OUTPUT : undefined,
      progress: jsonProgress,
      error: optionGroups.includes('json') ? ERROR_OUTPUT : undefined,
    };
  }
  return {
    ...facts,
    arguments: command.registeredArguments.map((argument) => describeArgument(command, argument)),
    options: command.options.map(describeOption),
    global_options: shared.map((option) => option.long ?? option.flags),
  };
}

/** Returns the JSON Schema (2020-12) of the arguments and options of a command, by name without the dashes. */
function inputSchema(command: CliCommand, shared: readonly Option[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const argument of command.registeredArguments) {
    const { name, description, variadic, choices } = describeArgument(command, argument);
    const one = { type: 'string', enum: choices };
    properties[name] = { ...(variadic ? { type: 'array', items: one } : one), description };
  }
  for (const option of [...command.options, ...shared].map(describeOption)) {
    const { name, short: _, choices, ...facts } = option;
    const items = option.type === 'array' ? { type: 'string' } : undefined;
    properties[name.slice(2)] = { ...facts, items, enum: choices };
  }
  const required = command.registeredArguments.filter((each) => each.required).map((each) => each.name());
  return { type: 'object', properties, required, additionalProperties: false };
}

export function describeProgram(program: CliCommand): Record<string, unknown> {
  return {
    name: program.name(),
    version: VERSION,
    commands: program.children.map((child) => describeCommand(program, child)),
    options: program.options.filter((option) => option !== HELP_OPTION).map(describeOption),
    error: ERROR_OUTPUT,
    exit_codes: [{ exit: 0, kind: 'success', codes: [] }, ...exitCodes()],
    environment: [
      ...SETTING_NAMES.map((name) => ({ name: SETTINGS[name].env, meaning: SETTINGS[name].description })),
      ...OTHER_VARIABLES.map(([name, meaning]) => ({ name, meaning })),
    ],
  };
}

export function findCommand(program: CliCommand, words: readonly string[]): CliCommand {
  return words
    .flatMap((word) => word.split(' '))
    .reduce<CliCommand>((parent, word) => {
      const child = parent.children.find((each) => each.name() === word);
      if (child === undefined) throw unknownCommandError(word, parent);
      return child;
    }, program);
}
