import { columnOf, MAX_CELL, MAX_SHEET_COLUMNS, MAX_SHEET_ROWS } from '../../../util/sheet.ts';
import type { CellKind } from '../../row.ts';
import { UnreadableFile } from '../limits.ts';
import type { TypedRow } from '../typed-rows.ts';
import { type Cell, type NumberFormat, plainNumber } from './formats.ts';
import type { Attribute, XmlReader } from './xml.ts';

/** Maximum length of all shared texts, in characters. Each counts as more than it has, because empty ones need memory, too. */
const MAX_TEXTS = 64 * 1024 * 1024;
const TEXT_OVERHEAD = 16;

export interface CellTables {
  readonly texts: readonly string[];
  readonly formats: readonly NumberFormat[];
}

const BOOLEANS: Readonly<Record<string, Cell>> = {
  1: ['TRUE', 'b'],
  0: ['FALSE', 'b'],
  true: ['TRUE', 'b'],
  false: ['FALSE', 'b'],
};

/** Reads the rows of a sheet that have text. Formulas have their stored values. */
export class RowsReader implements XmlReader {
  /** Values beyond this column are not kept. */
  width = MAX_SHEET_COLUMNS;
  isDone = false;
  readonly #tables: CellTables;
  readonly #onRow: (row: TypedRow, reader: RowsReader) => void;
  #isInData = false;
  #number = 0;
  #cells: string[] = [];
  #kinds: CellKind[] = [];
  #beyond: number | undefined;
  /** The column of the current cell, from 1; 0 before the first one. */
  #column = 0;
  #type = 'n';
  #style = 0;
  #isInValue = false;
  #isFormula = false;
  #hasValue = false;
  #value = '';
  readonly #text = new RichText();

  constructor(tables: CellTables, onRow: (row: TypedRow, reader: RowsReader) => void) {
    this.#tables = tables;
    this.#onRow = onRow;
  }

  open(name: string, attribute: Attribute): void {
    if (name === 'sheetData') this.#isInData = true;
    if (!this.#isInData) return;
    if (name === 'row') this.#openRow(attribute('r'));
    else if (name === 'c') this.#openCell(attribute);
    else if (name === 'v') this.#openValue();
    else if (name === 'f') this.#isFormula = true;
    else this.#text.open(name);
  }

  text(text: string): void {
    if (this.#isInValue) this.#value += text;
    else this.#text.add(text);
    if (this.#value.length > MAX_CELL) throw longText();
  }

  close(name: string): void {
    if (name === 'sheetData') this.#isInData = false;
    if (!this.#isInData) return;
    if (name === 'row') this.#closeRow();
    else if (name === 'c') this.#closeCell();
    else if (name === 'v') this.#isInValue = false;
    else this.#text.close(name);
  }

  #openValue(): void {
    this.#isInValue = true;
    this.#hasValue = true;
  }

  #openRow(number: string | undefined): void {
    const next = number === undefined ? this.#number + 1 : Number(number);
    if (!(Number.isInteger(next) && next > this.#number && next <= MAX_SHEET_ROWS))
      throw new UnreadableFile(`its row ${this.#number} is followed by row ${next}`);
    this.#number = next;
    this.#cells = [];
    this.#kinds = [];
    this.#beyond = undefined;
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
    this.#isFormula = false;
    this.#hasValue = false;
  }

  #closeCell(): void {
    const [text, kind = 't'] = this.#cell();
    if (text === '' && kind === 't') return;
    if (this.#column > this.width) {
      if (text !== '') this.#beyond ??= this.#column;
      return;
    }
    while (this.#cells.length < this.#column - 1) {
      this.#cells.push('');
      this.#kinds.push('t');
    }
    this.#cells.push(text);
    this.#kinds.push(kind);
  }

  #cell(): Cell {
    const [value, inline] = [this.#value, this.#text.take()];
    if (this.#type === 'inlineStr') return [inline];
    if (value === '') {
      // A stored text may be empty.
      const isStored = this.#type === 'str' && this.#hasValue;
      return ['', this.#isFormula && !isStored ? 'f' : 't'];
    }
    if (this.#type === 's') return [this.#tables.texts[Number(value)] ?? ''];
    if (this.#type === 'b') return BOOLEANS[value] ?? [value];
    if (this.#type !== 'n') return [value];
    return (this.#tables.formats[this.#style] ?? plainNumber)(value);
  }

  #closeRow(): void {
    const [row, cells, beyond] = [this.#number, this.#cells, this.#beyond];
    const kinds = this.#kinds.join('');
    if (beyond === undefined && cells.length === 0) return;
    this.#onRow({ row, cells, kinds, ...(beyond && { beyond }) }, this);
  }

  #error(what: string): UnreadableFile {
    return new UnreadableFile(`its row ${this.#number} has ${what}`);
  }
}

export class TextsReader implements XmlReader {
  readonly texts: string[] = [];
  readonly #text = new RichText();
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
    if (this.#length > MAX_TEXTS) throw new UnreadableFile('its texts are longer than 64 MiB');
    this.texts.push(text);
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

const longText = () => new UnreadableFile('it has a cell with more than 32,767 characters');
