import { foldLetters } from '../../../util/fold.ts';
import { formatNumber, plural } from '../../../util/plural.ts';
import { gradeRank } from '../../../util/restaurant.ts';
import type { ColumnKind, Detail, PageColumn, PageHead } from '../document.ts';
import { button, el } from './dom.ts';
import type { MapView } from './map.ts';
import { moreElement, type Row, rowElement } from './row.ts';

const PAGE_ROWS = 100;
const PRINT_ROWS = 5000;
const SEARCH_DELAY_MS = 120;

export interface ListView {
  readonly element: HTMLElement;
  /** Selects a row and scrolls to it; with `open`, also opens and focuses it. */
  choose(row: Row, open: boolean): void;
}

interface Order {
  readonly column: number;
  readonly descending: boolean;
}

export function makeList(
  { columns, heading }: PageHead,
  rows: readonly Row[],
  map: MapView | undefined,
): ListView {
  const opened = new Set(rows.length === 1 ? rows : []);
  let order: Order | undefined;
  let found = rows;
  let sorted = rows;
  let page = 0;
  let chosen: Row | undefined;

  const headings = columns.map(({ label }, column) =>
    el(
      'th',
      { role: 'columnheader', scope: 'col', 'aria-sort': 'none' },
      button({ class: 'sort', dir: 'auto' }, () => sortBy(column), label),
    ),
  );
  const body = el('tbody', { role: 'rowgroup' });
  const table = el('div', { class: 'scroll' }, tableOf(heading, headings, body));
  const count = el('p', { role: 'status', class: 'count' });
  const place = el('span');
  const back = button({}, () => turn(page - 1), 'Previous');
  const next = button({}, () => turn(page + 1), 'Next');
  const pager = el('nav', { 'aria-label': 'Pages of the list', class: 'pager' }, back, place, next);
  const input = el('input', { type: 'search', id: 'search', autocomplete: 'off', spellcheck: 'false' });
  const filters = makeFilters(columns, rows, find);
  const label = el('label', { for: 'search' }, 'Search the list');
  const form = el('form', { role: 'search' }, label, input, ...filters.map(({ element }) => element));
  const nothing = el('p', { class: 'empty' }, 'Nothing matches.');
  const none = el('div', { class: 'no-match' }, nothing, button({}, clearSearch, 'Clear the search'));
  const element = el('section', { id: 'list', 'aria-label': 'List', tabindex: '-1' });
  element.append(form, count, none, table, pager);
  form.hidden = rows.length === 1;

  const search = searcher(rows);
  let waiting: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, SEARCH_DELAY_MS);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    find();
  });
  addEventListener('beforeprint', () => draw(0, PRINT_ROWS));
  addEventListener('afterprint', () => draw());

  function find(): void {
    clearTimeout(waiting);
    found = search(input.value).filter((row) => filters.every(({ accepts }) => accepts(row)));
    map?.show(found);
    arrange();
  }

  function clearSearch(): void {
    form.reset();
    find();
    input.focus();
  }

  /** Cycles through ascending, descending and the original order. */
  function sortBy(column: number): void {
    if (order?.column !== column) order = { column, descending: false };
    else order = order.descending ? undefined : { column, descending: true };
    const direction = order?.descending === true ? 'descending' : 'ascending';
    for (const [index, each] of headings.entries())
      each.setAttribute('aria-sort', order?.column === index ? direction : 'none');
    arrange();
  }

  function arrange(): void {
    sorted = order === undefined ? found : sortRows(found, order, columns[order.column]?.kind);
    page = 0;
    draw();
  }

  function turn(to: number): void {
    page = to;
    draw();
    // Move the focus, because a disabled button loses it.
    if (back.disabled) next.focus();
    else if (next.disabled) back.focus();
    table.scrollIntoView();
  }

  function draw(first = page * PAGE_ROWS, size = PAGE_ROWS): void {
    const shown = sorted.slice(first, first + size);
    body.replaceChildren(...shown.flatMap(elementsOf));
    const all = plural(rows.length, 'row');
    const text = sorted.length === rows.length ? all : `${formatNumber(sorted.length)} of ${all}`;
    // Set only a changed text, because screen readers announce each change.
    if (count.textContent !== text) count.textContent = text;
    none.hidden = sorted.length > 0;
    table.hidden = sorted.length === 0;
    const [from, to, total] = [first + 1, first + shown.length, sorted.length].map(formatNumber);
    place.textContent = `${from} to ${to} of ${total}`;
    pager.hidden = sorted.length <= PAGE_ROWS;
    back.disabled = page === 0;
    next.disabled = (page + 1) * PAGE_ROWS >= sorted.length;
  }

  function elementsOf(row: Row): Element[] {
    const isOpen = opened.has(row);
    const main = rowElement(row, columns, isOpen, () => toggle(row));
    if (row === chosen) main.setAttribute('aria-current', 'true');
    return isOpen ? [main, moreElement(row, columns, () => map?.reveal(row))] : [main];
  }

  function toggle(row: Row): void {
    chosen = row;
    const isOpen = opened.delete(row);
    if (!isOpen) opened.add(row);
    draw();
    focus(row);
    if (!isOpen) map?.choose(row);
  }

  const focus = ({ number }: Row): void =>
    body.querySelector<HTMLElement>(`#row-${number} button.name`)?.focus({ preventScroll: true });

  draw();
  return {
    element,
    choose(row, open) {
      const index = sorted.indexOf(row);
      if (index === -1) return;
      page = Math.floor(index / PAGE_ROWS);
      chosen = row;
      if (open) opened.add(row);
      draw();
      body.querySelector(`#row-${row.number}`)?.scrollIntoView({ block: 'nearest' });
      if (open) focus(row);
    },
  };
}

