import type { Cell } from '../typed-rows.ts';

/** How the number of a cell is shown: as a number, a date or time, or with leading zeros. */
export type NumberFormat = (value: string) => Cell;

/** The formats of dates and times that have no code in the file (ECMA-376, part 1, 18.8.30). */
const BUILT_IN: ReadonlyMap<number, string> = new Map([
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map(
    (id) => [id, 'yyyy-mm-dd'] as const,
  ),
  ...[18, 19, 20, 21, 32, 33, 34, 35, 45, 47].map((id) => [id, 'hh:mm:ss'] as const),
  [22, 'yyyy-mm-dd hh:mm'],
]);

const DAY_MS = 86_400_000;
/** The days between 1970 and day 0 of the two calendars. Day 60 of the first one, 29 February 1900, did not exist. */
const DAY_0 = { 1900: -25_569, 1904: -24_107 };
const LEAP_DAY = 60;
const LAST_DAY = 2_958_465;
const DIGITS = 15;
/** Maximum length of a format in Excel. */
const MAX_CODE = 255;

/** @param code undefined for a built-in format */
export function numberFormat(id: number, code: string | undefined, is1904: boolean): NumberFormat {
  const pattern = code ?? BUILT_IN.get(id) ?? '';
  if (pattern.length > MAX_CODE) return plainNumber;
  if (/^0{2,32}$/.test(pattern)) return (value) => [plainNumber(value)[0].padStart(pattern.length, '0')];
  // Without literal text, colors, and conditions; only the first section.
  const [letters = ''] = pattern.replace(/"[^"]*"|\\.|[_*].|\[(?![hms]+\])[^[\]]*\]/gi, '').split(';', 1);
  const hasTime = /[hs]/i.test(letters);
  const hasDate = /[dy]/i.test(letters) || (/m/i.test(letters) && !hasTime);
  // An elapsed time, such as [h]:mm, is a number of days.
  if (!(hasDate || hasTime) || letters.includes('[')) return plainNumber;
  return (value) => {
    const days = Number(value);
    if (!(days >= 0 && days < LAST_DAY + 1)) return plainNumber(value);
    const [date = '', time = ''] = dateAndTime(days, is1904);
    if (!hasTime) return [date, 'd'];
    return hasDate || days >= 1 ? [`${date}T${time}`, 'd'] : [time];
  };
}

function dateAndTime(days: number, is1904: boolean): string[] {
  const shift = !is1904 && days < LEAP_DAY ? 1 : 0;
  const seconds = Math.round((days + shift + DAY_0[is1904 ? 1904 : 1900]) * (DAY_MS / 1000));
  return new Date(seconds * 1000).toISOString().slice(0, 19).split('T');
}

/** A number with the digits that a spreadsheet shows. */
export function plainNumber(text: string): Cell {
  const number = Number(text);
  if (!Number.isFinite(number) || text.trim() === '') return [text];
  return [String(Number(number.toPrecision(DIGITS))), 'n'];
}
