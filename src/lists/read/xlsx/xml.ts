import { Parser } from 'saxen';
import { WorkbookError } from './archive.ts';

export type Attribute = (name: string) => string | undefined;

/** Makes items of the elements and texts of an XML document. Names are without their prefixes. */
export abstract class XmlReader<Item> {
  readonly #items: Item[] = [];

  abstract open(name: string, attribute: Attribute): void;
  text(_text: string): void {}
  close(_name: string): void {}

  protected add(item: Item): void {
    this.#items.push(item);
  }

  take(): Item[] {
    return this.#items.splice(0);
  }
}

/** Maximum length of a tag or text, in characters. */
const MAX_TOKEN = 1024 * 1024;
const MAX_DEPTH = 100;
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const MAX_CODE_POINT = 0x10ffff;

/** Parses XML in UTF-8. @throws {WorkbookError} if it is malformed, or declares entities */
export async function* parseXml<Item>(
  chunks: AsyncIterable<Uint8Array>,
  reader: XmlReader<Item>,
): AsyncGenerator<Item> {
  const parser = new XmlParser(reader);
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.write(decoder.decode(chunk, { stream: true }));
    yield* reader.take();
  }
  parser.end();
  yield* reader.take();
}

class XmlParser {
  readonly #parser = new Parser();
  /** Number of characters since the last tag or text. */
  #pending = 0;
  #depth = 0;

  constructor(reader: XmlReader<unknown>) {
    this.#parser
      .on('error', (cause) => {
        throw new WorkbookError('its XML is malformed', { cause });
      })
      .on('attention', () => {
        throw new WorkbookError('its XML declares a document type');
      })
      .on('openTag', (name, attributes) => {
        this.#pending = 0;
        this.#depth += 1;
        if (this.#depth > MAX_DEPTH) throw new WorkbookError('its XML is nested too deeply');
        reader.open(local(name), (key) => decodeReferences(attributes()[key]));
      })
      .on('closeTag', (name) => {
        this.#pending = 0;
        this.#depth -= 1;
        reader.close(local(name));
      })
      .on('text', (text) => {
        this.#pending = 0;
        reader.text(decodeReferences(text));
      })
      .on('cdata', (text) => reader.text(text));
  }

  write(text: string): void {
    this.#pending += text.length;
    this.#parser.write(text);
    if (this.#pending > MAX_TOKEN) throw new WorkbookError('its XML has a text longer than 1 MiB');
  }

  end(): void {
    this.#parser.end();
  }
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
