import { Parser } from 'saxen';
import { UnreadableFile } from '../limits.ts';

export type Attribute = (name: string) => string | undefined;

/** Receives the elements and texts of an XML document. Names are without their prefixes. */
export interface XmlReader {
  /** Whether the rest of the document is not needed. */
  readonly isDone?: boolean;
  open(name: string, attribute: Attribute): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Maximum length of a tag or text, in characters. */
const MAX_TOKEN = 1024 * 1024;
const MAX_DEPTH = 100;
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const MAX_CODE_POINT = 0x10ffff;

/** Parses XML in UTF-8. @throws {UnreadableFile} if it is malformed, or declares entities */
export async function parseXml(chunks: AsyncIterable<Uint8Array>, reader: XmlReader): Promise<void> {
  const decoder = new TextDecoder();
  const parser = new Parser();
  // Number of characters since the last tag or text.
  let pending = 0;
  let depth = 0;
  parser
    .on('error', (cause) => {
      throw new UnreadableFile('its XML is malformed', { cause });
    })
    .on('attention', () => {
      throw new UnreadableFile('its XML declares a document type');
    })
    .on('openTag', (name, attributes) => {
      pending = 0;
      depth += 1;
      if (depth > MAX_DEPTH) throw new UnreadableFile('its XML is nested too deeply');
      reader.open(local(name), (key) => decodeReferences(attributes()[key]));
    })
    .on('closeTag', (name) => {
      pending = 0;
      depth -= 1;
      reader.close?.(local(name));
    })
    .on('text', (text) => {
      pending = 0;
      reader.text?.(decodeReferences(text));
    })
    .on('cdata', (text) => reader.text?.(text));
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    pending += text.length;
    parser.write(text);
    if (pending > MAX_TOKEN) throw new UnreadableFile('its XML has a text longer than 1 MiB');
    if (reader.isDone === true) return;
  }
  parser.end();
}

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

function decodeReferences<Text extends string | undefined>(text: Text): Text | string {
  if (!text?.includes('&')) return text;
  return text.replace(REFERENCE, (_all, decimal?: string, hex?: string, name = '') => {
    if (name !== '') return CHARACTERS[name.toLowerCase()] ?? '';
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > MAX_CODE_POINT ? '\ufffd' : String.fromCodePoint(code);
  });
}
