/**
 * The first key that stands twice in an object of JSON text (RFC 8259, section 4, leaves open what that means;
 * `JSON.parse` takes the last).
 * @param json text that parses
 */
export function duplicateKey(json: string): string | undefined {
  /** The keys of each object that is open; none for an array. */
  const open: (Set<string> | undefined)[] = [];
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token.endsWith(':')) {
      const key = String(JSON.parse(token.slice(0, -1)));
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}

/** Brackets, and strings with the colon that makes them keys. */
const TOKENS = /[{}[\]]|"(?:[^"\\]|\\.)*"(?:\s*:)?/gs;
