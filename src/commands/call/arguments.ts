import type { App } from '../../app/app.ts';
import { readArgumentFile, readJsonArgument } from '../../app/input.ts';
import { AppError } from '../../errors.ts';
import { isRecord } from '../../output/records.ts';
import { rawNumber } from '../../util/exact-json.ts';
import { excerpt } from '../../util/excerpt.ts';
import { shellWord } from '../../util/shell.ts';
import { keepDigits, parseUserJson, textHint } from '../../util/user-json.ts';

/** Longest word that an error repeats, in characters. */
const MAX_SHOWN = 200;

/** Arguments from the command line: JSON values, and texts whose type the tool's schema decides. */
export type GivenArguments = ReadonlyMap<string, Given>;

/** `json`: the text of a value, where it is known. */
export type Given =
  | { readonly value: unknown; readonly json?: string | undefined }
  | { readonly text: string };

/**
 * Parses the words of `call`: `key=text`, `key:=json`, `key=@file`, `key=@@text`, and the value of `--args`.
 * @throws {AppError} `usage` or `bad_input`
 */
export async function readArguments(
  app: App,
  tool: string,
  words: readonly string[],
  json: string | undefined,
): Promise<GivenArguments> {
  const object = await readJsonArguments(app, json);
  const given = new Map<string, Given>(
    Object.entries(object).map(([key, value]) => [key, { value, json: rawNumber(object, key) }]),
  );
  for (const word of words) {
    const [, key = '', typed, text = ''] = /^([^=:]+)(:?)=([\s\S]*)$/.exec(word) ?? [];
    if (key === '' || /^\s*[[{]/.test(word)) throw notAPair(tool, word);
    if (given.has(key)) {
      throw new AppError('usage', `argument '${key}' is given twice`, {
        hint: `give each argument once: ${shellWord(word)}`,
      });
    }
    if (typed === ':') {
      const hint = textHint(
        text,
        (plain) => shellWord(`${key}=${plain}`),
        (value) => shellWord(`${key}:=${value}`),
      );
      given.set(key, { value: parseUserJson(text, key, 'usage', hint), json: text });
    } else given.set(key, { text: readText(app, text) });
  }
  return given;
}

/** Expands `@file`; `@@` is a literal `@`. */
function readText(app: App, text: string): string {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? readArgumentFile(app, text.slice(1)) : text;
}

function notAPair(tool: string, word: string): AppError {
  const call = `restaurant call ${shellWord(tool)}`;
  const shown = excerpt(word, MAX_SHOWN);
  return new AppError('usage', `'${shown}': expected key=value`, {
    hint: /^\s*\{/.test(word)
      ? `${call} --args ${shown === word ? shellWord(word) : '@file.json'}`
      : `${call} key=text key:=3; restaurant tools ${shellWord(tool)} shows the arguments`,
  });
}

async function readJsonArguments(app: App, json: string | undefined): Promise<Record<string, unknown>> {
  const value = json === undefined ? {} : await readJsonArgument(app, json, '--args');
  if (isRecord(value)) return value;
  throw new AppError('usage', '--args: expected a JSON object', { hint: `--args '{"name": "Nopa"}'` });
}

/** Builds the object to send. @param read turns a text into a value; default: sends it as text */
export function buildArguments(
  given: GivenArguments,
  read: (text: string, key: string) => unknown = (text) => text,
): Record<string, unknown> {
  const args = Object.fromEntries(
    [...given].map(([key, each]) => [key, 'value' in each ? each.value : read(each.text, key)]),
  );
  for (const [key, each] of given) if ('value' in each) keepDigits(args, key, each.json);
  return args;
}
