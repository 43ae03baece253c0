import type { PageHead } from '../document.ts';
import { actions, detail, entryList, isDayOf, lead, placeButton, todayMark } from './details.ts';
import { el, nameOf, type PlacedRow, painted, words } from './elements.ts';
import type { MapView } from './map.ts';

export function cardElement({ columns }: PageHead, row: PlacedRow, map: MapView | undefined): HTMLElement {
  const facts = columns.flatMap(({ label, kind }, index) => {
    const value = row.cells[index] ?? null;
    return kind === 'name' || value === null ? [] : [{ label, kind, value }];
  });
  const items = facts.map(({ label, kind, value }) =>
    el(
      'li',
      {},
      ...(kind === 'grade' ? ['Grade '] : [el('span', { class: 'label' }, `${label} `)]),
      painted(value, kind),
    ),
  );
  return el(
    'section',
    { id: 'list', class: 'card', 'aria-label': 'Details', tabindex: '-1' },
    ...(items.length === 0 ? [] : [el('ul', { class: 'facts' }, ...items)]),
    ...lead(row),
    actions(row, () => map?.reveal(row)),
    entryList(row.details),
  );
}

/** A few restaurants side by side: fields as rows, restaurants as columns. */
export class ComparedCards {
  readonly element: HTMLElement;

  constructor(
    { columns, comparison = [], heading }: PageHead,
    rows: readonly PlacedRow[],
    map: MapView | undefined,
  ) {
    const names = rows.map((row) => nameOf(row, columns));
    const heads = rows.map((row, index) => {
      const error = row.details.find(([label]) => label === 'Error')?.[1];
      const why = error === undefined ? [] : [el('p', { class: 'failed' }, detail(error))];
      const name = words('bdi', names[index] ?? '');
      const attributes = { role: 'columnheader', scope: 'col', id: `row-${row.number}`, tabindex: '-1' };
      const place = row.point === undefined ? [] : [placeButton(() => map?.reveal(row))];
      const pin = el('span', { class: 'pin' }, String(row.number));
      return el('th', attributes, el('div', { class: 'head' }, pin, name), ...why, ...place);
    });
    const lines = comparison.map(({ label, level, kind, isDay, cells }) => {
      const attributes = { role: 'rowheader', scope: 'row', class: `level-${level}`, dir: 'auto' };
      if (cells === undefined) {
        const title = words('th', label, { ...attributes, colspan: String(rows.length + 1) });
        return el('tr', { role: 'row', class: 'group' }, title);
      }
      const values = cells.map((cell, index) => {
        const text =
          kind === 'grade' && typeof cell === 'string' ? painted(cell || null, kind) : detail(cell);
        return el('td', { role: 'cell', 'data-label': names[index] ?? '', dir: 'auto' }, text);
      });
      const title = words('th', label, attributes);
      if (isDay !== true || !isDayOf(label, new Date())) return el('tr', { role: 'row' }, title, ...values);
      title.append(...todayMark());
      return el('tr', { role: 'row', class: 'now' }, title, ...values);
    });
    const corner = el('td', { role: 'cell' });
    const head = el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, corner, ...heads));
    const body = el('tbody', { role: 'rowgroup' }, ...lines);
    const table = el('table', { role: 'table' }, el('caption', {}, heading), head, body);
    this.element = el(
      'section',
      { id: 'list', class: 'comparison', 'aria-label': 'Comparison', tabindex: '-1' },
      el('div', { class: 'scroll' }, table),
    );
  }

  choose({ number }: PlacedRow, open: boolean): void {
    if (!open) return;
    const head = this.element.querySelector<HTMLElement>(`#row-${number}`);
    head?.scrollIntoView({ block: 'nearest' });
    head?.focus({ preventScroll: true });
  }
}
