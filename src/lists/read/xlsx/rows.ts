import { type CsvRecord, encodeRecord } from '../../../util/csv.ts';
import { columnOf, MAX_CELL, MAX_SHEET_COLUMNS, MAX_SHEET_ROWS } from '../../../util/sheet.ts';
import { WorkbookError } from './archive.ts';
import { type Attribute, XmlReader } from './xml.ts';

/** Maximum length of all shared texts, in characters. Each counts as more than it has, because empty ones need memory, too. */
const MAX_TEXTS = 64 * 1024 * 1024;
const TEXT_OVERHEAD = 4;

export interface CellTables {
  readonly texts: readonly string[];
  readonly formats: readonly NumberFormat[];
}

const BOOLEANS: Readonly<Record<string, string>> = { 1: 'TRUE', 0: 'FALSE', true: 'TRUE', false: 'FALSE' };

/** Reads the rows of a sheet that have text as records. Formulas have their stored values. */
export class RowsReader extends XmlReader<CsvRecord> {
  readonly #tables: CellTables;
  readonly #delimiter: string;
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

  /** @param delimiter of the text of a record */
  constructor(tables: CellTables, delimiter: string) {
    super();
    this.#tables = tables;
    this.#delimiter = delimiter;
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
    if (this.#type === 's') return this.#tables.texts[Number(value)] ?? '';
    if (this.#type === 'b') return BOOLEANS[value] ?? value;
    if (this.#type !== 'n') return value;
    return (this.#tables.formats[this.#style] ?? plainNumber)(value);
  }

  #closeRow(): void {
    const [cells, row] = [this.#cells, this.#number];
    if (cells.length === 0) return;
    this.add({ cells, line: row, row, text: encodeRecord(cells, this.#delimiter), end: '\n' });
  }

  #error(what: string): WorkbookError {
    return new WorkbookError(`its row ${this.#number} has ${what}`);
  }
}

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

/** How the number of a cell is written: as a number, a date or time, or with leading zeros. */
export type NumberFormat = (value: string) => string;

/** The formats of dates and times that have no code in the file (ECMA-376, part 1, 18.8.30). */
const BUILT_IN: ReadonlyMap<number, string> = new Map([
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map(
    (id) => [id, 'yyyy-mm-dd'] as const,
  ),
  ...[18, 19, 20, 21, 32, 33, 34, 35, 45, 47].map((id) => [id, 'hh:mm:ss'] as const),
  [22, 'yyyy-mm-dd hh:mm'],
]);

const DAY_MS = 86_400_000;
/** The days between 1970 and day 0 of the two calendars. Day 60 of the first one, 29 February 1900, did not exist. */
const DAY_0 = { 1900: -25_569, 1904: -24_107 };
const LEAP_DAY = 60;
const LAST_DAY = 2_958_465;
const DIGITS = 15;

/** @param code undefined for a built-in format */
export function numberFormat(id: number, code: string | undefined, is1904: boolean): NumberFormat {
  const pattern = code ?? BUILT_IN.get(id) ?? '';
  if (/^0{2,32}$/.test(pattern)) return (value) => plainNumber(value).padStart(pattern.length, '0');
  // Without literal text, colors, and conditions; only the first section.
  const [letters = ''] = pattern.replace(/"[^"]*"|\\.|[_*].|\[(?![hms]+\])[^\]]*\]/gi, '').split(';', 1);
  const hasTime = /[hs]/i.test(letters);
  const hasDate = /[dy]/i.test(letters) || (/m/i.test(letters) && !hasTime);
  // An elapsed time, such as [h]:mm, is a number of days.
  if (!(hasDate || hasTime) || letters.includes('[')) return plainNumber;
  return (value) => {
    const days = Number(value);
    if (!(days >= 0 && days < LAST_DAY + 1)) return plainNumber(value);
    const [date = '', time = ''] = dateAndTime(days, is1904);
    if (!hasTime) return date;
    return hasDate || days >= 1 ? `${date}T${time}` : time;
  };
}

function dateAndTime(days: number, is1904: boolean): string[] {
  const shift = !is1904 && days < LEAP_DAY ? 1 : 0;
  const seconds = Math.round((days + shift + DAY_0[is1904 ? 1904 : 1900]) * (DAY_MS / 1000));
  return new Date(seconds * 1000).toISOString().slice(0, 19).split('T');
}

/** Formats a number with the digits that a spreadsheet shows. */
function plainNumber(value: string): string {
  const number = Number(value);
  return Number.isFinite(number) && value.trim() !== '' ? String(Number(number.toPrecision(DIGITS))) : value;
}
