/**
 * Parses a URL; undefined if it is invalid. Does not use `URL.canParse`, which in some versions of Node.js rejects hosts
 * with accented letters once it is optimized.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
