import type { App } from '../../app/app.ts';
import { keepDigits, parseUserJson, readArgument, readArgumentFile, textHint } from '../../app/input.ts';
import type { Tool } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { rawNumber } from '../../util/exact-json.ts';
import { didYouMean, nearest } from '../../util/nearest.ts';
import { shellWord } from '../../util/shell.ts';
import { candidates } from './coerce.ts';
import type { ArgumentCheck } from './schema-check.ts';
import { argumentNames, type Schema, schemaOf } from './schema-types.ts';

/** The tool of that name. @throws {AppError} `not_found` with the nearest names */
export function knownTool(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((each) => each.name);
  throw new AppError('not_found', `the service has no tool '${name}'`, {
    hint: `${didYouMean(name, names)}restaurant tools lists them`,
  });
}

/** Arguments as the command line gives them: values of JSON, and texts that a schema makes values of. */
export type GivenArguments = ReadonlyMap<string, Given>;

/** `json`: how a value was typed, where that is known. */
type Given = { readonly value: unknown; readonly json?: string | undefined } | { readonly text: string };

/**
 * Reads the words of `call`: `key=text`, `key:=json`, `key=@file`, and `--args`.
 * @throws {AppError} `usage` or `bad_input`
 */
export async function readArguments(
  app: App,
  tool: string,
  words: readonly string[],
  whole: string | undefined,
): Promise<GivenArguments> {
  const all = await wholeArguments(app, whole);
  const given = new Map<string, Given>(
    Object.entries(all).map(([key, value]) => [key, { value, json: rawNumber(all, key) }]),
  );
  for (const word of words) {
    const [, key = '', typed, text = ''] = /^([^=:]+)(:?)=([\s\S]*)$/.exec(word) ?? [];
    if (key === '') {
      throw new AppError('usage', `'${word}': expected key=value`, {
        hint: `restaurant call ${tool} key=text key:=3; restaurant tools ${tool} shows the arguments`,
      });
    }
    if (given.has(key)) throw new AppError('usage', `'${key}' is given twice`, { hint: 'leave one out' });
    if (typed === ':') {
      const hint = textHint(
        text,
        (plain) => shellWord(`${key}=${plain}`),
        (json) => shellWord(`${key}:=${json}`),
      );
      given.set(key, { value: parseUserJson(text, key, 'usage', hint), json: text });
    } else given.set(key, { text: text.startsWith('@') ? readArgumentFile(app, text.slice(1)) : text });
  }
  return given;
}

async function wholeArguments(app: App, whole: string | undefined): Promise<Record<string, unknown>> {
  if (whole === undefined) return {};
  const { text, name } = await readArgument(app, whole, '--args');
  const value = parseUserJson(text, name, name === '--args' ? 'usage' : 'bad_input');
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new AppError('usage', '--args must be a JSON object', { hint: `--args '{"name": "Nopa"}'` });
}

/** Whether the tool's schema names all arguments of which the type is still open. */
export function namesAll({ inputSchema }: Tool, given: GivenArguments): boolean {
  return [...given].every(([key, each]) => 'value' in each || schemaOf(inputSchema ?? {}, key) !== undefined);
}

/** The arguments as they stand: what is not JSON is text. */
export function plainArguments(given: GivenArguments): Record<string, unknown> {
  return assembled(given, (text) => text);
}

function assembled(
  given: GivenArguments,
  read: (text: string, key: string) => unknown,
): Record<string, unknown> {
  const args = Object.fromEntries(
    [...given].map(([key, each]) => [key, 'value' in each ? each.value : read(each.text, key)]),
  );
  for (const [key, each] of given) if ('value' in each) keepDigits(args, key, each.json);
  return args;
}

/**
 * Makes values of the texts, as the tool's JSON Schema wants them, and checks all arguments by it. A schema that
 * cannot be used is told and stops nothing.
 * @throws {AppError} `usage` naming the argument, what was given and what is allowed
 */
export async function fitArguments(
  app: Pick<App, 'warn'>,
  given: GivenArguments,
  tool: Tool,
): Promise<Record<string, unknown>> {
  const schema: Schema = tool.inputSchema ?? {};
  const check = await usableCheck(app, tool);
  const args = assembled(given, (text, key) => valueFor(text, key, schema, check));
  const faults = check?.faults(args) ?? [];
  const names = argumentNames(schema);
  const { argumentError, strangers } = await import('./validate.ts');
  if (faults.length > 0) throw argumentError(tool.name, faults, Object.keys(args), names);
  for (const name of strangers(Object.keys(args), names)) {
    const [near] = nearest(name, names);
    if (near !== undefined) await app.warn(`${tool.name} lists no '${name}'; did you mean ${near}?`);
  }
  return args;
}

function valueFor(text: string, key: string, schema: Schema, check: ArgumentCheck | undefined): unknown {
  const possible = candidates(text, key, schemaOf(schema, key), schema);
  const fitting = possible.find((value) => check === undefined || check.fits(key, value));
  // What fits nothing is told of as it would be without the rules that it breaks.
  return fitting === undefined ? (possible[0] ?? text) : fitting;
}

async function usableCheck(app: Pick<App, 'warn'>, tool: Tool): Promise<ArgumentCheck | undefined> {
  const { openArgumentCheck } = await import('./schema-check.ts');
  try {
    return openArgumentCheck(tool);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    await app.warn(
      `the arguments are sent unchecked: the JSON Schema of ${tool.name} cannot be used: ${why}`,
    );
    return undefined;
  }
}
