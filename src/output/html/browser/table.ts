import type { PageColumn } from '../document.ts';
import { button, el } from './dom.ts';
import type { Order } from './order.ts';

/** The table without its rows. */
export interface Table {
  readonly element: HTMLElement;
  readonly body: HTMLElement;
  /** Shows by which column the rows are sorted. */
  mark(order: Order | undefined): void;
}

/** Makes the table, with a button to sort by in each heading. */
export function makeTable(
  columns: readonly PageColumn[],
  caption: string,
  onSort: (column: number) => void,
): Table {
  const headings = columns.map((column, place) =>
    el(
      'th',
      { role: 'columnheader', scope: 'col', 'aria-sort': 'none' },
      button({ class: 'sort', dir: 'auto' }, () => onSort(place), column.label),
    ),
  );
  const number = el(
    'th',
    { role: 'columnheader', scope: 'col', class: 'n' },
    el('abbr', { title: 'Number' }, '#'),
  );
  const body = el('tbody', { role: 'rowgroup' });
  const head = el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, number, ...headings));
  const table = el('table', { role: 'table' }, el('caption', {}, caption), head, body);
  const mark = (order: Order | undefined): void => {
    for (const [place, heading] of headings.entries()) {
      const sorted = order?.column === place;
      heading.setAttribute('aria-sort', !sorted ? 'none' : order.descending ? 'descending' : 'ascending');
    }
  };
  return { element: el('div', { class: 'scroll' }, table), body, mark };
}
