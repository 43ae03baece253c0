import { valueAt } from '../../output/records.ts';
import { isObject, type JsonObject, tryParseJson } from '../../util/json.ts';
import { NESTED_HEADERS } from '../match/headers.ts';
import type { ObjectRow, OnProblem, Problem } from '../row.ts';

/** Maximum number of levels. To parse a text of millions would take gigabytes. */
const MAX_DEPTH = 1000;

/** Maximum length of a row and of a line, in characters. Also limits an unclosed quote. */
export const MAX_ROW = 16 * 1024 * 1024;
const TOO_LONG = 'is longer than 16 MiB';
const NO_FEATURE = 'is not a GeoJSON Feature';

/** The text of an object, and its first line. */
interface ObjectText {
  readonly text: string;
  readonly line: number;
}

/**
 * Reads the objects of NDJSON, or the features of a GeoJSON FeatureCollection, in text that arrives in pieces.
 */
export async function* readObjects(
  pieces: AsyncIterable<string>,
  isCollection: boolean,
  onProblem: OnProblem,
): AsyncGenerator<ObjectRow> {
  const reader = isCollection ? new FeatureReader() : new LineReader();
  try {
    for await (const piece of pieces) yield* rowsOf(reader.push(piece), isCollection, onProblem);
    yield* rowsOf(reader.end(), isCollection, onProblem);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    onProblem({ line: error.line, what: error.message });
  }
}

function* rowsOf(
  texts: Iterable<ObjectText>,
  isCollection: boolean,
  onProblem: OnProblem,
): Generator<ObjectRow> {
  for (const each of texts) {
    const row = toRow(each, isCollection);
    if ('what' in row) onProblem(row);
    else yield row;
  }
}

function toRow({ text, line }: ObjectText, isCollection: boolean): ObjectRow | Problem {
  if (text.length > MAX_ROW) return { line, what: TOO_LONG };
  if (isTooDeep(text)) return { line, what: 'is nested too deeply' };
  const value = tryParseJson(text);
  if (isFeature(value)) return { kind: 'object', line, text, value: recordOf(value) };
  if (isCollection) return { line, what: NO_FEATURE };
  if (isObject(value)) return { kind: 'object', line, text, value };
  const advice = text.startsWith('[') ? ' (NDJSON has one object per line: jq -c ".[]")' : '';
  return { line, what: `is not a JSON object${advice}` };
}

/** A problem after which the text cannot be read further. */
class JsonError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Splits text into lines. A line that is too long is cut, and returned before its end, because it may be endless. */
class LineReader {
  #text = '';
  #line = 1;
  #isCut = false;

  *push(piece: string): Generator<ObjectText> {
    const [end = '', ...others] = piece.split('\n');
    if (!this.#isCut) this.#text += end;
    for (const next of others) {
      const json = this.#current();
      if (json !== undefined) yield json;
      this.#isCut = false;
      this.#text = next;
      this.#line += 1;
    }
    if (this.#text.length <= MAX_ROW) return;
    yield { text: this.#text, line: this.#line };
    this.#isCut = true;
    this.#text = '';
  }

  end(): ObjectText[] {
    return [this.#current() ?? []].flat();
  }

  /** Returns the current line; undefined if it is blank, or the end of a line that was cut. */
  #current(): ObjectText | undefined {
    // A sequence of RFC 8142 has a record separator before each text.
    const isTooLong = this.#text.length > MAX_ROW;
    const text = isTooLong ? this.#text : this.#text.replace(/^\x1e/, '').trim();
    return text === '' ? undefined : { text, line: this.#line };
  }
}

/** Plain text, or a character that begins, ends, or escapes something. */
const TOKEN = /[^"\\{}[\]\n]+|["\\{}[\]\n]/g;

/** The depth of the list of features in a collection, and of a key of the collection. */
const LIST = 2;
const KEY = 1;

/** Finds the features of a FeatureCollection in linear time. */
class FeatureReader {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The last string among the keys of the collection. */
  #key = '';
  #isInList = false;
  #hasList = false;
  #line = 1;
  /** The current feature, and its first line. */
  #feature: string | undefined;
  #firstLine = 1;

  /** @throws {JsonError} */
  *push(piece: string): Generator<ObjectText> {
    let start = 0;
    for (const { 0: token, index } of piece.matchAll(TOKEN)) {
      if (token === '\n') this.#line += 1;
      if (this.#isInString) this.#readString(token);
      else if (token === '{' && this.#isInList && this.#depth === LIST) {
        this.#feature = '';
        this.#firstLine = this.#line;
        this.#depth += 1;
        start = index;
      } else this.#readMark(token);
      if (this.#feature === undefined || this.#depth !== LIST || this.#isInString) continue;
      const text = this.#feature + piece.slice(start, index + token.length);
      yield { text: onOneLine(text), line: this.#firstLine };
      this.#feature = undefined;
    }
    if (this.#feature === undefined) return;
    this.#feature += piece.slice(start);
    if (this.#feature.length > MAX_ROW) throw new JsonError(this.#firstLine, TOO_LONG);
  }

  /** @throws {JsonError} */
  end(): Iterable<ObjectText> {
    if (!this.#hasList) throw new JsonError(1, 'is not a GeoJSON FeatureCollection');
    if (this.#depth > 0) throw new JsonError(this.#line, 'ends before the FeatureCollection is complete');
    return [];
  }

  #readString(token: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (token === '\\') this.#isEscaped = true;
    else if (token === '"') this.#isInString = false;
    else if (this.#depth === KEY) this.#key = `${this.#key}${token}`.slice(0, 'features'.length + 1);
  }

  #readMark(token: string): void {
    if (token === '"') {
      this.#isInString = true;
      this.#key = this.#depth === KEY ? '' : this.#key;
    } else if (token === '{' || token === '[') {
      this.#isInList ||= token === '[' && this.#depth === KEY && this.#key === 'features';
      this.#hasList ||= this.#isInList;
      this.#depth += 1;
    } else if (token === '}' || token === ']') {
      this.#depth -= 1;
      this.#isInList &&= this.#depth >= LIST;
    }
    if (this.#isInList && this.#depth === LIST && this.#feature === undefined && !/^[\s,[\]]*$/.test(token))
      throw new JsonError(this.#line, NO_FEATURE);
  }
}

/** Strings of JSON have no line breaks, so all of them are white space. */
const onOneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .join('');

function isTooDeep(json: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < json.length && depth <= MAX_DEPTH; at += 1) {
    const char = json[at];
    if (char === '"') isInString = !isInString;
    else if (isInString) at += char === '\\' ? 1 : 0;
    else if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') depth -= 1;
  }
  return depth > MAX_DEPTH;
}

type Feature = JsonObject & { readonly properties: JsonObject };

const isFeature = (value: unknown): value is Feature =>
  isObject(value) && value.type === 'Feature' && isObject(value.properties);

function recordOf({ type: _, geometry, properties, bbox: __, ...others }: Feature): JsonObject {
  const isPoint = isObject(geometry) && geometry.type === 'Point' && Array.isArray(geometry.coordinates);
  const [lng, lat]: unknown[] = isPoint ? (geometry.coordinates as unknown[]) : [];
  return { ...others, ...(isPoint ? { lat, lng } : {}), ...properties };
}

/** Returns the keys of an object, and the paths to nested values that are recognized as columns. */
export function columnsOf(value: JsonObject): string[] {
  return [
    ...Object.keys(value),
    ...NESTED_HEADERS.filter((path) => typeof valueAt(value, path) === 'string'),
  ];
}
