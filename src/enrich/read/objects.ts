import { valueAt } from '../../output/records.ts';
import { tryParseJson } from '../../util/json.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { NESTED_HEADERS } from '../match/columns.ts';
import type { ObjectRow, OnProblem } from '../row.ts';
import { FeatureReader, JsonError } from './features.ts';

/** Maximum number of levels. To parse a text of millions would take gigabytes. */
const MAX_DEPTH = 1000;
const TOO_DEEP = 'is nested too deeply';

/** Maximum length of a row and of a line, in characters. Also limits an unclosed quote. */
export const MAX_ROW = 16 * 1024 * 1024;

export async function* readNdjson(
  pieces: AsyncIterable<string>,
  onProblem: OnProblem,
): AsyncGenerator<ObjectRow> {
  const reader = new LineReader();
  let line = 0;
  const rowsOf = function* (lines: Iterable<string>): Generator<ObjectRow> {
    for (const text of lines) {
      line += 1;
      const row = readObject(text, line, onProblem);
      if (row !== undefined) yield row;
    }
  };
  for await (const piece of pieces) yield* rowsOf(reader.push(piece));
  yield* rowsOf(reader.end());
}

/** Reads the features of a GeoJSON FeatureCollection. The text of each is put on one line. */
export async function* readFeatures(
  pieces: AsyncIterable<string>,
  onProblem: OnProblem,
): AsyncGenerator<ObjectRow> {
  const reader = new FeatureReader(MAX_ROW);
  const rowsOf = function* (features: Iterable<{ text: string; line: number }>): Generator<ObjectRow> {
    for (const { text, line } of features) {
      const value = isTooDeep(text) ? undefined : tryParseJson(text);
      if (isFeature(value)) yield { kind: 'object', line, text: onOneLine(text), value: recordOf(value) };
      else onProblem({ line, what: isTooDeep(text) ? TOO_DEEP : 'is not a GeoJSON Feature' });
    }
  };
  try {
    for await (const piece of pieces) yield* rowsOf(reader.push(piece));
    reader.end();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    onProblem({ line: error.line, what: error.message });
  }
}

/** Strings of JSON have no line breaks, so all of them are white space. */
const onOneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .join('');

function readObject(whole: string, line: number, onProblem: OnProblem): ObjectRow | undefined {
  // A sequence of RFC 8142 has a record separator before each text.
  const text = whole.length > MAX_ROW ? whole : whole.replace(/^\x1e/, '').trim();
  if (text === '') return undefined;
  if (text.length <= MAX_ROW && isTooDeep(text)) {
    onProblem({ line, what: TOO_DEEP });
    return undefined;
  }
  const value = text.length > MAX_ROW ? undefined : tryParseJson(text);
  if (isObject(value))
    return { kind: 'object', line, text, value: isFeature(value) ? recordOf(value) : value };
  const advice = text.startsWith('[') ? ' (NDJSON has one object per line: jq -c ".[]")' : '';
  const what = text.length > MAX_ROW ? 'is longer than 16 MiB' : `is not a JSON object${advice}`;
  onProblem({ line, what });
  return undefined;
}

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

/** Splits text into lines. A line that is too long is cut, and returned before its end, because it may be endless. */
class LineReader {
  #line = '';
  #isCut = false;

  *push(piece: string): Generator<string> {
    const [end = '', ...others] = piece.split('\n');
    if (!this.#isCut) this.#line += end;
    for (const next of others) {
      if (!this.#isCut) yield this.#line;
      this.#isCut = false;
      this.#line = next;
    }
    if (this.#line.length <= MAX_ROW) return;
    yield this.#line;
    this.#isCut = true;
    this.#line = '';
  }

  end(): string[] {
    return this.#line === '' ? [] : [this.#line];
  }
}
