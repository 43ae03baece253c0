import { failure } from '../errors.ts';
import { type Command, fragment, type Hint } from '../hint.ts';
import { firstJsonError } from './json.ts';

const MAX_REPEATED = 60;
const JSON_HINT: Hint = {
  text: 'JSON needs double quotes inside, and has to be quoted in a shell',
  command: fragment('{"name": "value"}'),
};

/** Parses JSON that the user wrote. A long integer alone becomes a BigInt. @throws {AppError} naming line and column */
export function parseUserJson(
  text: string,
  name: string,
  code: 'usage' | 'bad_input' = 'usage',
  hint: Hint = JSON_HINT,
): unknown {
  if (text.trim() === '') throw failure(code, `${name} is empty; expected JSON`, hint);
  const integer = longInteger(text);
  if (integer !== undefined) return integer;
  let hasInexact = false;
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''), (_, part: unknown) => {
      hasInexact ||= typeof part === 'number' && !isExact(part);
      return part;
    });
    if (!hasInexact) return value;
  } catch (cause) {
    throw failure(code, `${name} is not valid JSON${errorPosition(text)}`, hint, cause);
  }
  throw failure(code, `${name} contains an integer beyond 2^53, which would lose digits`, {
    text: 'if the service accepts text, put the number in double quotes',
  });
}

/** An integer beyond 2^53, which a number would round, such as an identifier; undefined for other text. */
export function longInteger(text: string): bigint | undefined {
  if (!/^\s*-?[1-9]\d{15,}\s*$/.test(text) || Number.isSafeInteger(Number(text))) return undefined;
  return BigInt(text);
}

const isExact = (number: number): boolean =>
  Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);

export function textHint(
  text: string,
  plain: (text: string) => Command,
  typed: (json: string) => Command,
): Hint {
  if (/^[[{"@]/.test(text.trim()) || text.trim() === '') return JSON_HINT;
  const short = text.length > MAX_REPEATED ? '…' : text;
  return [
    { text: 'as text', command: plain(short) },
    { text: 'as JSON text', command: typed(JSON.stringify(short)) },
  ];
}

function errorPosition(text: string): string {
  const lines = text.slice(0, firstJsonError(text).offset).split('\n');
  return `: line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}
