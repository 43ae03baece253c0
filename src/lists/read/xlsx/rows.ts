import { columnOf, MAX_SHEET_COLUMNS, MAX_SHEET_ROWS } from '../../../util/sheet.ts';
import { UnreadableFile } from '../limits.ts';
import type { Cell, FileRow } from '../typed-rows.ts';
import { type NumberFormat, plainNumber } from './formats.ts';
import { type Attributes, checkCell, type XmlReader } from './xml.ts';

interface CellTables {
  readonly texts: readonly string[];
  readonly formats: readonly NumberFormat[];
}

/** A cell as far as it was read, in a column from 1. */
interface OpenCell {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  value: string;
  isFormula: boolean;
  isStored: boolean;
}

const openCell = (column: number, type = '', style = 0): OpenCell => ({
  ...{ column, type, style },
  ...{ value: '', isFormula: false, isStored: false },
});

/** Reads the rows of a sheet that are not empty. Formulas have their stored values. */
export class RowsReader implements XmlReader<FileRow> {
  readonly items: FileRow[] = [];
  readonly #tables: CellTables;
  #isInData = false;
  #row = { row: 0, cells: [] as Cell[], filled: 0 };
  /** Column 0 is before the first one. */
  #cell = openCell(0);

  constructor(tables: CellTables) {
    this.#tables = tables;
  }

  open(name: string, attributes: () => Attributes): void {
    if (name === 'sheetData') this.#isInData = true;
    else if (!this.#isInData) return;
    else if (name === 'row') this.#openRow(attributes());
    else if (name === 'c') this.#openCell(attributes());
    else if (name === 'f') this.#cell.isFormula = true;
    else if (name === 'v') this.#cell.isStored = true;
  }

  close(name: string, text: string, parent?: string): void {
    if (name === 'sheetData') this.#isInData = false;
    else if (!this.#isInData) return;
    else if (isShown(name, parent)) this.#cell.value += text;
    else if (name === 'c') this.#closeCell();
    else if (name === 'row' && this.#row.cells.length > 0) this.items.push(this.#row);
  }

  #openRow({ r }: Attributes): void {
    const { row } = this.#row;
    const next = r === undefined ? row + 1 : Number(r);
    if (!(Number.isInteger(next) && next > row && next <= MAX_SHEET_ROWS))
      throw new UnreadableFile(`its row ${row} is followed by row ${next}`);
    this.#row = { row: next, cells: [], filled: 0 };
    this.#cell = openCell(0);
  }

  #openCell({ r, t = 'n', s = '0' }: Attributes): void {
    const before = this.#cell.column;
    const column = columnOf(r) ?? before + 1;
    const has = `its row ${this.#row.row} has`;
    if (column <= before) throw new UnreadableFile(`${has} cells that are not in order`);
    if (column > MAX_SHEET_COLUMNS) throw new UnreadableFile(`${has} more than 16,384 columns`);
    this.#cell = openCell(column, t, Number(s));
  }

  #closeCell(): void {
    const { column } = this.#cell;
    const cell = cellOf(this.#cell, this.#tables);
    const [text, kind] = cell;
    if (text !== '') this.#row.filled = column;
    if (text !== '' || kind !== undefined) this.#row.cells[column - 1] = cell;
  }
}

/** Whether an element has text of a cell, which phonetic hints are not. */
const isShown = (name: string, parent: string | undefined): boolean =>
  name === 'v' || (name === 't' && parent !== 'rPh');

function cellOf({ value, type, style, isFormula, isStored }: OpenCell, { texts, formats }: CellTables): Cell {
  // The value that a formula stores may be an empty text.
  if (value === '') return isFormula && !(type === 'str' && isStored) ? ['', 'f'] : [''];
  if (type === 's') return [texts[Number(value)] ?? ''];
  if (type === 'b') return [['1', 'true'].includes(value) ? 'TRUE' : 'FALSE', 'b'];
  return type === 'n' ? (formats[style] ?? plainNumber)(value) : [cellText(value)];
}

/** Characters that XML cannot contain are written as `_x0007_`. */
function cellText(text: string): string {
  const characterOf = (_all: string, code: string) => String.fromCharCode(Number.parseInt(code, 16));
  return checkCell(text.includes('_x') ? text.replace(/_x([\da-f]{4})_/gi, characterOf) : text);
}

/** Maximum length of all shared texts, in characters. Each counts as more than it has, because empty ones need memory, too. */
const MAX_TEXTS = 64 * 1024 * 1024;
const TEXT_OVERHEAD = 16;

export class TextsReader implements XmlReader<string> {
  readonly items: string[] = [];
  #text = '';
  #length = 0;

  close(name: string, text: string, parent?: string): void {
    if (isShown(name, parent)) this.#text += text;
    if (name !== 'si') return;
    this.#length += this.#text.length + TEXT_OVERHEAD;
    if (this.#length > MAX_TEXTS) throw new UnreadableFile('its texts are longer than 64 MiB');
    this.items.push(cellText(this.#text));
    this.#text = '';
  }
}
