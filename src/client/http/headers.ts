import { AppError } from '../../errors.ts';

/** Header fields of a request, by name. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** What every request carries. */
export function baseHeaders({ key, version }: { key?: string | undefined; version: string }): RequestHeaders {
  return {
    'Content-Type': 'application/json',
    // Servers built on the official SDK answer 406 unless both are named.
    Accept: 'application/json, text/event-stream',
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    'User-Agent': `restaurant-data-cli/${version}`,
  };
}

/** Set by this program or by HTTP itself; a caller may not. */
const RESERVED = [
  'authorization',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * Adds a caller's header fields; one of the same name, in whatever case, is replaced.
 * @throws {AppError} `usage` for a name or value that HTTP cannot carry (RFC 9110, section 5), or a reserved name
 */
export function withHeaders(base: RequestHeaders, extra: RequestHeaders = {}): RequestHeaders {
  // The plain call adds none, and many follow each other.
  if (Object.keys(extra).length === 0) return base;
  const merged = new Map(Object.entries(base).map(([name, value]) => [name.toLowerCase(), [name, value]]));
  for (const [name, value] of Object.entries(extra)) {
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw refuse(`"${name.slice(0, 60)}" is no header name`);
    if (RESERVED.includes(lower)) throw refuse(`the header ${name} cannot be set by hand`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw refuse(`the value of the header ${name} has characters that a header cannot carry`);
    }
    merged.set(lower, [merged.get(lower)?.[0] ?? name, value.trim()]);
  }
  return Object.fromEntries(merged.values());
}

function refuse(message: string): AppError {
  return new AppError('usage', message, { hint: "restaurant raw <method> -H 'X-Name: value'" });
}

/**
 * A value as an MCP header carries it (MCP 2026-07-28, value encoding): as it is where it is printable ASCII without
 * blanks at its ends, else base64 of its UTF-8 between markers. What looks like that form is encoded too.
 */
export function headerValue(text: string): string {
  const plain = /^[\x20-\x7e]*$/.test(text) && text.trim() === text;
  if (plain && !(text.startsWith('=?base64?') && text.endsWith('?='))) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
