/**
 * A value as an MCP header carries it (MCP 2026-07-28, value encoding): as it is where it is printable ASCII without
 * blanks at its ends, else base64 of its UTF-8 between markers. What looks like that form is encoded too.
 */
export function headerValue(text: string): string {
  const plain = /^[\x20-\x7e]*$/.test(text) && text.trim() === text;
  if (plain && !(text.startsWith('=?base64?') && text.endsWith('?='))) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
