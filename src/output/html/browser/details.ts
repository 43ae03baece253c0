import type { Detail, DetailEntry, DetailTable, PageColumn } from '../document.ts';
import { button, el, type PlacedRow, words } from './elements.ts';

export function moreElement(
  row: PlacedRow,
  columns: readonly PageColumn[],
  choices: HTMLElement | undefined,
  onPlace: () => void,
): HTMLTableRowElement {
  const attributes = { role: 'cell', colspan: String(columns.length + 1) };
  const first = choices === undefined ? [] : [choices];
  const cell = el('td', attributes, ...first, ...lead(row), actions(row, onPlace), entryList(row.details));
  return el('tr', { role: 'row', class: 'more', id: `more-${row.number}` }, cell);
}

export const lead = ({ summary }: PlacedRow): HTMLElement[] =>
  summary === undefined ? [] : [words('p', summary, { class: 'lead', dir: 'auto' })];

export function actions({ point }: PlacedRow, onPlace: () => void): HTMLElement {
  if (point === undefined)
    return el('p', { class: 'actions' }, 'It has no usable coordinates, so it is not on the map.');
  const [lat, lng] = point;
  const url = `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}#map=17/${lat}/${lng}`;
  return el('p', { class: 'actions' }, placeButton(onPlace), link(url, 'Open in OpenStreetMap'));
}

export const placeButton = (onPlace: () => void): HTMLElement =>
  button({ class: 'place' }, onPlace, 'Show on the map');

export function entryList(entries: readonly DetailEntry[], isWeek = false): HTMLElement {
  const items = entries.map(([label, value]) => {
    const isSimple = typeof value === 'string' || 'href' in value;
    const isToday = isWeek && isDayOf(label, new Date());
    const text = el('dd', { dir: 'auto' }, detail(value), ...(isToday ? todayMark() : []));
    const kinds = [...(isSimple ? [] : ['nested']), ...(isToday ? ['now'] : [])].join(' ');
    return el('div', kinds === '' ? {} : { class: kinds }, words('dt', label, { dir: 'auto' }), text);
  });
  return el('dl', {}, ...items);
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

export const todayMark = (): Node[] => [new Text(' '), el('span', { class: 'today' }, 'today')];

export const isDayOf = (label: string, date: Date): boolean =>
  label.slice(0, 3).toLowerCase() === DAYS[date.getDay()];

export function detail(value: Detail): Node {
  if (typeof value === 'string') return words('span', value);
  if ('href' in value) return link(value.href, value.text);
  if ('head' in value) return smallTable(value);
  if ('pairs' in value)
    return value.pairs.length === 0 ? words('span', '-') : entryList(value.pairs, value.isWeek);
  return el('ul', {}, ...value.list.map((item) => el('li', { dir: 'auto' }, detail(item))));
}

function smallTable({ head, numeric, rows }: DetailTable): HTMLElement {
  const kind = (index: number): Record<string, string> =>
    numeric[index] === true ? { class: 'number' } : {};
  const titles = head.map((title, index) => words('th', title, { scope: 'col', ...kind(index) }));
  const lines = rows.map((cells) =>
    el('tr', {}, ...cells.map((cell, index) => words('td', cell, { dir: 'auto', ...kind(index) }))),
  );
  const table = el(
    'table',
    { class: 'small' },
    el('thead', {}, el('tr', {}, ...titles)),
    el('tbody', {}, ...lines),
  );
  const box = el('div', { class: 'small-box' }, table);
  // What scrolls can be reached by keyboard.
  new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
  }).observe(box);
  return box;
}

const LINK = /^(?:https?:\/\/|tel:\+?\d+$)/;

function link(href: string, text: string): HTMLElement {
  if (!LINK.test(href)) return words('span', text);
  const isWeb = href.startsWith('http');
  // Of an address that is shown in full, the part in which it differs from others.
  const shown = isWeb && text === href ? text.replace(/^https?:\/\/|\/$/g, '') : text;
  return words('a', shown, { href, ...(isWeb ? { target: '_blank', rel: 'noopener noreferrer' } : {}) });
}
