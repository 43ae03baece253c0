import { AppError } from '../../errors.ts';
import { checkId } from '../../util/restaurant-id.ts';

/** Whether the word is a row number of the last find (an id is longer than that). */
export const isRowNumber = (word: string): boolean => /^\d{1,4}$/.test(word);

const idOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { service_id, restaurant_id } = value as Record<string, unknown>;
  const id = service_id ?? restaurant_id;
  return typeof id === 'string' ? id : undefined;
};

/** Ids in a JSON text: what `find --json` prints, or an array of ids or of restaurants. Undefined: no such JSON. */
function idsOfJson(text: string): string[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { results } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const list = Array.isArray(results) ? results : Array.isArray(value) ? value : [value];
  return list.map((entry, index) => {
    const id = idOf(entry);
    if (id !== undefined) return checkId(id, `stdin, result ${index + 1}`);
    throw new AppError('bad_input', `stdin, result ${index + 1} has no service_id`, {
      hint: 'restaurant find "Nopa" --city SF --json | restaurant lookup -',
    });
  });
}

/**
 * The ids in what came on stdin: one a line (blank lines ignored), a JSON object a line, or the JSON of `find --json`.
 * @throws {AppError} `bad_input` naming the line
 */
export function readIds(text: string): string[] {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  const whole = /^[[{"]/.test(trimmed) ? idsOfJson(trimmed) : undefined;
  if (whole !== undefined) return whole;
  const ids: string[] = [];
  for (const [index, line] of trimmed.split(/\r\n|\n|\r/).entries()) {
    if (line.trim() === '') continue;
    const fromJson = /^\s*[{"]/.test(line) ? idsOfJson(line.trim()) : undefined;
    ids.push(...(fromJson ?? [checkId(line, `stdin, line ${index + 1}`)]));
  }
  return ids;
}
