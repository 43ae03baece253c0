import { columnOf, MAX_CELL, MAX_SHEET_COLUMNS, MAX_SHEET_ROWS } from '../../../util/sheet.ts';
import { WorkbookError } from './archive.ts';
import { type NumberFormat, plainNumber } from './formats.ts';
import { type Attribute, XmlReader } from './xml.ts';

/** Maximum length of all shared texts, in characters. Each counts as more than it has, because empty ones need memory, too. */
const MAX_TEXTS = 64 * 1024 * 1024;
const TEXT_OVERHEAD = 4;

export interface SheetRow {
  /** Its number in the sheet, from 1. */
  readonly number: number;
  readonly cells: string[];
}

export interface Lookup {
  readonly texts: readonly string[];
  readonly formats: readonly NumberFormat[];
}

const BOOLEANS: Readonly<Record<string, string>> = { 1: 'TRUE', 0: 'FALSE', true: 'TRUE', false: 'FALSE' };

/** Reads the rows of a sheet that have text. Formulas have their stored values. */
export class RowsReader extends XmlReader<SheetRow> {
  readonly #lookup: Lookup;
  #isInData = false;
  #number = 0;
  #cells: string[] = [];
  /** The column of the current cell, from 1; 0 before the first one. */
  #column = 0;
  #type = 'n';
  #style = 0;
  #isInValue = false;
  #value = '';
  readonly #text = new RichText();

  constructor(lookup: Lookup) {
    super();
    this.#lookup = lookup;
  }

  override open(name: string, attribute: Attribute): void {
    if (name === 'sheetData') this.#isInData = true;
    if (!this.#isInData) return;
    if (name === 'row') this.#openRow(attribute('r'));
    else if (name === 'c') this.#openCell(attribute);
    else if (name === 'v') this.#isInValue = true;
    else this.#text.open(name);
  }

  override text(text: string): void {
    if (this.#isInValue) this.#value += text;
    else this.#text.add(text);
    if (this.#value.length > MAX_CELL) throw longText();
  }

  override close(name: string): void {
    if (name === 'sheetData') this.#isInData = false;
    if (!this.#isInData) return;
    if (name === 'row') this.#closeRow();
    else if (name === 'c') this.#closeCell();
    else if (name === 'v') this.#isInValue = false;
    else this.#text.close(name);
  }

  #openRow(number: string | undefined): void {
    const next = number === undefined ? this.#number + 1 : Number(number);
    if (!(Number.isInteger(next) && next > this.#number && next <= MAX_SHEET_ROWS))
      throw new WorkbookError(`its row ${this.#number} is followed by row ${next}`);
    this.#number = next;
    this.#cells = [];
    this.#column = 0;
  }

  #openCell(attribute: Attribute): void {
    const column = columnOf(attribute('r')) ?? this.#column + 1;
    if (column <= this.#column) throw this.#error('cells that are not in order');
    if (column > MAX_SHEET_COLUMNS) throw this.#error('more than 16,384 columns');
    this.#column = column;
    this.#type = attribute('t') ?? 'n';
    this.#style = Number(attribute('s') ?? 0);
    this.#value = '';
  }

  #closeCell(): void {
    const text = this.#cellText();
    if (text === '') return;
    while (this.#cells.length < this.#column - 1) this.#cells.push('');
    this.#cells.push(text);
  }

  #cellText(): string {
    const [value, inline] = [this.#value, this.#text.take()];
    if (this.#type === 'inlineStr') return inline;
    if (value === '') return '';
    if (this.#type === 's') return this.#lookup.texts[Number(value)] ?? '';
    if (this.#type === 'b') return BOOLEANS[value] ?? value;
    if (this.#type !== 'n') return value;
    return (this.#lookup.formats[this.#style] ?? plainNumber)(value);
  }

  #closeRow(): void {
    if (this.#cells.length > 0) this.add({ number: this.#number, cells: this.#cells });
  }

  #error(what: string): WorkbookError {
    return new WorkbookError(`its row ${this.#number} has ${what}`);
  }
}

/** Reads the texts that cells share. */
export class TextsReader extends XmlReader<string> {
  readonly #text = new RichText();
  #length = 0;

  override open(name: string): void {
    this.#text.open(name);
  }

  override text(text: string): void {
    this.#text.add(text);
  }

  override close(name: string): void {
    this.#text.close(name);
    if (name !== 'si') return;
    const text = this.#text.take();
    this.#length += text.length + TEXT_OVERHEAD;
    if (this.#length > MAX_TEXTS) throw new WorkbookError('its texts are longer than 64 MiB');
    this.add(text);
  }
}

/** The text of an element with parts of different fonts. Phonetic hints are left out. */
class RichText {
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

const longText = () => new WorkbookError('it has a cell with more than 32,767 characters');
