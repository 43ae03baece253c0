import { label } from '../label.ts';
import { isRecord } from '../records.ts';
import { clean } from '../text.ts';
import { EMPTY } from '../view.ts';

/** Texts of a list that are longer than this get a line for themselves. */
const MAX_SHORT_TEXT = 32;
/** An object that is no longer than this, of so many keys at most, stands in one line. */
const MAX_SHORT_OBJECT = 40;
const MAX_KEYS = 3;
/** Two keys that are the ends of something: hours, prices. */
const ENDS: readonly (readonly [first: string, last: string])[] = [
  ['open', 'close'],
  ['opens', 'closes'],
  ['from', 'to'],
  ['start', 'end'],
  ['min', 'max'],
];

/** Whether a value can stand beside its key: a scalar, a list of short ones, a small object. */
export function isSimple(value: unknown): boolean {
  if (Array.isArray(value))
    return value.every((item) => isScalar(item) || range(item) !== undefined) && !isListOfTexts(value);
  return isScalar(value) || range(value) !== undefined || isSmall(value);
}

/** The text of a value that is simple; of any other, `-`. Line breaks inside texts stay. */
export function inline(value: unknown): string {
  if (Array.isArray(value)) return value.map(inline).join(', ') || EMPTY;
  if (isRecord(value)) return isSimple(value) ? (range(value) ?? words(value)) : EMPTY;
  if (value === null || value === undefined || value === '') return EMPTY;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'out of range';
  return clean(String(value));
}

/** `18:00 to 23:30` of `{open, close}` and the like; undefined of anything else. */
function range(value: unknown): string | undefined {
  if (!isRecord(value) || Object.keys(value).length !== 2) return undefined;
  const ends = ENDS.find(([first, last]) => Object.hasOwn(value, first) && Object.hasOwn(value, last));
  const texts = ends?.map((key) => value[key]).filter((end) => end !== null && isScalar(end));
  return texts?.length === 2 ? texts.map(inline).join(' to ') : undefined;
}

/** `theme dessert, mentions 12`: an object of simple values in one line. */
export function words(record: Record<string, unknown>): string {
  const facts = Object.entries(record).map(
    ([key, value]) => `${lowercaseFirst(label(key))} ${inline(value)}`,
  );
  return facts.join(', ') || EMPTY;
}

function lowercaseFirst(text: string): string {
  return text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

function isSmall(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const values = Object.values(value);
  if (values.length > MAX_KEYS || !values.every(isScalar)) return false;
  const text = words(value);
  return text.length <= MAX_SHORT_OBJECT && !text.includes('\n');
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isListOfTexts(items: readonly unknown[]): boolean {
  const isLong = (item: unknown): boolean =>
    typeof item === 'string' && (item.length > MAX_SHORT_TEXT || item.includes('\n'));
  return items.length > 1 && items.some(isLong);
}
