import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../errors.ts';
import { again } from '../../hint.ts';
import { excerpt } from '../../util/excerpt.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { ENTRY_NAME, ENVIRONMENT_KEYS, PROCESS_KEYS } from './entry.ts';

export const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|CERT|PRIVATE/i;
const SECRET_HOLDERS: readonly string[] = [...ENVIRONMENT_KEYS, 'headers', 'http_headers', 'requestInit'];

/** Masks what may be secret in an entry, except for values that this program wrote. */
export function maskOthers(
  value: unknown,
  own: unknown,
  isSecret = (key: string) => SECRET_HOLDERS.includes(key) || SECRET_NAME.test(key),
  hide = false,
): unknown {
  if (isDeepStrictEqual(value, own)) return value;
  if (Array.isArray(value)) return value.map((each) => maskOthers(each, undefined, isSecret, hide));
  if (!isObject(value)) return hide && value !== null ? '…' : value;
  const others: JsonObject = isObject(own) ? own : {};
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      maskOthers(each, others[key], isSecret, hide || isSecret(key)),
    ]),
  );
}

/**
 * Checks that the entry of a shared file does not change how the program runs, which its author could use to run code
 * (NODE_OPTIONS, cwd).
 * @throws {AppError} `bad_config` with the keys and their values
 */
export function assertNotForeign(file: string, merged: JsonObject, own: JsonObject): void {
  const foreign = PROCESS_KEYS.filter(
    (key) => merged[key] !== undefined && !isDeepStrictEqual(merged[key], own[key]),
  );
  if (foreign.length === 0) return;
  const values = maskOthers(Object.fromEntries(foreign.map((key) => [key, merged[key]])), undefined, (key) =>
    SECRET_NAME.test(key),
  );
  throw new AppError(
    'bad_config',
    `refusing to keep ${foreign.join(', ')} in the entry ${ENTRY_NAME} of ${file}: somebody else may have written ${excerpt(JSON.stringify(values))}, which changes what the server runs`,
    {
      hint: {
        text: `remove ${foreign.join(', ')} from the entry, or`,
        command: again({ '--scope': 'user' }),
      },
    },
  );
}
