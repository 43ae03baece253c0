export function excerpt(text: string, max = 200): string {
  const line = text.slice(0, 20_000).replace(/\s+/g, ' ').trim();
  if (line.length <= max) return line;
  // Never half of a surrogate pair.
  return `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

export function stripHtml(page: string): string {
  return page
    .slice(0, 20_000)
    .replace(/<(script|style|head)\b[^>]*>.*?(?:<\/\1>|$)/gis, ' ')
    .replace(/<!--.*?(?:-->|$)/gs, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ');
}

export function isHtml(text: string): boolean {
  return /^\uFEFF?\s*<[!?a-z]/i.test(text.slice(0, 500));
}

export function htmlTitle(page: string): string | undefined {
  const title = /<title[^>]*>([^<]*)/i.exec(page.slice(0, 20_000))?.[1]?.trim();
  return title === '' ? undefined : title;
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return value === null ? 'null' : 'nothing';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
