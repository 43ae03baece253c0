import { pick } from '../../output/records.ts';
import { isObject, type JsonObject, tryParseJson } from '../../util/json.ts';

export interface Bounds {
  readonly columns?: readonly string[] | undefined;
  readonly maxResults?: number | undefined;
  /** Of one text. */
  readonly maxChars?: number | undefined;
}

export const isBounded = (bounds: Bounds): boolean =>
  Object.values(bounds).some((value) => value !== undefined);

/** Bounds the texts of a result. Its `structuredContent`, which repeats them, is left out. */
export function boundResult(result: JsonObject, bounds: Bounds): JsonObject {
  const { structuredContent: _, ...rest } = result;
  if (!isBounded(bounds) || result.isError === true || !Array.isArray(result.content)) return result;
  return { ...rest, content: result.content.flatMap((block: unknown) => boundBlock(block, bounds)) };
}

function boundBlock(block: unknown, bounds: Bounds): unknown[] {
  if (!isObject(block) || block.type !== 'text' || typeof block.text !== 'string') return [block];
  const { text, note } = boundText(block.text, bounds);
  return [{ ...block, text }, ...(note === undefined ? [] : [{ type: 'text', text: note }])];
}

interface Bounded {
  readonly text: string;
  /** How much of it this is, if it is cut. */
  readonly note?: string;
}

function boundText(text: string, bounds: Bounds): Bounded {
  const output = tryParseJson(text);
  const list = listIn(output);
  if (list !== undefined) return boundList(list, bounds);
  const { columns, maxChars } = bounds;
  const record = columns !== undefined && isObject(output) ? pick(output, columns) : {};
  return cutText(Object.keys(record).length > 0 ? JSON.stringify(record) : text, maxChars);
}

interface List {
  readonly records: readonly unknown[];
  write(records: readonly unknown[]): string;
}

function listIn(output: unknown): List | undefined {
  if (Array.isArray(output)) return { records: output, write: (records) => JSON.stringify(records) };
  if (!isObject(output)) return undefined;
  const [key, records] = Object.entries(output).find(([, value]) => isRecords(value)) ?? [];
  if (key === undefined) return undefined;
  return {
    records: records as unknown[],
    write: (chosen) => JSON.stringify({ ...output, [key]: chosen }),
  };
}

const isRecords = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

function boundList({ records, write }: List, { columns, maxResults, maxChars = Infinity }: Bounds): Bounded {
  const all = columns === undefined ? records : records.map((record) => pick(record, columns));
  let count = Math.min(all.length, maxResults ?? all.length);
  let text = write(all.slice(0, count));
  while (count > 0 && text.length > maxChars) {
    // The records that are left have about the same length.
    count = Math.min(count - 1, Math.floor((count * maxChars) / text.length));
    text = write(all.slice(0, count));
  }
  return count === all.length ? { text } : { text, note: `Cut: ${count} of ${all.length} records.` };
}

/** Cuts a text after a line, if it has several. */
function cutText(text: string, maxChars = Infinity): Bounded {
  if (text.length <= maxChars) return { text };
  const start = text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '');
  const kept = start.includes('\n') ? start.slice(0, start.lastIndexOf('\n')) : start;
  return { text: kept, note: `Cut: ${kept.length} of ${text.length} characters.` };
}
