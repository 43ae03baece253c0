import { inspect } from 'node:util';
import { type AppError, systemCode } from '../errors.ts';
import { toJson } from '../util/json.ts';
import { clean, cleanLine, width as textWidth, truncate, wrap } from '../util/text.ts';
import { hintText } from './hint-text.ts';
import type { Palette } from './style.ts';

type Redact = (text: string) => string;
const identity: Redact = (text) => text;

const MAX_MESSAGE = 400;
const MAX_CAUSES = 8;

interface ProblemOptions {
  readonly verbose: boolean;
  readonly redact?: Redact;
  /** Wraps the lines at spaces; undefined keeps each on one line. */
  readonly width?: number | undefined;
  /** Completed for this run. Default: the one of the error. */
  readonly hint?: string | undefined;
}

const ownHint = ({ details: { hint } }: AppError): string | undefined => hint && hintText(hint);

/** `error: …`, then `hint: …`; with `verbose` its causes, and the stack of a bug in this program. */
export function formatError(
  error: AppError,
  colors: Palette,
  { verbose, redact = identity, width, hint = ownHint(error) }: ProblemOptions,
): string {
  // Mask before truncating, because a part of a key would not be recognized.
  const shortened = (text: string): string => truncate(redact(cleanLine(text)).trim(), MAX_MESSAGE);
  const causes = [...causesOf(error)].map((cause) => `caused by: ${shortened(describe(cause))}`);
  const stack = error.code === 'unexpected' ? stackOf(error, redact) : [];
  const wrapped = (text: string): string[] =>
    width === undefined || textWidth(text) <= width ? [text] : wrap(text, width);
  const labeled = (label: string, color: (text: string) => string, text: string): string[] =>
    wrapped(`${label} ${shortened(text)}`).map((line, index) =>
      index === 0 ? line.replace(label, () => color(label)) : line,
    );
  const lines = [
    ...labeled('error:', colors.bad, error.message),
    ...(hint === undefined ? [] : labeled('hint:', colors.dim, hint)),
    ...(verbose ? [...causes, ...stack].flatMap(wrapped).map((line) => colors.dim(line)) : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function stackOf(error: AppError, redact: Redact): string[] {
  return redact(clean((error.cause instanceof Error ? error.cause.stack : error.stack) ?? ''))
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
}

function causesOf(error: unknown, found = new Set<unknown>()): Set<unknown> {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [];
  for (const cause of error instanceof Error ? [error.cause, ...errors] : []) {
    if (cause !== undefined && !found.has(cause) && found.size < MAX_CAUSES)
      causesOf(cause, found.add(cause));
  }
  return found;
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error))
    return typeof cause === 'string' ? cause : inspect(cause, { breakLength: Number.POSITIVE_INFINITY });
  const code = systemCode(cause);
  const parts = [cause.name, cause.message].filter((part) => part !== '');
  return parts.join(': ') + (code === undefined ? '' : ` (${code})`);
}

export function errorFields(
  error: AppError,
  redact: Redact = identity,
  hint = ownHint(error),
): Record<string, unknown> {
  const { status, retryAfter, restaurantId, rpcCode, requestId } = error.details;
  const fields = {
    code: error.code,
    message: truncate(redact(error.message), MAX_MESSAGE * 10),
    hint: hint && redact(hint),
    retryable: error.retryable,
    status,
    retry_after: retryAfter,
    restaurant_id: restaurantId,
    rpc_code: rpcCode,
    request_id: requestId,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function errorJson(error: AppError, redact?: Redact, hint?: string): string {
  return toJson({ error: errorFields(error, redact, hint) }, false);
}
