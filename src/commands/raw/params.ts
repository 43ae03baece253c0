import type { App } from '../../app/app.ts';
import { readJsonArgument } from '../../app/input.ts';
import { type AppError, usage } from '../../errors.ts';
import { fragment, restaurant } from '../../hint.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { parseUserJson, textHint } from '../../util/user-json.ts';

export async function readParams(
  app: App,
  params: string | undefined,
  { field, jsonField }: { field: readonly string[]; jsonField: readonly string[] },
): Promise<JsonObject | unknown[] | undefined> {
  if (field.length + jsonField.length > 0) {
    if (params === undefined) return fromFields(field, jsonField);
    throw usage('cannot combine the params argument with -f or -F', {
      text: 'use either the JSON argument, or -f and -F',
    });
  }
  if (params === undefined) return undefined;
  const value = await readJsonArgument(app, params, 'params');
  if (Array.isArray(value) || isObject(value)) return value;
  throw usage('params: expected a JSON object or array', {
    command: restaurant('raw', 'tools/call', '{"name": "find_restaurant"}'),
  });
}

function fromFields(field: readonly string[], jsonField: readonly string[]): JsonObject {
  const params: JsonObject = {};
  for (const text of field) {
    const [key, value] = splitPair(text, '-f');
    setDotted(params, key, value);
  }
  for (const text of jsonField) {
    const [key, value] = splitPair(text, '-F');
    const hint = textHint(
      value,
      (plain) => fragment('-f', `${key}=${plain}`),
      (json) => fragment('-F', `${key}=${json}`),
    );
    setDotted(params, key, parseUserJson(value, `-F ${key}`, 'usage', hint));
  }
  return params;
}

/** Splits `key=value` at the first `=`. @throws {AppError} `usage` */
function splitPair(text: string, flag: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usage(`${flag} '${text}': expected key=value`, {
    text: 'for example',
    command: fragment(flag, 'name=Nopa'),
  });
}

/**
 * Sets `a.b.c` in nested objects.
 * @throws {AppError} `usage` for a path that is set twice or leads through a value that is not an object
 */
function setDotted(target: JsonObject, path: string, value: unknown): void {
  const keys = path.split('.');
  if (keys.some((key) => key === '' || key === '__proto__')) {
    throw usage(`invalid key '${path}'`, {
      text: 'dots set nested keys',
      command: fragment('-F', 'arguments.limit=3'),
    });
  }
  const last = keys.pop() ?? '';
  const repeated = (depth: number): AppError =>
    usage(`'${path.split('.').slice(0, depth).join('.')}' is set twice`, {
      text: 'set each key once',
      command: fragment('-f', `${path}=…`),
    });
  const parent = keys.reduce((at, key, index) => {
    const next = Object.hasOwn(at, key) ? at[key] : {};
    if (!isObject(next)) throw repeated(index + 1);
    at[key] = next;
    return next;
  }, target);
  if (Object.hasOwn(parent, last)) throw repeated(keys.length + 1);
  parent[last] = value;
}
