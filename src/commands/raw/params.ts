import type { App } from '../../app/app.ts';
import { cutPair, parseUserJson, readArgument, setDotted, textHint } from '../../app/input.ts';
import { AppError } from '../../errors.ts';
import { shellWord } from '../../util/shell.ts';

/** Headers that belong to the transport. */
const RESERVED = new Set(['authorization', 'host', 'content-length', 'transfer-encoding', 'connection']);

/** Refuses what cannot be the name of a method. @throws {AppError} `usage` */
export function checkMethod(method: string): void {
  if (method.trim() !== '') return;
  throw new AppError('usage', 'the method is empty', { hint: 'restaurant raw tools/list' });
}

/**
 * Reads `-H 'Name: value'` (RFC 9110, section 5).
 * @throws {AppError} `usage` for what is no header, or is set by the program itself
 */
export function gatherHeaders(given: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const text of given) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(text) ?? [];
    if (name === '' || !/^[\t\x20-\x7e]*$/.test(value)) {
      throw new AppError('usage', '-H expects a header such as "X-Request-Id: 42"', {
        hint: "restaurant raw tools/list -H 'X-Request-Id: 42'",
      });
    }
    if (RESERVED.has(name.toLowerCase())) {
      throw new AppError('usage', `-H cannot set ${name}: the program does`, {
        hint: 'the key comes from restaurant login or RESTAURANT_API_KEY',
      });
    }
    headers[name.toLowerCase()] = value.trimEnd();
  }
  return headers;
}

/**
 * The params of a raw call: one JSON value, or fields. Undefined: none were given.
 * @throws {AppError} `usage` or `bad_input`
 */
export async function gatherParams(
  app: App,
  params: string | undefined,
  { field, jsonField }: { field: readonly string[]; jsonField: readonly string[] },
): Promise<Record<string, unknown> | unknown[] | undefined> {
  const fields = field.length + jsonField.length > 0;
  if (params !== undefined && fields) {
    throw new AppError('usage', 'params are given both as JSON and as fields', {
      hint: 'use one of them: the JSON argument, or -f and -F',
    });
  }
  if (fields) return fromFields(field, jsonField);
  if (params === undefined) return undefined;
  const { text, name } = await readArgument(app, params, 'params');
  const value = parseUserJson(text, name, name === 'params' ? 'usage' : 'bad_input');
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown> | unknown[];
  throw new AppError('usage', 'params must be a JSON object or array', {
    hint: `restaurant raw tools/call '{"name": "find_restaurant"}'`,
  });
}

function fromFields(field: readonly string[], jsonField: readonly string[]): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const text of field) {
    const [key, value] = cutPair(text, '-f');
    setDotted(params, key, value);
  }
  for (const text of jsonField) {
    const [key, value] = cutPair(text, '-F');
    const hint = textHint(
      value,
      (plain) => `-f ${shellWord(`${key}=${plain}`)}`,
      (json) => `-F ${shellWord(`${key}=${json}`)}`,
    );
    setDotted(params, key, parseUserJson(value, `-F ${key}`, 'usage', hint), value);
  }
  return params;
}
