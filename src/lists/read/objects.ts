import { setImmediate } from 'node:timers/promises';
import { valueAt } from '../../output/records.ts';
import { closingQuote, isObject, type JsonObject, tryParseJson } from '../../util/json.ts';
import { NESTED_HEADERS } from '../match/headers.ts';
import type { ObjectRow, OnProblem, Problem } from '../row.ts';
import { MAX_BYTES, MIB } from './limits.ts';

/** Maximum number of levels. To parse a text of millions would take gigabytes. */
const MAX_DEPTH = 1000;

/** Maximum length of a row and of a line, in characters. Also limits an unclosed quote. */
export const MAX_ROW = 16 * 1024 * 1024;
const TOO_LONG = 'is longer than 16 MiB';
const NO_FEATURE = 'is not a GeoJSON Feature';
const CUT = 'ends before the FeatureCollection is complete';

interface ObjectText {
  readonly text: string;
  readonly line: number;
}

/** Reads the objects of NDJSON, or the features of a GeoJSON FeatureCollection, in text that arrives in pieces. */
export async function* readObjects(
  pieces: AsyncIterable<string>,
  isCollection: boolean,
  signal: AbortSignal,
  onProblem: OnProblem,
): AsyncGenerator<ObjectRow> {
  const texts = isCollection ? featuresOf(pieces, signal) : linesOf(pieces);
  try {
    for await (const each of texts) {
      const row = toRow(each, isCollection);
      if ('what' in row) onProblem(row);
      else yield row;
    }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    onProblem({ line: error.line, what: error.message });
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

/** A line that is too long is cut, and returned before its end, because it may be endless. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<ObjectText> {
  let text = '';
  let line = 1;
  let isCut = false;
  for await (const piece of pieces) {
    const [end = '', ...others] = piece.split('\n');
    if (!isCut) text += end;
    for (const next of others) {
      yield* objectIn(text, line);
      isCut = false;
      text = next;
      line += 1;
    }
    if (text.length <= MAX_ROW) continue;
    yield { text, line };
    isCut = true;
    text = '';
  }
  yield* objectIn(text, line);
}

/** The object of a line, unless it is blank. A sequence of RFC 8142 has a record separator before each text. */
function objectIn(line: string, number: number): ObjectText[] {
  const text = line.length > MAX_ROW ? line : line.replace(/^\x1e/, '').trim();
  return text === '' ? [] : [{ text, line: number }];
}

/** Number of features between which signals are heard. */
const TURN = 256;

/** The features of a FeatureCollection, which is kept in memory. @throws {JsonError} */
async function* featuresOf(pieces: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<ObjectText> {
  const json = await wholeText(pieces);
  let [line, counted, count] = [1, 0, 0];
  for (const { at, end, problem } of featuresIn(json)) {
    line += json.slice(counted, at).split('\n').length - 1;
    counted = at;
    if (problem !== undefined) throw new JsonError(line, problem);
    yield { text: onOneLine(json.slice(at, end)), line };
    count += 1;
    if (count % TURN === 0) await setImmediate();
    signal.throwIfAborted();
  }
}

/** The positions of the features in all lists, up to the first problem. Some files have several collections. */
function* featuresIn(json: string): Generator<{ at: number; end?: number; problem?: string }> {
  const gap = /[\s,]*/y;
  let { end, depth } = nextList(json, 0, 0);
  if (end === undefined) return yield { at: 0, problem: 'is not a GeoJSON FeatureCollection' };
  while (end !== undefined) {
    gap.lastIndex = end;
    gap.test(json);
    const at = gap.lastIndex;
    if (json[at] === ']') {
      ({ end, depth } = nextList(json, at + 1, 1));
      continue;
    }
    if (at < json.length && json[at] !== '{') return yield { at, problem: NO_FEATURE };
    end = endOf(json, at);
    if (end - at > MAX_ROW) return yield { at, problem: TOO_LONG };
    if (end === json.length) return yield { at: end, problem: CUT };
    yield { at, end };
  }
  if (depth > 0) yield { at: json.length, problem: CUT };
}

async function wholeText(pieces: AsyncIterable<string>): Promise<string> {
  const parts: string[] = [];
  let size = 0;
  for await (const piece of pieces) {
    parts.push(piece);
    size += piece.length;
    if (size > MAX_BYTES) throw new JsonError(1, `is longer than ${MAX_BYTES / MIB} MiB`);
  }
  return parts.join('');
}

/** The position behind the bracket that opens the next list of features; without one, the depth at the end. */
function nextList(json: string, start: number, startDepth: number): { end?: number; depth: number } {
  const list = /"features"\s*:\s*\[/y;
  let depth = startDepth;
  for (const [at, deeper] of marksIn(json, start)) {
    depth = startDepth + deeper;
    list.lastIndex = at;
    if (depth === 1 && list.test(json)) return { end: list.lastIndex, depth };
  }
  return { depth };
}

/** The position behind an object; far behind its beginning if it is too long; the end of the text if it is cut. */
function endOf(json: string, start: number): number {
  for (const [at, depth] of marksIn(json, start)) if (depth === 0 || at - start > MAX_ROW) return at + 1;
  return json.length;
}

/** The positions of brackets and strings, with the depth after each, up to a string that does not end. */
function* marksIn(json: string, start = 0): Generator<readonly [at: number, depth: number]> {
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const char = json[at];
    if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char !== '"') continue;
    yield [at, depth];
    if (char !== '"') continue;
    at = closingQuote(json, at);
    if (at === -1) return;
  }
}

/** Strings of JSON have no line breaks, so all of them are white space. */
const onOneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .join('');

function isTooDeep(json: string): boolean {
  for (const [, depth] of marksIn(json)) if (depth > MAX_DEPTH) return true;
  return false;
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
