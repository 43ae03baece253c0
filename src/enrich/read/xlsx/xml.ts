import { Parser } from 'saxen';
import { WorkbookError } from './error.ts';

/** Reads the events of an XML document. Names are without their prefixes. */
export interface XmlReader<Item> {
  open(name: string, attribute: (name: string) => string | undefined): void;
  text(text: string): void;
  close(name: string): void;
  take(): readonly Item[];
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
      .on('error', (error) => {
        throw new WorkbookError(`its XML is malformed: ${error.message}`);
      })
      .on('attention', () => {
        throw new WorkbookError('its XML declares a document type');
      })
      .on('openTag', (name, attributes) => {
        this.#pending = 0;
        this.#depth += 1;
        if (this.#depth > MAX_DEPTH) throw new WorkbookError('its XML is nested too deeply');
        reader.open(local(name), (key) => attributeOf(attributes(), key));
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
    const error = this.#parser.end();
    if (error !== undefined && error !== null)
      throw new WorkbookError(`its XML is malformed: ${error.message}`);
  }
}

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

function attributeOf(attributes: Readonly<Record<string, string>>, key: string): string | undefined {
  const value = attributes[key];
  return value === undefined ? undefined : decodeReferences(value);
}

function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (_all, decimal?: string, hex?: string, name = '') => {
    if (name !== '') return CHARACTERS[name.toLowerCase()] ?? '';
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > MAX_CODE_POINT ? '\ufffd' : String.fromCodePoint(code);
  });
}
