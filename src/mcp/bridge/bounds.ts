import { attempt } from '../../errors.ts';
import { pick } from '../../output/records.ts';
import { excerpt, startOf } from '../../util/format.ts';
import { checkDepth, isObject, type JsonObject, parseJsonOrNone } from '../../util/json.ts';
import { ProtocolError } from './protocol.ts';

export interface Bounds {
  readonly columns?: readonly string[] | undefined;
  readonly maxResults?: number | undefined;
  /** Of the whole result: its JSON, with texts as they are before they are escaped. */
  readonly maxChars?: number | undefined;
}

export const isBounded = (bounds: Bounds): boolean =>
  Object.values(bounds).some((value) => value !== undefined);

/**
 * Bounds a tool result. Texts come first: a list is cut after a record, plain text after a line. Other blocks and
 * members are kept as far as they fit. The last block says how much is left. `structuredContent`, which repeats a text, is
 * left out.
 */
export function boundResult(result: JsonObject, bounds: Bounds): JsonObject {
  // A request for input goes to the host and not to the model.
  if (!isBounded(bounds) || result.resultType === 'input_required') return result;
  const { content, structuredContent, isError, ...members } = result;
  const failed = Boolean(isError) && isError !== 'false';
  const budget = new Budget(failed ? { maxChars: bounds.maxChars } : bounds);
  const blocks = blocksOf(content, structuredContent);
  const texts = blocks.map((block) => (isText(block) ? budget.text(block.text) : undefined));
  const kept = blocks.flatMap((block, index) => {
    const text = texts[index];
    if (!isText(block)) return budget.take(JSON.stringify(block)) ? [block] : [];
    if (text === undefined) return [];
    const { type, text: _, ...more } = block;
    return [{ type, text, ...budget.members(more) }];
  });
  if (kept.length < blocks.length) budget.cut(`${kept.length} of ${blocks.length} blocks`);
  const others = budget.members(members);
  const note = budget.note();
  const notes = note === undefined ? [] : [{ type: 'text', text: note }];
  return { ...others, content: [...kept, ...notes], ...(isError === undefined ? {} : { isError: failed }) };
}

export function boundError({ code, message, data }: ProtocolError, bounds: Bounds): ProtocolError {
  const budget = new Budget({ maxChars: bounds.maxChars });
  const text = budget.text(message) ?? '';
  return new ProtocolError(code, text, budget.take(JSON.stringify(data) ?? '') ? data : undefined);
}

interface TextBlock extends JsonObject {
  readonly type: unknown;
  readonly text: string;
}

const isText = (block: unknown): block is TextBlock =>
  isObject(block) && (block.type ?? 'text') === 'text' && typeof block.text === 'string';

function blocksOf(content: unknown, structuredContent: unknown): unknown[] {
  const blocks = Array.isArray(content) ? content : [];
  const isMissing = structuredContent !== undefined && !blocks.some(isText);
  return isMissing ? [...blocks, { type: 'text', text: JSON.stringify(structuredContent) }] : blocks;
}

/** The JSON around a text, which also bounds the number of texts. */
const TEXT_FRAME = '{"type":"text","text":""}';

const MAX_LISTED = 3;

function listed(texts: readonly string[]): string {
  const more = texts.length - MAX_LISTED;
  const shown = texts.slice(0, MAX_LISTED).map((text) => excerpt(text, 60));
  return (more > 0 ? [...shown, `${more} more`] : shown).join(', ');
}

