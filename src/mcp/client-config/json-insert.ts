import { createScanner, findNodeAtLocation, type JSONPath, parseTree } from 'jsonc-parser';

/** How a file is written: one step of indent, and its line ends. */
export interface JsonStyle {
  readonly indent: string;
  readonly eol: string;
}

/** The style of a file so far; two spaces and LF where it shows none. */
export function styleOf(json: string): JsonStyle {
  return {
    indent: /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ',
    eol: json.includes('\r\n') ? '\r\n' : '\n',
  };
}

/** What may stand behind a member on its line: blanks and comments. */
const REST_OF_LINE = /[ \t]*(?:\/\*[^\n]*?\*\/[ \t]*)*(?:\/\/[^\r\n]*)?/y;

/**
 * Adds a member at the end of an object or array, on lines of its own. Not a byte of the rest is changed: unlike
 * jsonc-parser's own insertion, it lays nothing out anew, and a comment stays on the line of what it is about.
 * @param key of the member; undefined in an array
 */
export function insertLast(json: string, place: JSONPath, key: string | undefined, value: unknown): string {
  const root = parseTree(json, [], { allowTrailingComma: true });
  const parent = root && findNodeAtLocation(root, place);
  if (parent === undefined) return json;
  const last = parent.children?.at(-1);
  const { indent, eol } = styleOf(json);
  const margin = (last && marginOf(json, last.offset)) ?? indent.repeat(place.length + 1);
  const end = last === undefined ? parent.offset + 1 : last.offset + last.length;
  const comma = last === undefined ? undefined : commaAfter(json, end);
  const at = lineRest(json, comma ?? end);
  const name = key === undefined ? '' : `${JSON.stringify(key)}: `;
  const text = name + JSON.stringify(value, null, indent).replaceAll('\n', eol + margin);
  const close = parent.offset + parent.length - 1;
  const tail = json.slice(at, close).includes('\n') ? '' : eol + margin.slice(indent.length);
  const head = last === undefined || comma !== undefined ? '' : ',';
  return [json.slice(0, end), head, json.slice(end, at), eol, margin, text, tail, json.slice(at)].join('');
}

/** The blanks before a member, where it is the first on its line. */
function marginOf(json: string, offset: number): string | undefined {
  const line = json.slice(json.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*$/.test(line) && line !== '' ? line : undefined;
}

/** Where the comma behind a member ends, if there is one. */
function commaAfter(json: string, end: number): number | undefined {
  const scanner = createScanner(json, true);
  scanner.setPosition(end);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return json[at] === ',' ? at + 1 : undefined;
}

function lineRest(json: string, from: number): number {
  REST_OF_LINE.lastIndex = from;
  return from + (REST_OF_LINE.exec(json)?.[0].length ?? 0);
}
