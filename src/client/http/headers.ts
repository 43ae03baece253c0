import { AppError } from '../../errors.ts';
import { VERSION } from '../../version.ts';

export type RequestHeaders = Readonly<Record<string, string>>;

/** Header fields by lower-case name. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

export type HeaderField = readonly [name: string, value: string];

export function firstValue(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value[0];
}

export function fieldList(headers: HeaderFields): HeaderField[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): HeaderField => [name, each]),
  );
}

export function baseHeaders(key?: string): RequestHeaders {
  return {
    'Content-Type': 'application/json',
    // Servers built on the official SDK respond with 406 unless both are named.
    Accept: 'application/json, text/event-stream',
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    'User-Agent': `restaurant-data-cli/${VERSION}`,
  };
}

const RESERVED =
  /^(?:connection|content-length|expect|host|keep-alive|proxy-authorization|te|trailer|transfer-encoding|upgrade)$/i;

/** Headers whose values are not secret. */
const HARMLESS =
  /^(?:accept|accept-language|baggage|content-type|mcp-method|mcp-name|mcp-protocol-version|traceparent|tracestate|user-agent|x-correlation-id|x-request-id)$/i;

export const isHarmless = (name: string): boolean => HARMLESS.test(name);

export function isHeaderName(name: unknown): name is string {
  return typeof name === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

/** @throws {AppError} `usage` for a name or value that HTTP cannot carry (RFC 9110, section 5), or a reserved name */
export function checkHeader(name: string, value: string): void {
  if (!isHeaderName(name)) throw refuse(`"${String(name).slice(0, 60)}" is not a header name`);
  if (name.toLowerCase() === 'authorization') {
    throw new AppError('usage', 'the header Authorization is set from the API key', {
      reason: 'authorization_header',
    });
  }
  if (RESERVED.test(name)) throw refuse(`the header ${name} cannot be set`);
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw refuse(`the value of the header ${name} has characters that a header cannot carry`);
  }
}

/** @throws {AppError} `usage` for a line that is not `Name: value`, or as `checkHeader` */
export function parseHeaders(lines: readonly string[]): RequestHeaders {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = /^([^:]+):(.*)$/s.exec(line) ?? [];
      // The line may contain a secret, so it is not printed.
      if (name.trim() === '') throw refuse("expected a header 'Name: value'");
      checkHeader(name.trim(), value.trim());
      return [name.trim(), value.trim()];
    }),
  );
}

/** They replace headers of the same name, ignoring case. @throws {AppError} `usage` as `checkHeader` */
export function withHeaders(base: RequestHeaders, extra: RequestHeaders = {}): RequestHeaders {
  // Most calls add none.
  if (Object.keys(extra).length === 0) return base;
  const merged = new Map(Object.entries(base).map(([name, value]) => [name.toLowerCase(), [name, value]]));
  for (const [name, value] of Object.entries(extra)) {
    checkHeader(name, value);
    const lower = name.toLowerCase();
    merged.set(lower, [merged.get(lower)?.[0] ?? name, value.trim()]);
  }
  return Object.fromEntries(merged.values());
}

function refuse(message: string): AppError {
  return new AppError('usage', message, { reason: 'invalid_header' });
}

/** MCP 2026-07-28, value encoding: base64 for all but plain ASCII, and for what looks like base64 in this encoding. */
export function headerValue(text: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(text) && text.trim() === text;
  if (isPlain && !(text.startsWith('=?base64?') && text.endsWith('?='))) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