/** Creates a table. Roles are explicit, since narrow screens show rows as cards, which hides the table. */
function tableOf(caption: string, headings: readonly Node[], body: Node): HTMLTableElement {
  const attributes = { role: 'columnheader', scope: 'col', class: 'n' };
  const number = el('th', attributes, el('abbr', { title: 'Number' }, '#'));
  const head = el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, number, ...headings));
  return el('table', { role: 'table' }, el('caption', {}, caption), head, body);
}

const MAX_CHOICES = 15;
const MIN_ROWS_TO_FILTER = 4;

interface Filter {
  readonly element: HTMLElement;
  accepts(row: Row): boolean;
}

/** Creates a filter for each column of statuses or grades that has several values. */
function makeFilters(columns: readonly PageColumn[], rows: readonly Row[], onChange: () => void): Filter[] {
  if (rows.length < MIN_ROWS_TO_FILTER) return [];
  return columns.flatMap(({ label, kind }, column) => {
    if (kind !== 'status' && kind !== 'grade') return [];
    const values = [...new Set(rows.flatMap(({ cells }) => cells[column] ?? []).map(String))].sort();
    if (values.length < 2 || values.length > MAX_CHOICES) return [];
    const options = values.map((value) => el('option', { value }, value.replaceAll('_', ' ')));
    const menu = el('select', {}, el('option', { value: '' }, 'All'), ...options);
    menu.addEventListener('change', onChange);
    const accepts = ({ cells }: Row): boolean => menu.value === '' || String(cells[column]) === menu.value;
    return [{ element: el('label', { class: 'filter' }, `${label} `, menu), accepts }];
  });
}

/** Returns a function that finds the rows that contain every word of a query, without case and accents. */
function searcher(rows: readonly Row[]): (query: string) => Row[] {
  let texts: readonly string[] | undefined;
  return (query) => {
    texts ??= rows.map(({ summary = '', cells, details }) =>
      foldLetters([summary, ...cells, ...details.map(textIn)].join('\n')),
    );
    const words = foldLetters(query).split(/\s+/);
    return rows.filter((_, index) => words.every((word) => texts?.[index]?.includes(word)));
  };
}

function textIn([, value]: readonly [label: string, value: Detail]): string {
  if (typeof value === 'string') return value;
  if ('href' in value) return value.text;
  if ('pairs' in value) return value.pairs.map(textIn).join('\n');
  return value.list.map((item) => textIn(['', item])).join('\n');
}

const collator = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

/** Sorts rows by a column. Missing values are last in both directions; the sort is stable. */
function sortRows(rows: readonly Row[], { column, descending }: Order, kind?: ColumnKind): Row[] {
  const keyOf = ({ cells }: Row): string | number | null => {
    const cell = cells[column] ?? null;
    return kind === 'grade' ? (gradeRank(cell) ?? cell) : cell;
  };
  return [...rows].sort((a, b) => {
    const [one, other] = [keyOf(a), keyOf(b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const isNumeric = typeof one === 'number' && typeof other === 'number';
    const order = isNumeric ? one - other : collator.compare(String(one), String(other));
    return descending ? -order : order;
  });
}
