import { cleanLine } from './text.ts';

const ABBREVIATIONS: ReadonlySet<string> = new Set(['id', 'url', 'uri', 'faq', 'tldr', 'api', 'uuid']);

/** A key of JSON as a label for people: `price_level`, `priceLevel` and `price-level` are all `Price level`. */
export function label(key: string): string {
  const spaced = cleanLine(key)
    .replace(/(?<=[a-z0-9])(?=[A-Z])|[_\-\s]+/g, ' ')
    .trim();
  const words = spaced.split(' ').map((word) => {
    if (ABBREVIATIONS.has(word.toLowerCase())) return word.toUpperCase();
    return /^[A-Z][a-z]+$/.test(word) ? word.toLowerCase() : word;
  });
  const text = words.join(' ');
  return text === '' ? '""' : text.charAt(0).toUpperCase() + text.slice(1);
}
