import type { PageHead, PageRow } from '../document.ts';
import { amount, button, el } from './dom.ts';
import { nameColumn, nameOf, short } from './row.ts';

/** What a popup says of one restaurant: its name and cells, as text. */
export function onePopup(row: PageRow, { columns }: PageHead, onDetails: () => void): HTMLElement {
  const heading = nameColumn(columns);
  const lines = columns.flatMap(({ label }, place) => {
    const value = row.c[place];
    if (place === heading || value === null || value === undefined) return [];
    return [el('li', { dir: 'auto' }, el('span', { class: 'label' }, `${label} `), short(String(value)))];
  });
  return el(
    'div',
    { class: 'about' },
    el('p', { class: 'name', dir: 'auto' }, short(nameOf(row, columns))),
    el('ul', {}, ...lines),
    button({}, onDetails, 'Details in the list'),
  );
}

/** What a popup says of several in one place. */
export function manyPopup(
  numbers: readonly number[],
  count: number,
  name: (row: number) => string,
  onRow: (row: number) => void,
): HTMLElement {
  const items = numbers.map((row) =>
    el(
      'li',
      {},
      button({ dir: 'auto' }, () => onRow(row), short(name(row))),
    ),
  );
  const more =
    count > numbers.length ? [el('p', {}, `and ${amount(count - numbers.length, 'more', 'more')}`)] : [];
  const title = el('p', { class: 'name' }, `${amount(count, 'restaurant')} in this place`);
  return el('div', { class: 'about many' }, title, el('ul', {}, ...items), ...more);
}
