import { distance } from 'fastest-levenshtein';

/** Longest part of a name that is compared. */
const MOST = 64;

/**
 * The names that a word could have meant, nearest first; none where none is near.
 * @param names what exists
 * @param most how many to give
 */
export function nearest(word: string, names: readonly string[], most = 3): string[] {
  const wanted = word.toLowerCase().slice(0, MOST);
  return names
    .map((name) => {
      const known = name.toLowerCase().slice(0, MOST);
      const within = wanted.length >= 3 && (known.includes(wanted) || wanted.includes(known));
      const edits = distance(wanted, known);
      return { name, edits: within ? Math.min(edits, 1) : edits };
    })
    .filter(({ name, edits }) => edits <= Math.max(1, Math.floor(Math.min(name.length, wanted.length) / 3)))
    .sort((one, other) => one.edits - other.edits)
    .slice(0, most)
    .map(({ name }) => name);
}

/** `did you mean a or b? `, to begin a hint with; empty where no name is near. As {@link nearest} */
export function didYouMean(word: string, names: readonly string[], most?: number): string {
  const near = nearest(word, names, most);
  return near.length > 0 ? `did you mean ${near.join(' or ')}? ` : '';
}
