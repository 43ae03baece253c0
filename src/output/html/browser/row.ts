import {
  type ColumnKind,
  type Detail,
  type Entry,
  MAX_CELL_LENGTH,
  type PageColumn,
  type PageRow,
} from '../document.ts';
import { button, el, formatCount } from './dom.ts';

/** Shortens text to the maximum length of a cell. */
export const short = (text: string): string =>
  text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH)}…` : text;

/** Returns the name of a row. */
export function nameOf(row: PageRow, columns: readonly PageColumn[]): string {
  const text = row.c[nameColumn(columns)];
  return text === null || text === undefined ? '(no name)' : String(text);
}

/** Returns the index of the column with the names, or of the first one. */
export const nameColumn = (columns: readonly PageColumn[]): number =>
  Math.max(
    0,
    columns.findIndex(({ kind }) => kind === 'name'),
  );

/** Creates one row of the list. */
export function rowElement(
  number: number,
  row: PageRow,
  columns: readonly PageColumn[],
  isOpen: boolean,
  onToggle: () => void,
): HTMLTableRowElement {
  const heading = nameColumn(columns);
  const pin = el('span', { class: row.p === undefined ? 'pin none' : 'pin' }, formatCount(number + 1));
  const cells = columns.map((column, place) => {
    const shown = painted(row.c[place] ?? null, column.kind);
    if (place !== heading) return el('td', { role: 'cell', 'data-label': column.label }, shown);
    const state = { 'aria-expanded': String(isOpen), 'aria-controls': `more-${number}` };
    const name = button({ class: 'name', dir: 'auto', ...state }, onToggle, short(nameOf(row, columns)));
    return el('th', { role: 'rowheader', scope: 'row', 'data-label': column.label }, name);
  });
  return el(
    'tr',
    { role: 'row', id: `row-${number}` },
    el('td', { role: 'cell', class: 'n' }, pin),
    ...cells,
  );
}

function painted(value: string | number | null, kind: ColumnKind): Node | string {
  if (value === null) return el('span', { class: 'nothing' }, '\u2013');
  const text = short(typeof value === 'number' ? String(value) : value);
  if (kind === 'grade') return el('span', { class: 'grade', 'data-grade': gradeOf(text) }, text);
  if (kind === 'status')
    return el('span', { class: 'status', 'data-status': text }, text.replaceAll('_', ' '));
  return el('bdi', {}, text);
}

const gradeOf = (text: string): string => /^[A-F](?![A-Za-z])/.exec(text)?.[0] ?? '';

/** Creates the row with the details of another row. */
export function moreElement(
  number: number,
  row: PageRow,
  columns: readonly PageColumn[],
  onPlace: () => void,
): HTMLTableRowElement {
  const actions = el('p', { class: 'actions' });
  if (row.p === undefined) actions.append('It has no usable coordinates, so it is not on the map.');
  else {
    const [lat, lng] = row.p;
    const url = `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}#map=17/${lat}/${lng}`;
    actions.append(
      button({ class: 'place' }, onPlace, 'Show on the map'),
      link(url, 'Open in OpenStreetMap'),
    );
  }
  const whole = nameOf(row, columns);
  const name = whole.length > MAX_CELL_LENGTH ? [el('p', { class: 'whole', dir: 'auto' }, whole)] : [];
  const cell = el(
    'td',
    { role: 'cell', colspan: String(columns.length + 1) },
    ...name,
    ...(row.t === undefined ? [] : [el('p', { class: 'lead', dir: 'auto' }, row.t)]),
    actions,
    entryList(row.d),
  );
  return el('tr', { role: 'row', class: 'more', id: `more-${number}` }, cell);
}

/** Creates a description list of labels and values. */
function entryList(entries: readonly Entry[]): HTMLElement {
  const items = entries.map(([label, value]) => {
    const isSimple = typeof value === 'string' || 'href' in value;
    const parts = [el('dt', { dir: 'auto' }, label), el('dd', { dir: 'auto' }, detail(value))];
    return el('div', isSimple ? {} : { class: 'nested' }, ...parts);
  });
  return el('dl', {}, ...items);
}

function detail(value: Detail): Node | string {
  if (typeof value === 'string') return value;
  if ('href' in value) return link(value.href, value.text);
  if ('head' in value) return detailTable(value.head, value.cells);
  if ('pairs' in value) return value.pairs.length === 0 ? '-' : entryList(value.pairs);
  return el('ul', {}, ...value.list.map((item) => el('li', { dir: 'auto' }, detail(item))));
}

/** Creates a link to a web address or telephone number, without a referrer; any other URL stays text. */
export function link(href: string, text: string): Node | string {
  if (!/^(?:https?:\/\/|tel:)/.test(href)) return text;
  return el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, text);
}

/** Creates a table inside the details, of plain elements: the style rules for table elements are for the list. */
function detailTable(head: readonly string[], cells: readonly (readonly string[])[]): HTMLElement {
  const row = (texts: readonly string[], role: string): HTMLElement =>
    el('div', { role: 'row' }, ...texts.map((text) => el('div', { role, dir: 'auto' }, text)));
  const rows = cells.map((texts) => row(texts, 'cell'));
  const table = el('div', { role: 'table', class: 'grid' }, row(head, 'columnheader'), ...rows);
  table.style.setProperty('--columns', String(head.length));
  return table;
}
