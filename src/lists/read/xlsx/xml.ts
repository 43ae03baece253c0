import { Parser } from 'saxen';
import { collect } from '../../../util/async.ts';
import { MAX_CELL } from '../../../util/sheet.ts';
import { UnreadableFile } from '../limits.ts';

export type Attributes = Readonly<Partial<Record<string, string>>>;

/** Makes items of the elements of an XML document. Names are without their prefixes. */
export interface XmlReader<Item> {
  readonly items: Item[];
  open?(name: string, attributes: () => Attributes, parent: string | undefined): void;
  /** @param text of an element `t` or `v` */
  close?(name: string, text: string, parent: string | undefined): void;
}

/** The elements whose text is read: of texts, and of values. */
const LEAVES = ['t', 'v'];
/** Maximum length of a tag or text, in characters. */
const MAX_TOKEN = 1024 * 1024;
const MAX_DEPTH = 100;
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const CHARACTERS: Attributes = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const MAX_CODE_POINT = 0x10ffff;

/** Parses XML in UTF-8; without any, there are no items. @throws {UnreadableFile} if it is malformed, or declares entities */
export async function* parseXml<Item>(
  chunks: AsyncIterable<Uint8Array>,
  reader: XmlReader<Item>,
): AsyncGenerator<Item> {
  const decoder = new TextDecoder();
  const parents: string[] = [];
  let text = '';
  let isInText = false;
  // Number of characters since the last tag or text.
  let pending = 0;
  let isEmpty = true;
  const onText = (piece: string): void => {
    pending = 0;
    if (isInText) text = checkCell(text + piece);
  };
  const parser = new Parser()
    .on('error', (cause) => {
      throw new UnreadableFile('its XML is malformed', { cause });
    })
    .on('attention', () => {
      throw new UnreadableFile('its XML declares a document type');
    })
    .on('openTag', (full, attributes) => {
      const name = local(full);
      pending = 0;
      if (LEAVES.includes(name)) [text, isInText] = ['', true];
      reader.open?.(name, attributes, parents.at(-1));
      if (parents.push(name) > MAX_DEPTH) throw new UnreadableFile('its XML is nested too deeply');
    })
    .on('closeTag', (full) => {
      const name = local(full);
      pending = 0;
      parents.pop();
      reader.close?.(name, text, parents.at(-1));
      if (LEAVES.includes(name)) isInText = false;
    })
    .on('text', (piece) => onText(decodeReferences(piece)))
    .on('cdata', onText);
  for await (const chunk of chunks) {
    const piece = decoder.decode(chunk, { stream: true });
    isEmpty = false;
    pending += piece.length;
    parser.write(piece);
    if (pending > MAX_TOKEN) throw new UnreadableFile('its XML has a text longer than 1 MiB');
    yield* reader.items.splice(0);
  }
  if (!isEmpty) parser.end();
}

/** Returns the text of a cell. @throws {UnreadableFile} if it is too long */
export function checkCell(text: string): string {
  if (text.length > MAX_CELL) throw new UnreadableFile('it has a cell with more than 32,767 characters');
  return text;
}

export interface Element {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Attributes;
}

/** Maximum number of sheets, relations, or formats; Excel has at most 65,490 formats. */
const MAX_ELEMENTS = 200_000;

/** The elements of these names, in their order. @throws {UnreadableFile} if there are too many */
export function elementsOf(chunks: AsyncIterable<Uint8Array>, ...names: string[]): Promise<Element[]> {
  const items: Element[] = [];
  let count = 0;
  const open = (name: string, attributes: () => Attributes, parent: string | undefined): void => {
    if (!names.includes(name)) return;
    count += 1;
    if (count > MAX_ELEMENTS) throw new UnreadableFile(`its XML has more than 200,000 elements '${name}'`);
    const own = Object.entries(attributes()).map(([key, value = '']) => [
      local(key),
      decodeReferences(value),
    ]);
    items.push({ name, parent, attributes: Object.fromEntries(own) });
  };
  return collect(parseXml(chunks, { items, open }));
}

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (_all, decimal?: string, hex?: string, name = '') => {
    if (name !== '') return CHARACTERS[name.toLowerCase()] ?? '';
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > MAX_CODE_POINT ? '\ufffd' : String.fromCodePoint(code);
  });
}