/** The characters that a result may still have, and what had to be cut. */
class Budget {
  readonly #bounds: Bounds;
  readonly #cuts: string[] = [];
  readonly #leftOut: string[] = [];
  #hint = '';
  #left: number;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#left = bounds.maxChars ?? Number.POSITIVE_INFINITY;
  }

  cut(what: string): void {
    this.#cuts.push(what);
  }

  take(text: string): boolean {
    if (text.length > this.#left) return false;
    this.#left -= text.length;
    return true;
  }

  /** The members that fit; the largest ones are left out. */
  members(object: JsonObject): JsonObject {
    const kept = this.#fitMembers(object, this.#left);
    this.#left -= Object.keys(kept).length === 0 ? 0 : JSON.stringify(kept).length;
    return kept;
  }

  /** @returns undefined if nothing fits */
  text(text: string): string | undefined {
    if (!this.take(TEXT_FRAME)) return undefined;
    const document = documentIn(text);
    const bounded = document === undefined ? text : this.#boundDocument(document, text);
    if (this.take(bounded)) return bounded;
    const start = startOf(bounded, this.#left);
    const kept = start.includes('\n') ? start.slice(0, start.lastIndexOf('\n')) : start;
    if (kept === '') return undefined;
    this.cut(`${kept.length} of ${bounded.length} characters`);
    this.take(kept);
    return kept;
  }

  note(): string | undefined {
    const sentences = [
      ...(this.#cuts.length === 0 ? [] : [`Cut: ${listed(this.#cuts)}.`]),
      ...(this.#leftOut.length === 0 ? [] : [`Left out: ${listed(this.#leftOut)}.`]),
      ...(this.#hint === '' ? [] : [this.#hint]),
    ];
    return sentences.length === 0 ? undefined : sentences.join(' ');
  }

  /** @returns the JSON text as received, if nothing of it is left out */
  #boundDocument(received: Document, text: string): string {
    const document = this.#selectColumns(received);
    const list = listIn(document);
    const plain = document === received ? text : JSON.stringify(document);
    if (list === undefined) {
      if (!isObject(document) || plain.length <= this.#left) return plain;
      const kept = this.#fitMembers(document, this.#left);
      // One member that is too long is better cut than left out.
      return Object.keys(kept).length === 0 ? plain : JSON.stringify(kept);
    }
    const { maxResults = Number.POSITIVE_INFINITY } = this.#bounds;
    const { length } = list.records;
    if (length <= maxResults && plain.length <= this.#left) return plain;
    return this.#cutList(document, list, Math.min(length, maxResults));
  }

  #cutList(document: Document, { records, path }: LongList, most: number): string {
    const write = (from: Document, count: number) =>
      JSON.stringify(withRecords(from, path, records.slice(0, count)));
    let rest = document;
    if (isObject(document) && write(document, most).length > this.#left) {
      // A long member must not take the place of the records.
      rest = this.#fitMembers(document, Math.floor(this.#left / 2), path[0]);
    }
    let chars = write(rest, 0).length;
    let count = 0;
    for (; count < most; count += 1) {
      chars += JSON.stringify(records[count]).length + (count === 0 ? 0 : 1);
      if (chars > this.#left) break;
    }
    if (count < records.length) this.cut(`${count} of ${records.length} records`);
    if (count === 0 && most > 0) {
      this.#hint = `One record needs ${chars + TEXT_FRAME.length} characters: the server needs a higher --max-chars or fewer --columns.`;
    }
    return write(rest, count);
  }

  #selectColumns(document: Document): Document {
    const { columns } = this.#bounds;
    if (columns === undefined) return document;
    const isSearch = isObject(document) && isRecords(document.results);
    const picked = isSearch ? {} : pick(document, columns);
    if (Object.keys(picked).length > 0) return picked;
    const list = listIn(document);
    if (list === undefined || list.records.length === 0) return document;
    const records = list.records.map((record) => pick(record, columns));
    if (records.some((record) => Object.keys(record).length > 0)) {
      return withRecords(document, list.path, records);
    }
    this.#hint = `No record has ${excerpt(columns.join(', '), 100)}, so all columns are shown.`;
    return document;
  }

  /** @param always the key of a member that is kept and does not count */
  #fitMembers(object: JsonObject, max: number, always?: string): JsonObject {
    const members = Object.entries(object)
      .filter(([key]) => key !== always)
      .map(([key, value]) => ({ key, chars: JSON.stringify({ [key]: value }).length }));
    let total = members.reduce((sum, { chars }) => sum + chars, 0);
    const leftOut = new Set<string>();
    for (const { key, chars } of members.sort((one, other) => other.chars - one.chars)) {
      if (total <= max) break;
      leftOut.add(key);
      total -= chars;
    }
    this.#leftOut.push(...leftOut);
    return Object.fromEntries(Object.entries(object).filter(([key]) => !leftOut.has(key)));
  }
}

type Document = JsonObject | readonly unknown[];

function documentIn(text: string): Document | undefined {
  const value = attempt(() => {
    const parsed = parseJsonOrNone(text);
    checkDepth(parsed);
    return parsed;
  });
  return isObject(value) || Array.isArray(value) ? value : undefined;
}

interface LongList {
  readonly records: readonly unknown[];
  readonly path: readonly string[];
}

const isRecords = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

/** The document itself, else `results`, else the list of records with the longest JSON. */
function listIn(document: Document): LongList | undefined {
  if (!isObject(document)) return { records: document, path: [] };
  const { results } = document;
  if (isRecords(results)) return { records: results, path: ['results'] };
  const lists = listsBelow(document, []).map((list) => ({
    list,
    chars: JSON.stringify(list.records).length,
  }));
  return lists.sort((one, other) => other.chars - one.chars)[0]?.list;
}

const MAX_DEPTH = 3;

function listsBelow(object: JsonObject, path: readonly string[]): LongList[] {
  return Object.entries(object).flatMap(([key, value]) => {
    const at = [...path, key];
    if (isRecords(value)) return [{ records: value, path: at }];
    return isObject(value) && at.length < MAX_DEPTH ? listsBelow(value, at) : [];
  });
}

function withRecords(document: Document, path: readonly string[], records: readonly unknown[]): Document {
  const [key, ...rest] = path;
  if (key === undefined || !isObject(document)) return records;
  // Object.fromEntries keeps a key such as __proto__.
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => [
      name,
      name === key ? withRecords(value as Document, rest, records) : value,
    ]),
  );
}
