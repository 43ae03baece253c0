import { formatNumber } from '../../../util/format.ts';
import type { ColumnKind, Detail, Entry, PageColumn, PageRow } from '../document.ts';

/** Creates an element. Text is never parsed as markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function button(
  attributes: Readonly<Record<string, string>>,
  run: () => void,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  const element = el('button', { type: 'button', ...attributes }, ...children);
  element.addEventListener('click', run);
  return element;
}

export interface Row extends PageRow {
  readonly number: number;
}

export function nameOf(row: PageRow, columns: readonly PageColumn[]): string {
  return String(row.cells[nameColumn(columns)] ?? '(no name)');
}

export const nameColumn = (columns: readonly PageColumn[]): number =>
  Math.max(
    0,
    columns.findIndex(({ kind }) => kind === 'name'),
  );

export function rowElement(
  row: Row,
  columns: readonly PageColumn[],
  { isOpen, mark }: { readonly isOpen: boolean; readonly mark: string },
  onToggle: () => void,
): HTMLTableRowElement {
  const heading = nameColumn(columns);
  const pin = el('span', { class: row.point === undefined ? 'pin none' : 'pin' }, formatNumber(row.number));
  const cells = columns.map(({ label, kind }, index) => {
    if (index !== heading) {
      const text = painted(row.cells[index] ?? null, kind);
      const decision = kind === 'status' && row.review ? [el('span', { class: 'decision' }, mark)] : [];
      return el('td', { role: 'cell', 'data-label': label }, text, ...decision);
    }
    const state = { 'aria-expanded': String(isOpen), 'aria-controls': `more-${row.number}` };
    const text = el('bdi', {}, nameOf(row, columns));
    const name = button({ class: 'name', dir: 'auto', ...state }, onToggle, text);
    return el('th', { role: 'rowheader', scope: 'row', 'data-label': label }, name);
  });
  const first = el('td', { role: 'cell', class: 'n' }, pin);
  return el('tr', { role: 'row', id: `row-${row.number}` }, first, ...cells);
}

function painted(value: string | number | null, kind: ColumnKind): Node {
  if (value === null) return el('span', { class: 'nothing' }, '\u2013');
  const text = String(value);
  if (kind === 'grade') return el('span', { class: 'grade', 'data-grade': gradeOf(text) }, text);
  if (kind === 'status')
    return el('span', { class: 'status', 'data-status': text }, text.replaceAll('_', ' '));
  return el('bdi', {}, text);
}

const gradeOf = (text: string): string => /^[A-F](?![A-Za-z])/.exec(text)?.[0] ?? '';

export function moreElement(
  row: Row,
  columns: readonly PageColumn[],
  choices: HTMLElement | undefined,
  onPlace: () => void,
): HTMLTableRowElement {
  const actions = el('p', { class: 'actions' });
  if (row.point === undefined) actions.append('It has no usable coordinates, so it is not on the map.');
  else {
    const [lat, lng] = row.point;
    const url = `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}#map=17/${lat}/${lng}`;
    actions.append(
      button({ class: 'place' }, onPlace, 'Show on the map'),
      link(url, 'Open in OpenStreetMap'),
    );
  }
  const lead = row.summary === undefined ? [] : [el('p', { class: 'lead', dir: 'auto' }, row.summary)];
  const attributes = { role: 'cell', colspan: String(columns.length + 1) };
  const first = choices === undefined ? [] : [choices];
  const cell = el('td', attributes, ...first, ...lead, actions, entryList(row.details));
  return el('tr', { role: 'row', class: 'more', id: `more-${row.number}` }, cell);
}

function entryList(entries: readonly Entry[]): HTMLElement {
  const items = entries.map(([label, value]) => {
    const isSimple = typeof value === 'string' || 'href' in value;
    const parts = [el('dt', { dir: 'auto' }, label), el('dd', { dir: 'auto' }, detail(value))];
    return el('div', isSimple ? {} : { class: 'nested' }, ...parts);
  });
  return el('dl', {}, ...items);
}

export function detail(value: Detail): Node | string {
  if (typeof value === 'string') return value;
  if ('href' in value) return link(value.href, value.text);
  if ('pairs' in value) return value.pairs.length === 0 ? '-' : entryList(value.pairs);
  return el('ul', {}, ...value.list.map((item) => el('li', { dir: 'auto' }, detail(item))));
}

function link(href: string, text: string): Node | string {
  if (!/^https?:\/\//.test(href)) return text;
  return el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, text);
}
