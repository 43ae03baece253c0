import { columnOf, MAX_CELL, MAX_SHEET_COLUMNS, MAX_SHEET_ROWS } from '../../../util/sheet.ts';
import { WorkbookError } from './error.ts';
import { type NumberFormat, plainNumber } from './formats.ts';
import { longText, RichText } from './parts.ts';
import type { XmlReader } from './xml.ts';

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
export class RowsReader implements XmlReader<SheetRow> {
  readonly #lookup: Lookup;
  #rows: SheetRow[] = [];
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
    this.#lookup = lookup;
  }

  open(name: string, attribute: (name: string) => string | undefined): void {
    if (name === 'sheetData') this.#isInData = true;
    if (!this.#isInData) return;
    if (name === 'row') this.#openRow(attribute('r'));
    else if (name === 'c') this.#openCell(attribute);
    else if (name === 'v') this.#isInValue = true;
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

  take(): SheetRow[] {
    return this.#rows.splice(0);
  }

  #openRow(number: string | undefined): void {
    const next = number === undefined ? this.#number + 1 : Number(number);
    if (!(Number.isInteger(next) && next > this.#number && next <= MAX_SHEET_ROWS))
      throw new WorkbookError(`its row ${this.#number} is followed by row ${next}`);
    this.#number = next;
    this.#cells = [];
    this.#column = 0;
  }

  #openCell(attribute: (name: string) => string | undefined): void {
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
    if (this.#cells.length > 0) this.#rows.push({ number: this.#number, cells: this.#cells });
  }

  #error(what: string): WorkbookError {
    return new WorkbookError(`its row ${this.#number} has ${what}`);
  }
}
