import { AppError } from '../../errors.ts';
import { closingQuote } from '../../util/json.ts';
import { firstJsonError } from '../../util/user-json.ts';

/** Maximum nesting. Deeper nesting would overflow the stack when it is printed. */
const MAX_DEPTH = 200;
/** Maximum number of values. More would take minutes and gigabytes to process. */
const MAX_VALUES = 2_000_000;

/**
 * Parses JSON text from the service (RFC 8259), with or without a byte order mark.
 * @throws {AppError} `bad_response` with the offset of the error, and with the reason `incomplete` if the text ends too
 * early. The message does not contain the text.
 */
export function parseJson(text: string): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  checkSize(json);
  try {
    return JSON.parse(json);
  } catch {
    const { offset, isCut } = firstJsonError(json);
    if (isCut || CUT_TOKEN.test(json.slice(offset, offset + 10).trimEnd())) {
      const message = `the response is incomplete: its JSON ends early, at offset ${json.length}`;
      throw new AppError('bad_response', message, { reason: 'incomplete' });
    }
    throw new AppError('bad_response', `the response is not valid JSON (offset ${offset})`);
  }
}

export function parseJsonOrNone(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The invalid rest of a truncated text: nothing, or the start of a literal, number, or escape. */
const CUT_TOKEN = /^(?:|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|\.|[eE][+-]?|\\(?:u[0-9a-fA-F]{0,3})?)$/;

/** Counts levels and values in one pass. @throws {AppError} `bad_response` for too many */
function checkSize(text: string): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = closingQuote(text, at);
        if (at === -1) return;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        values += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
      case 0x2c: // ,
        values += 1;
    }
    if (depth > MAX_DEPTH) throw tooLarge(`is nested deeper than ${MAX_DEPTH} levels`, at);
    if (values > MAX_VALUES) throw tooLarge(`has more than ${MAX_VALUES.toLocaleString('en-US')} values`, at);
  }
}

const tooLarge = (problem: string, offset: number): AppError =>
  new AppError('bad_response', `the response ${problem} (offset ${offset})`);
