import { foldName } from './fold.ts';
import { editDistance } from './nearest.ts';

const MIN_LENGTH = 2;
/** In shorter words, a typo makes another name. */
const MIN_TYPO = 5;
const MAX_LENGTH = 64;

export const isBeginning = (text: string, name: string): boolean => {
  const wanted = foldName(text);
  return wanted.length >= MIN_LENGTH && foldName(name).startsWith(wanted);
};

/** Returns whether a text is the beginning of a name, or has one typo in it or in its first words. */
export function isNearName(text: string, name: string): boolean {
  if (isBeginning(text, name)) return true;
  const [wanted, whole] = [foldName(text), foldName(name)];
  if (wanted.length < MIN_TYPO || wanted.length > MAX_LENGTH) return false;
  const beginning = whole.split(' ').slice(0, wanted.split(' ').length).join(' ');
  return [whole, beginning].some((each) => each.length <= MAX_LENGTH && editDistance(wanted, each) <= 1);
}
