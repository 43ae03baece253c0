import { exitCodes } from '../errors.ts';
import { GLOBAL_OPTIONS, OTHER_VARIABLES, SETTING_NAMES, SETTINGS } from '../settings/catalog.ts';
import { VERSION } from '../version.ts';
import { type CliCommand, type CliOption, type JsonSchema, PARTS } from './command.ts';
import { isCommon } from './help.ts';
import { HELP_OPTION, optionsOf, overrideFor } from './options.ts';
import { ERROR, ERROR_OUTPUT, PREVIEW, PREVIEW_OUTPUT, RESTAURANT } from './schemas.ts';

function typeOf(option: CliOption): 'array' | 'integer' | 'string' | 'boolean' {
  if (Array.isArray(option.defaultValue)) return 'array';
  if (option.isInteger) return 'integer';
  return option.required ? 'string' : 'boolean';
}

const CONVERSIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  integer: Number,
  string: String,
};

function defaultOf(option: CliOption): unknown {
  const value = option.negate ? undefined : (option.defaultValue ?? option.setting?.default);
  return value === undefined || Array.isArray(value)
    ? undefined
    : (CONVERSIONS[typeOf(option)]?.(value) ?? value);
}

function describeOption(option: CliOption) {
  const type = typeOf(option);
  return {
    flags: option.flags,
    description: option.description,
    type: type === 'string' || type === 'boolean' ? undefined : type,
    environment: option.setting?.env,
  };
}

const filled = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);

function namedGroups(groups: readonly string[]): string[] {
  let names = groups.filter((group) => group !== 'general');
  for (const [name, parts] of Object.entries<readonly string[]>(PARTS)) {
    if (!parts.every((part) => names.includes(part))) continue;
    names = [...names.filter((each) => !parts.includes(each)), name];
  }
  return names;
}

function describeBranch(command: CliCommand): Record<string, unknown> {
  const { children, isGroup, optionGroups } = command;
  return {
    name: command.path,
    summary: command.summary() || command.description(),
    arguments: filled(
      command.registeredArguments.map((argument) => ({
        name: argument.name(),
        description: argument.description,
        required: argument.required || undefined,
        variadic: argument.variadic || undefined,
      })),
    ),
    options: filled(command.options.map(describeOption)),
    global_options: isGroup ? undefined : filled(namedGroups(optionGroups)),
    commands: filled(children.map(describeBranch)),
  };
}

interface Definition {
  readonly name: string;
  readonly schema: unknown;
}

/** Schemas that a description may contain several times. */
const DEFINITIONS = new Map<unknown, Definition>([
  [RESTAURANT, { name: 'restaurant', schema: RESTAURANT }],
  [ERROR, { name: 'error', schema: { description: 'see error in restaurant schema', type: 'object' } }],
  [PREVIEW, { name: 'request', schema: PREVIEW }],
]);

function withDefinitions(facts: Record<string, unknown>): Record<string, unknown> {
  const used = new Map<string, unknown>();
  const text = JSON.stringify(facts, (_key, value: unknown) => {
    const definition = DEFINITIONS.get(value);
    if (definition === undefined) return value;
    used.set(definition.name, definition.schema);
    return { $ref: `#/$defs/${definition.name}` };
  });
  return { ...JSON.parse(text), ...(used.size > 0 && { $defs: Object.fromEntries(used) }) };
}

export function describeCommand(command: CliCommand): Record<string, unknown> {
  const { children, isGroup, jsonOutput, jsonProgress } = command;
  const facts = {
    name: command.path,
    summary: command.summary() || command.description(),
    details: command.details || undefined,
    examples: command.exampleLines,
    commands: filled(children.map(describeCommand)),
  };
  if (isGroup) return facts;
  return withDefinitions({
    ...facts,
    input: inputSchema(command),
    output: jsonOutput,
    progress: jsonProgress,
  });
}

function schemaOf(option: CliOption) {
  const type = typeOf(option);
  return {
    description: option.about,
    type,
    items: type === 'array' ? { type: 'string' } : undefined,
    enum: option.argChoices,
    default: defaultOf(option),
  };
}

/**
 * Returns the JSON Schema (2020-12) of the arguments and options of a command, by name without the dashes. The options
 * of most commands are described in the tree, unless the command overrides them.
 */
function inputSchema(command: CliCommand): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const argument of command.registeredArguments) {
    const { description, variadic } = argument;
    const completer = command.completers.get(argument.name());
    const one = { type: 'string', enum: Array.isArray(completer) ? completer : undefined };
    properties[argument.name()] = { ...(variadic ? { type: 'array', items: one } : one), description };
  }
  for (const option of command.options) {
    properties[option.long.slice(2)] = { flags: option.flags, ...schemaOf(option) };
  }
  for (const option of optionsOf(command)) {
    const { description: _, ...facts } = schemaOf(option);
    const isUsual = isCommon(option) && Object.keys(overrideFor(command, option.long)).length === 0;
    properties[option.long.slice(2)] = isUsual ? facts : schemaOf(option);
  }
  const required = command.registeredArguments.filter((each) => each.required).map((each) => each.name());
  return { type: 'object', properties, required, additionalProperties: false };
}

export function describeProgram(program: CliCommand): Record<string, unknown> {
  const rows = Object.values(GLOBAL_OPTIONS);
  const groups = new Map(rows.map(({ flags, group }) => [flags, group]));
  return {
    name: program.name(),
    version: VERSION,
    about:
      'global_options names groups of options, besides general; schema <command> adds details, examples, and JSON Schemas',
    groups: PARTS,
    commands: program.children.map(describeBranch),
    options: program.options
      .filter((option) => option !== HELP_OPTION)
      .map((option) => ({ ...describeOption(option), group: groups.get(option.flags) })),
    error: ERROR_OUTPUT,
    dry_run: withDefinitions(PREVIEW_OUTPUT),
    exit_codes: exitCodes(),
    environment: [
      ...SETTING_NAMES.filter((name) => !(name in GLOBAL_OPTIONS)).map((name) => ({
        name: SETTINGS[name].env,
        meaning: SETTINGS[name].description,
      })),
      ...OTHER_VARIABLES.flatMap(([name, meaning]) =>
        name.startsWith('RESTAURANT_') ? [{ name, meaning }] : [],
      ),
    ],
  };
}
