import { MAX_CELL } from '../../../util/sheet.ts';
import { WorkbookError } from './error.ts';
import { type NumberFormat, numberFormat } from './formats.ts';
import type { XmlReader } from './xml.ts';

/** Maximum length of all shared texts, in characters. Each counts as more than it has, because empty ones need memory, too. */
const MAX_TEXTS = 64 * 1024 * 1024;
const TEXT_OVERHEAD = 4;

export interface Sheet {
  readonly name: string;
  readonly relation: string;
  readonly isHidden: boolean;
}

export class SheetsReader implements XmlReader<Sheet> {
  #sheets: Sheet[] = [];
  is1904 = false;

  open(name: string, attribute: (name: string) => string | undefined): void {
    if (name === 'workbookPr') this.is1904 = ['1', 'true'].includes(attribute('date1904') ?? '');
    if (name !== 'sheet') return;
    const relation = attribute('r:id') ?? attribute('id') ?? '';
    const isHidden = (attribute('state') ?? 'visible') !== 'visible';
    this.#sheets.push({ name: attribute('name') ?? '', relation, isHidden });
  }

  text(): void {}
  close(): void {}

  take(): Sheet[] {
    return this.#sheets.splice(0);
  }
}

export interface Relation {
  readonly id: string;
  /** The last word of its type, such as `worksheet`. */
  readonly kind: string;
  readonly path: string;
}

export class RelationsReader implements XmlReader<Relation> {
  #relations: Relation[] = [];

  open(name: string, attribute: (name: string) => string | undefined): void {
    if (name !== 'Relationship') return;
    const target = attribute('Target') ?? '';
    const path = target.startsWith('/') ? target.slice(1) : `xl/${target.replace(/^\.\//, '')}`;
    const kind = (attribute('Type') ?? '').split('/').at(-1) ?? '';
    this.#relations.push({ id: attribute('Id') ?? '', kind, path });
  }

  text(): void {}
  close(): void {}

  take(): Relation[] {
    return this.#relations.splice(0);
  }
}

/** Reads the formats of cells in xl/styles.xml, in the order in which cells number them. */
export class FormatsReader implements XmlReader<NumberFormat> {
  readonly #is1904: boolean;
  readonly #codes = new Map<number, string>();
  #isInCells = false;
  #formats: NumberFormat[] = [];

  constructor(is1904: boolean) {
    this.#is1904 = is1904;
  }

  open(name: string, attribute: (name: string) => string | undefined): void {
    if (name === 'numFmt') this.#codes.set(Number(attribute('numFmtId')), attribute('formatCode') ?? '');
    if (name === 'cellXfs') this.#isInCells = true;
    if (name !== 'xf' || !this.#isInCells) return;
    const id = Number(attribute('numFmtId') ?? 0);
    this.#formats.push(numberFormat(id, this.#codes.get(id), this.#is1904));
  }

  text(): void {}

  close(name: string): void {
    if (name === 'cellXfs') this.#isInCells = false;
  }

  take(): NumberFormat[] {
    return this.#formats.splice(0);
  }
}

/** The text of an element with parts of different fonts. Phonetic hints are left out. */
export class RichText {
  #text = '';
  #isInText = false;
  #isPhonetic = false;

  open(name: string): void {
    if (name === 't') this.#isInText = !this.#isPhonetic;
    if (name === 'rPh') this.#isPhonetic = true;
  }

  add(text: string): void {
    if (this.#isInText) this.#text += text;
    if (this.#text.length > MAX_CELL) throw longText();
  }

  close(name: string): void {
    if (name === 't') this.#isInText = false;
    if (name === 'rPh') this.#isPhonetic = false;
  }

  /** Returns the text, and begins another one. Characters that XML cannot contain are written as `_x0007_`. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text.includes('_x')
      ? text.replace(/_x([\da-f]{4})_/gi, (_all, code: string) =>
          String.fromCharCode(Number.parseInt(code, 16)),
        )
      : text;
  }
}

export const longText = () => new WorkbookError('it has a cell with more than 32,767 characters');

export class TextsReader implements XmlReader<string> {
  readonly #text = new RichText();
  #texts: string[] = [];
  #length = 0;

  open(name: string): void {
    this.#text.open(name);
  }

  text(text: string): void {
    this.#text.add(text);
  }

  close(name: string): void {
    this.#text.close(name);
    if (name !== 'si') return;
    const text = this.#text.take();
    this.#length += text.length + TEXT_OVERHEAD;
    if (this.#length > MAX_TEXTS) throw new WorkbookError('its texts are longer than 64 MiB');
    this.#texts.push(text);
  }

  take(): string[] {
    return this.#texts.splice(0);
  }
}
